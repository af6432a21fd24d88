/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/crud/hook"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// T38: the contexts and the response of shell-operator, with snapshots.
func TestAdmission_Validating_DeniesWithMessageAndWarnings(t *testing.T) {
	s := newScene(t)
	s.create("snapshot", "1", it)
	s.script("validate", admission("kubernetesValidating", "validate.example.com", `
  includeSnapshotsFrom: [configmaps]
kubernetes:
- name: configmaps
  kind: ConfigMap
  executeHookOnSynchronization: false
  executeHookOnEvent: []`+selected), `
[[ "$ADMISSION_RESPONSE_PATH" == "$VALIDATING_RESPONSE_PATH" ]]
if [[ $(crud::context '.[0].review.request.object.data.value') == bad ]]; then
  echo '{"allowed": false, "message": "the value is bad", "warnings": ["use a good one"]}' >"$VALIDATING_RESPONSE_PATH"
else
  echo '{"allowed": true, "warnings": ["the value could be better"]}' >"$VALIDATING_RESPONSE_PATH"
fi
`)
	s.serve(s.load(s.quick())...)
	status := s.awaitDenial("bad", nil, `admission webhook "validate.example.com" denied the request: the value is bad`)
	if status.Reason != metav1.StatusReasonForbidden {
		t.Errorf("the status is %v, want Forbidden", status)
	}
	if _, got, err := s.try("bad", "bad", nil); err == nil || !cmp.Equal(got, []string{"use a good one"}) {
		t.Errorf("the warnings are %q, and the error is %v", got, err)
	}
	if _, got, err := s.try("good", "good", nil); err != nil || !cmp.Equal(got, []string{"the value could be better"}) {
		t.Errorf("the warnings are %q, and the error is %v", got, err)
	}
	runs := s.recordedOf("validate")
	last := runs[len(runs)-1].contexts[0]
	review := last["review"].(map[string]any)
	request := review["request"].(map[string]any)
	if request["uid"] != runs[len(runs)-1].task || request["operation"] != "CREATE" || request["dryRun"] != false || request["oldObject"] != nil {
		t.Errorf("the request is %v, and the task is %s", request, runs[len(runs)-1].task)
	}
	delete(request, "uid")
	got := map[string]any{
		"binding": last["binding"], "type": last["type"], "snapshots": short(last["snapshots"]), "object": short(request["object"]),
		"apiVersion": review["apiVersion"], "kind": review["kind"],
	}
	want := map[string]any{
		"binding": "validate.example.com", "type": "Validating", "object": "good", "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
		"snapshots": map[string]any{"configmaps": []any{map[string]any{"object": "snapshot"}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the context (-want, +got):\n%s", diff)
	}
	expectMeasured(t, 1, "hook.reviews", "validate", "binding", "validate.example.com", "result", "allowed")
	if n := counted(t, "hook.reviews", "validate", "result", "denied"); n < 2 {
		t.Errorf("%d reviews are denied, want at least 2", n)
	}
}

func TestAdmission_Mutating_PatchesTheObject(t *testing.T) {
	s := newScene(t)
	s.script("mutate", admission("kubernetesMutating", "mutate.example.com", ""), `
patch=$(echo '[{"op": "add", "path": "/data/added", "value": "by the hook"}]' | base64 -w0)
echo '{"allowed": true, "patch": "'"$patch"'"}' >"$ADMISSION_RESPONSE_PATH"
`)
	s.serve(s.load(s.quick())...)
	harness.Eventually(t, "the object is patched", func(context.Context) error {
		created, _, err := s.try("it", "1", nil, metav1.DryRunAll)
		if err == nil && created.Data["added"] != "by the hook" {
			err = fmt.Errorf("it has %v", created.Data)
		}
		return err
	})
	if context := s.recordedOf("mutate")[0].contexts[0]; context["type"] != "Mutating" || context["snapshots"] != nil {
		t.Errorf("the context is %v", context)
	}
}

// reviewed is a binding of a hook in Go for the ConfigMaps of the scene that have a label.
func (s *scene) reviewed(name, label string) hook.Admission {
	return hook.Admission{
		Name: name, Namespace: &hook.NamespaceSelector{NameSelector: &hook.NameSelector{MatchNames: []string{s.ns}}},
		LabelSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: label, Operator: metav1.LabelSelectorOpExists}}},
		Rules: []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
			Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
		}},
		TimeoutSeconds: 30,
	}
}

func TestAdmission_GoHook_AnswersByItsResponse(t *testing.T) {
	s := newScene(t)
	bindings := hook.Bindings{
		Validating: []hook.Admission{s.reviewed("validate.example.com", "go")}, Mutating: []hook.Admission{s.reviewed("mutate.example.com", "go")},
	}
	s.serve(s.hook("go", bindings, func(_ context.Context, run *hook.Run) error {
		c := run.Contexts[0]
		var object struct {
			Data map[string]string `json:"data"`
		}
		if err := json.Unmarshal(c.Review.Request.Object.Raw, &object); err != nil {
			return err
		}
		run.Response = &hook.Response{Allowed: true}
		if c.Type == hook.TypeMutating {
			run.Response.Patch = []byte(`[{"op": "add", "path": "/data/added", "value": "by the hook"}]`)
		} else if object.Data["value"] == "bad" {
			run.Response = &hook.Response{Message: "the value is bad, and it has " + object.Data["added"]}
		}
		return nil
	}))
	label := map[string]string{"go": ""}
	s.awaitDenial("bad", label, "the value is bad, and it has by the hook")
	if created, _, err := s.try("good", "good", label); err != nil || created.Data["added"] != "by the hook" {
		t.Errorf("the object is %v: %v", created, err)
	}
	if _, _, err := s.try("other", "bad", nil); err != nil {
		t.Errorf("an object without the label is reviewed: %v", err)
	}
}

// A binding has a number of runs at a time. Others wait, and the hooks of other bindings do not.
func TestAdmission_ManyReviews_RunAFewAtATime(t *testing.T) {
	const most, all = 4, 10
	s := newScene(t)
	var running, highest atomic.Int32
	proceed := make(chan struct{})
	s.serve(
		s.hook("slow", hook.Bindings{Validating: []hook.Admission{s.reviewed("slow.example.com", "slow")}}, func(ctx context.Context, run *hook.Run) error {
			if n := running.Add(1); n > highest.Load() {
				highest.Store(n)
			}
			defer running.Add(-1)
			select {
			case <-proceed:
			case <-ctx.Done():
			}
			run.Response = &hook.Response{Allowed: true}
			return nil
		}),
		s.hook("quick", hook.Bindings{Validating: []hook.Admission{s.reviewed("quick.example.com", "quick")}}, func(_ context.Context, run *hook.Run) error {
			run.Response = &hook.Response{Message: "no"}
			return nil
		}))
	s.awaitDenial("1", map[string]string{"quick": ""}, "denied the request: no")
	created := make(chan error, all)
	for i := range all {
		go func() {
			_, _, err := s.try(fmt.Sprint("slow", i), "1", map[string]string{"slow": ""})
			created <- err
		}()
	}
	harness.Eventually(t, "as many run as may", func(context.Context) error {
		if n := running.Load(); n != most {
			return fmt.Errorf("%d run", n)
		}
		return nil
	})
	s.awaitDenial("1", map[string]string{"quick": ""}, "denied the request: no")
	close(proceed)
	for range all {
		if err := <-created; err != nil {
			t.Error(err)
		}
	}
	if n := highest.Load(); n != most {
		t.Errorf("%d runs took place at a time, want %d", n, most)
	}
	if n := counted(t, "hook.reviews", s.ns+"-slow", "result", "allowed"); n != all {
		t.Errorf("%d reviews are counted, want %d", n, all)
	}
}

// The process completes the webhook configurations and the Secret of the certificate again after another client has changed them.
func TestAdmission_ConfigurationsAndCertificateChange_AreCompletedAgain(t *testing.T) {
	s := newScene(t)
	bindings := hook.Bindings{Validating: []hook.Admission{s.reviewed("validate.example.com", "go")}}
	s.serve(s.hook("go", bindings, func(_ context.Context, run *hook.Run) error {
		run.Response = &hook.Response{Message: "no"}
		return nil
	}))
	label := map[string]string{"go": ""}
	s.awaitDenial("1", label, "denied the request: no")
	configurations := s.env.Kube.AdmissionregistrationV1()
	if err := configurations.ValidatingWebhookConfigurations().Delete(t.Context(), configurationName, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	// One that does not need to exist is emptied.
	other := admissionregistrationv1.MutatingWebhook{
		Name: "other.example.com", AdmissionReviewVersions: []string{"v1"}, SideEffects: new(admissionregistrationv1.SideEffectClassNone),
		FailurePolicy: new(admissionregistrationv1.Ignore), ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: new("https://127.0.0.1:1/")},
	}
	patch, err := json.Marshal(map[string]any{"webhooks": []any{other}})
	if err == nil {
		_, err = configurations.MutatingWebhookConfigurations().Patch(t.Context(), configurationName, types.MergePatchType, patch, metav1.PatchOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	_, err = configurations.ValidatingWebhookConfigurations().Create(t.Context(), &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: configurationName},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, "the configurations are complete", func(ctx context.Context) error {
		validating, err := configurations.ValidatingWebhookConfigurations().Get(ctx, configurationName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		mutating, err := configurations.MutatingWebhookConfigurations().Get(ctx, configurationName, metav1.GetOptions{})
		if err == nil && (len(validating.Webhooks) != 1 || len(mutating.Webhooks) != 0) {
			err = fmt.Errorf("they have %d and %d webhooks", len(validating.Webhooks), len(mutating.Webhooks))
		}
		return err
	})
	s.awaitDenial("1", label, "denied the request: no")
	if _, err := s.env.Kube.CoreV1().Secrets("knative-samples").Patch(t.Context(), "hooks-certs", types.MergePatchType,
		[]byte(`{"data": {"server-key.pem": null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, "the certificate is replaced", func(ctx context.Context) error {
		secret, err := s.env.Kube.CoreV1().Secrets("knative-samples").Get(ctx, "hooks-certs", metav1.GetOptions{})
		if err == nil && len(secret.Data["server-key.pem"]) == 0 {
			err = errors.New("it has no key")
		}
		return err
	})
	s.awaitDenial("1", label, "denied the request: no")
}

func TestAdmission_SameNameTwice_IsAnError(t *testing.T) {
	f := func(context.Context, *hook.Run) error { return nil }
	of := func(name string) *hook.Hook {
		s := &scene{ns: "ns"}
		return hook.Func(name, hook.Bindings{Mutating: []hook.Admission{s.reviewed("a.example.com", "a")}}, f)
	}
	_, err := hook.Reviews(hook.Options{}, of("one"), of("two"))
	if err == nil || !strings.Contains(err.Error(), `hook "two": Mutating binding a.example.com: hook "one" has one with this name`) {
		t.Errorf("the error is %v", err)
	}
}
