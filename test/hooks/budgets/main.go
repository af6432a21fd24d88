/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// The process of budgets is the example of docs/how-to/write-a-hook-in-go.md.
package main

import (
	"context"
	"log"

	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"knative.dev/pkg/injection/sharedmain"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/hook"
	"github.com/mallard-dev/mallard/hardening"
)

func main() {
	hook.Main()

	newController, err := hook.NewController(hook.Options{FieldManager: "budgets"}, budgets())
	if err != nil {
		log.Fatal(err)
	}
	sharedmain.Main("budgets", hardening.Constructors(newController)...)
	hardening.Exit()
}

// budgets returns the hook and the objects for which it runs.
func budgets() *hook.Hook {
	return hook.Func("budgets", hook.Bindings{Kubernetes: []hook.Kubernetes{{
		APIVersion:    "apps/v1",
		Kind:          "Deployment",
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"example.com/budget": "true"}},
		JQFilter:      ".spec.selector", // other changes, such as those of the status, do not run it
	}}}, createBudgets)
}

// createBudgets adds an operation for each Deployment of the run. The operations are executed after it has returned nil.
func createBudgets(_ context.Context, run *hook.Run) error {
	for deployment, err := range hook.As[appsv1.Deployment](run.Objects()) {
		if err != nil {
			return err
		}
		owner := *metav1.NewControllerRef(deployment, appsv1.SchemeGroupVersion.WithKind("Deployment"))
		run.Add(crud.CreateOrUpdate(&policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Namespace: deployment.Namespace, Name: deployment.Name, OwnerReferences: []metav1.OwnerReference{owner}},
			Spec:       policyv1.PodDisruptionBudgetSpec{MaxUnavailable: new(intstr.FromInt32(1)), Selector: deployment.Spec.Selector},
		}))
	}
	return nil
}
