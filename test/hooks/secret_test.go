/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hooks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/hook"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// logged returns the log of the process so far.
func (s *scene) logged() string {
	var all strings.Builder
	for _, entry := range s.logs.All() {
		fmt.Fprintln(&all, entry.Message, entry.ContextMap())
	}
	return all.String()
}

// The API server quotes the whole Secret in its answer to the patch, and the ConfigMap has a value that the same run writes into a Secret.
func TestSecret_OperationOfAHookIsRejected_NothingRecordsAValue(t *testing.T) {
	s := newScene(t)
	stored, written := harness.Canary(t), harness.Canary(t)
	if _, err := s.env.Kube.CoreV1().Secrets(s.ns).Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "it", Labels: it}, StringData: map[string]string{"password": stored},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.create("other", "1", nil)
	ref := crud.Ref{Kind: "Secret", Namespace: s.ns, Name: "it"}
	patch := func(fields string, values ...any) crud.Operation {
		return crud.MergePatch(ref, fmt.Sprintf(fields, values...))
	}
	binding := hook.Bindings{Kubernetes: []hook.Kubernetes{s.configMaps(func(k *hook.Kubernetes) { k.Kind, k.AllowFailure = "Secret", true })}}
	hooks := []*hook.Hook{
		s.hook("rejected", binding, func(_ context.Context, run *hook.Run) error {
			run.Add(patch(`{"metadata":{"annotations":{"touched":%q}}}`, run.Task), patch(`{"stringData":{"y":%q},"data":{"z":5}}`, written))
			run.Plan.SkipPreflight = true
			return nil
		}),
		s.hook("label", binding, func(_ context.Context, run *hook.Run) error {
			run.Add(patch(`{"stringData":{"y":%q}}`, written), crud.MergePatch(crud.Ref{Kind: "cm", Namespace: s.ns, Name: "other"}, fmt.Sprintf(`{"metadata":{"labels":{"a":%q}}}`, written)))
			return nil
		}),
		s.hook("panics", binding, func(_ context.Context, run *hook.Run) error {
			run.Add(crud.CreateOrUpdate(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: "new"}, StringData: map[string]string{"password": written}}))
			panic("the password is " + written)
		}),
	}
	s.start(s.quick(), hooks...)
	harness.Eventually(t, "each hook has failed", func(context.Context) error {
		for _, want := range []string{
			"MergePatch Secret " + s.ns + "/it: Invalid: patching the object: data.z: must be a text in base64, is a number",
			`metadata.labels: Invalid value: "***"`, "The hook panicked", "the password is ***",
		} {
			if !strings.Contains(s.logged(), want) {
				return fmt.Errorf("the log lacks %s", want)
			}
		}
		return nil
	})
	for _, value := range []string{stored, written} {
		if form := harness.Leaked(s.logged(), value); form != "" {
			t.Errorf("the value is %s in the log: %s", form, s.logged())
		}
	}
}

func TestSecret_DeclaredKinds_AreMaskedInTheLog(t *testing.T) {
	s := newScene(t)
	options, value := s.quick(), "declared-"+s.ns
	options.ConfidentialKinds = append(options.ConfidentialKinds, schema.GroupKind{Kind: "ConfigMap"})
	s.create("it", value, it)
	s.start(options, s.hook("fails", hook.Bindings{Kubernetes: []hook.Kubernetes{s.configMaps(func(k *hook.Kubernetes) { k.AllowFailure = true })}}, func(_ context.Context, run *hook.Run) error {
		run.Add(crud.MergePatch(crud.Ref{Kind: "ConfigMap", Namespace: s.ns, Name: "it"}, `{"data":{"z":5}}`))
		if len(run.Contexts[0].Objects) > 0 {
			return nil
		}
		return errors.New("the value is " + value)
	}))
	wait := func(want string) {
		t.Helper()
		harness.Eventually(t, "the hook fails", func(context.Context) error {
			if !strings.Contains(s.logged(), want) {
				return fmt.Errorf("the log lacks %s", want)
			}
			return nil
		})
	}
	wait("data.z: must be a text, is a number")
	s.patch("it", `{"metadata":{"annotations":{"a":"b"}}}`)
	wait("the value is ***")
	if strings.Contains(s.logged(), value) {
		t.Errorf("the value is logged: %s", s.logged())
	}
}
