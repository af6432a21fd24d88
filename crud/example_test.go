/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud_test

import (
	"context"
	"fmt"
	"log"

	appsv1 "k8s.io/api/apps/v1"
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
