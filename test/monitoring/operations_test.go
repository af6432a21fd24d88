/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package monitoring

import (
	"context"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/hook"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// operate runs operations on an object until each metric of package crud has a value: writes that another client undoes, a conflict, and a
// deletion.
func operate(t *testing.T, env *harness.Env) {
	t.Helper()
	client, err := crud.New(env.Config, crud.Options{FieldManager: "documented"})
	if err != nil {
		t.Fatal(err)
	}
	run := func(op crud.Operation) {
		t.Helper()
		if _, err := client.Run(t.Context(), op); err != nil {
			t.Fatal(err)
		}
	}
	ns := env.Namespace(t)
	write := func(value string) {
		t.Helper()
		_, err := env.Kube.CoreV1().ConfigMaps(ns).Patch(t.Context(), "a", types.MergePatchType, []byte(`{"data":{"k":"`+value+`"}}`),
			metav1.PatchOptions{FieldManager: "other"})
		if err != nil {
			t.Fatal(err)
		}
	}
	desired := crud.CreateOrUpdate(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "a"}, Data: map[string]string{"k": "1"}})
	run(desired)
	run(desired) // changes nothing
	const untilDelayed = 6
	for range untilDelayed {
		write("2")
		run(desired)
	}
	run(crud.FilterPatch(crud.Ref{Namespace: ns, Name: "a"}, func(configMap *corev1.ConfigMap) error {
		if configMap.Data["k"] == "1" {
			write("conflict")
		}
		configMap.Data["seen"] = configMap.Data["k"]
		return nil
	}))
	deletion := crud.EnsureDeletedInBackground(crud.Ref{Kind: "ConfigMap", Namespace: ns, Name: "a"})
	deletion.Wait = time.Minute
	run(deletion)
}

// review has a hook answer an admission review.
func review(ctx context.Context, t *testing.T) {
	t.Helper()
	binding := hook.Admission{Name: "documented.example.com", Rules: []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.OperationAll},
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
	}}}
	reviews, err := hook.Reviews(hook.Options{}, hook.Func("documented", hook.Bindings{Validating: []hook.Admission{binding}},
		func(_ context.Context, run *hook.Run) error {
			run.Response = &hook.Response{Allowed: true}
			return nil
		}))
	if err == nil {
		err = reviews[0].Start(ctx)
	}
	if err == nil {
		_, err = reviews[0].Answer(ctx, &admissionv1.AdmissionRequest{})
	}
	if err != nil {
		t.Fatal(err)
	}
}
