/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"

	"knative.dev/pkg/apis"

	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// admitted is a type that the webhook defaults and validates.
type admitted interface {
	apis.Defaultable
	apis.Validatable
}

// webhookCode is the Go code of the webhook for a kind.
type webhookCode struct {
	newObject func() admitted
}

// admit defaults and validates an object.
func (w webhookCode) admit(ctx context.Context, sent *unstructured.Unstructured) (admitted, error) {
	object, err := w.decode(sent)
	if err != nil {
		return nil, err
	}
	object.SetDefaults(ctx)
	if err := object.Validate(ctx).Filter(apis.ErrorLevel); err != nil {
		return nil, err
	}
	return object, nil
}

func (w webhookCode) decode(o *unstructured.Unstructured) (admitted, error) {
	object := w.newObject()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, object); err != nil {
		return nil, fmt.Errorf("decoding: %w", err)
	}
	return object, nil
}

// fieldPaths matches the fields in an error of Validate.
var fieldPaths = regexp.MustCompile(`(spec|metadata)\.[][\w./-]+`)

// compare compares the answer of the API server to an object with the result of the webhook's code. invalid reports whether the schema rejects the
// object, which the code might not notice. It returns the kind of the answer.
func (w webhookCode) compare(ctx context.Context, t *testing.T, sent *unstructured.Unstructured, invalid bool, answer *unstructured.Unstructured, err error) string {
	t.Helper()
	object, wantErr := w.admit(ctx, sent)
	switch {
	case (err == nil) != (wantErr == nil && !invalid):
		t.Fatalf("%v: the API server returns error %v, the webhook %v, and it is %t that the schema rejects the object", sent.Object, err, wantErr, invalid)
	case err == nil:
		stored, decodeErr := w.decode(answer)
		if decodeErr != nil {
			t.Fatal(decodeErr)
		}
		if diff := cmp.Diff(w.defaulted(t, object), w.defaulted(t, stored), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%v is not defaulted as by the webhook (-webhook +answer):\n%s", sent.Object, diff)
		}
		return "admitted"
	case strings.HasPrefix(err.Error(), "policy ") || strings.Contains(err.Error(), "resulted in error"):
		t.Fatalf("%v: a policy cannot be evaluated: %v", sent.Object, err)
	case strings.Contains(err.Error(), "admission webhook"):
		if wantErr == nil || !strings.Contains(err.Error(), wantErr.Error()) {
			t.Fatalf("%v: the rejection %v has not the text of Validate: %v", sent.Object, err, wantErr)
		}
	case !strings.Contains(err.Error(), "ValidatingAdmissionPolicy"):
		if !regexp.MustCompile(`spec|metadata`).MatchString(err.Error()) {
			t.Fatalf("%v: the rejection names no field: %v", sent.Object, err)
		}
		return "rejected by the schema"
	case wantErr == nil || !slices.ContainsFunc(fieldPaths.FindAllString(wantErr.Error(), -1), func(field string) bool { return strings.Contains(err.Error(), field) }):
		t.Fatalf("%v: the rejection %v names no field of %v", sent.Object, err, wantErr)
	}
	return "rejected by a rule"
}

// defaulted returns the parts of an object that a webhook can set.
func (w webhookCode) defaulted(t *testing.T, object admitted) map[string]any {
	t.Helper()
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		t.Fatal(err)
	}
	o := &unstructured.Unstructured{Object: fields}
	return map[string]any{"spec": fields["spec"], "annotations": o.GetAnnotations(), "labels": o.GetLabels(), "finalizers": o.GetFinalizers()}
}

// compareRandomObjects compares the answers of the API server to random objects of each kind with the code of the webhook.
func compareRandomObjects(t *testing.T, env *harness.Env) {
	t.Helper()
	t.Run("AddressableService", func(t *testing.T) {
		t.Parallel()
		compareWithWebhook(t, env, resource, func() admitted { return &v1.AddressableService{} }, randomService)
	})
	t.Run("AddressBinding", func(t *testing.T) {
		t.Parallel()
		compareWithWebhook(t, env, bindings, func() admitted { return &v1.AddressBinding{} }, randomBinding)
	})
}

// compareWithWebhook creates random objects and replaces others by them, and compares the answers. The live objects were created in a namespace that was
// excluded from admission, so that they need not be valid. Nothing else is stored.
func compareWithWebhook(t *testing.T, env *harness.Env, gvr schema.GroupVersionResource, newObject func() admitted,
	random func(r *rand.Rand, namespace, name string) (*unstructured.Unstructured, bool),
) {
	t.Helper()
	inputs, stored := testrand.Inputs(t), 30
	if testing.Short() {
		inputs, stored = testrand.AtMost(t, 30), 10
	}
	w, r, ns := webhookCode{newObject}, rand.New(testrand.SourceFor(t, inputs)), env.Namespace(t)
	quiet := rest.CopyConfig(env.Config)
	quiet.WarningHandler = rest.NoWarnings{}
	objects := dynamic.NewForConfigOrDie(quiet).Resource(gvr).Namespace(ns)
	namespace := harness.Ref{Resource: schemaNamespaces, Name: ns}
	env.ExpectErrors(t, ns+"/live-") // where the controller runs, it cannot add its finalizer to a binding without a namespace of subjects that is invalid otherwise
	env.Patch(t, namespace, `{"metadata": {"labels": {"webhooks.knative.dev/exclude": ""}}}`)
	awaitAdmissionIn(t, env, ns, false)
	var live []*unstructured.Unstructured
	for i := range stored {
		o, _ := random(r, ns, fmt.Sprintf("live-%d", i))
		if created, err := objects.Create(t.Context(), o, metav1.CreateOptions{}); err == nil {
			live = append(live, created)
		}
	}
	env.Patch(t, namespace, `{"metadata": {"labels": {"webhooks.knative.dev/exclude": null}}}`)
	awaitAdmissionIn(t, env, ns, true)

	answers := map[string]int{}
	for range inputs {
		sent, invalid := random(r, ns, "new")
		answer, err := objects.Create(t.Context(), sent, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		answers["create: "+w.compare(apis.WithinCreate(t.Context()), t, sent, invalid, answer, err)]++

		n := r.Intn(len(live))
		sent, invalid = random(r, ns, live[n].GetName())
		err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
			sent.SetResourceVersion(live[n].GetResourceVersion())
			var updateErr, getErr error
			answer, updateErr = objects.Update(t.Context(), sent, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
			if apierrors.IsConflict(updateErr) { // with the controller, where it runs
				if live[n], getErr = objects.Get(t.Context(), sent.GetName(), metav1.GetOptions{}); getErr != nil {
					t.Fatal(getErr)
				}
			}
			return updateErr
		})
		old, decodeErr := w.decode(live[n])
		if decodeErr != nil {
			t.Fatal(decodeErr)
		}
		answers["update: "+w.compare(apis.WithinUpdate(t.Context(), old), t, sent, invalid, answer, err)]++
	}
	t.Logf("%d live objects, answers: %v", len(live), answers)
	for _, operation := range []string{"create: ", "update: "} {
		for _, kind := range []string{"admitted", "rejected by the schema", "rejected by a rule"} {
			if answers[operation+kind] == 0 {
				t.Errorf("no object has the answer %s%s", operation, kind)
			}
		}
	}
}

// awaitAdmissionIn waits until the API server has read the webhooks or the policies, and the labels of a namespace, so that it is known whether it applies
// them there.
func awaitAdmissionIn(t *testing.T, env *harness.Env, namespace string, want bool) {
	t.Helper()
	isDefaulted := func(o *unstructured.Unstructured, is bool) error {
		if is != want {
			return fmt.Errorf("it is %t that admission applies: %v", is, o)
		}
		return nil
	}
	harness.Eventually(t, "the admission of a namespace", func(ctx context.Context) error {
		dryRun := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
		service, err := services(env, namespace).Create(ctx, object(namespace), dryRun)
		if err != nil {
			return err
		}
		binding, err := env.Dynamic.Resource(bindings).Namespace(namespace).Create(ctx, bindingTo(namespace, "it"), dryRun)
		if err != nil {
			return err
		}
		_, classErr := services(env, namespace).Create(ctx, object(namespace, classed("Not A Class")), dryRun)
		return errors.Join(isDefaulted(service, classOf(service) != ""), isDefaulted(binding, len(binding.GetFinalizers()) > 0), isDefaulted(service, classErr != nil))
	})
}
