//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package test

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestAPI_NamespaceWithContent_IsDeleted(t *testing.T) {
	client := sharedCluster(t).client(t)
	namespace := newNamespace(t, client)
	if _, err := client.CoreV1().Pods(namespace).Create(t.Context(), pod("inside"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	waitRunning(t, client, namespace, "inside")
	if err := client.CoreV1().Namespaces().Delete(t.Context(), namespace, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the deletion of the namespace", func(ctx context.Context) error {
		return deleted(client.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{}))
	})
}
