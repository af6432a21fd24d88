/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud_test

import (
	"context"
	"fmt"
	"log"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/mallard-dev/mallard/crud"
)

//nolint:testableexamples // it needs a cluster
func ExampleClient_Run() {
	var config *rest.Config // of the cluster
	client, err := crud.New(config, crud.Options{FieldManager: "example"})
	if err != nil {
		log.Fatal(err)
	}
	result, err := client.Run(context.Background(), crud.CreateOrUpdate(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "settings"},
		Data:       map[string]string{"color": "green"},
	}))
	if err != nil {
		log.Fatal(err)
	}
	log.Print(result.Outcome) // Created, Updated or Unchanged
}

func ExampleCreateOrUpdate() {
	op := crud.CreateOrUpdate(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "settings"},
		Data:       map[string]string{"color": "green"},
	})
	op.Strategy = crud.Apply
	fmt.Println(op.Type, op.Validate())
	// Output: CreateOrUpdate <nil>
}

func ExampleEnsureDeleted() {
	op := crud.EnsureDeleted(crud.Ref{Kind: "Deployment", Namespace: "default", Name: "nginx"})
	op.Wait = time.Minute
	fmt.Println(op, op.Validate())
	// Output: EnsureDeleted Deployment default/nginx <nil>
}

func ExampleMergePatch() {
	op := crud.MergePatch(crud.Ref{Kind: "ConfigMap", Namespace: "default", Name: "settings"},
		map[string]any{"data": map[string]any{"color": "blue", "size": nil}})
	fmt.Println(op, op.Validate())
	// Output: MergePatch ConfigMap default/settings <nil>
}

func ExampleJSONPatch() {
	op := crud.JSONPatch(crud.Ref{Kind: "ConfigMap", Namespace: "default", Name: "settings"},
		`[{"op": "remove", "path": "/data/size"}]`)
	op.IgnoreMissingPaths = true
	fmt.Println(op, op.Validate())
	// Output: JSONPatch ConfigMap default/settings <nil>
}

func ExampleJQPatch() {
	op := crud.JQPatch(crud.Ref{Kind: "Deployment", Namespace: "default", Name: "nginx"}, ".spec.replicas = 3")
	fmt.Println(op, op.Validate())
	// Output: JQPatch Deployment default/nginx <nil>
}

//nolint:testableexamples // it needs a cluster
func ExampleFilterPatchOptimistic() {
	var client *crud.Client
	var snapshot *appsv1.Deployment // as an informer or a client returned it
	_, err := client.Run(context.Background(), crud.FilterPatchOptimistic(snapshot, func(deployment *appsv1.Deployment) error {
		*deployment.Spec.Replicas++
		return nil
	}))
	switch crud.ClassOf(err) {
	case "":
	case crud.Conflict: // decide again with the new state
	default:
		log.Fatal(err)
	}
}

//nolint:testableexamples // it needs a cluster
func ExampleClient_RunPlan() {
	var client *crud.Client
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "import-"}}
	results, err := client.RunPlan(context.Background(), crud.Plan{
		Task:       "import-2026-11-24",
		Operations: []crud.Operation{crud.Create(job)},
	})
	if err != nil {
		log.Fatal(err)
	}
	log.Print(results[0].Outcome) // Created, or Replayed if this task has created it before
}

func ExampleFilterPatch() {
	scale := crud.FilterPatch(crud.Ref{Kind: "Deployment", Namespace: "default", Name: "nginx"}, func(deployment *appsv1.Deployment) error {
		replicas := int32(3)
		deployment.Spec.Replicas = &replicas
		return nil
	})
	scale.IgnoreMissing = true
	fmt.Println(scale, scale.Validate())
	// Output: FilterPatch Deployment default/nginx <nil>
}

func ExampleEnsureDeleteBackground() {
	ref := crud.Ref{Kind: "Job", Namespace: "default", Name: "import"}
	fmt.Println(crud.EnsureDeleteBackground(ref))
	fmt.Println(crud.EnsureDeleteOrphan(ref))
	// Output:
	// EnsureDeletedInBackground Job default/import
	// EnsureDeletedOrphaning Job default/import
}
