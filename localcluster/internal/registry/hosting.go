/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package registry

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

const (
	hostingName = "local-registry-hosting"
	hostingKey  = "localRegistryHosting.v1"
)

// Announce publishes the address of the registry for the tools of developers, in the ConfigMap that Kubernetes' enhancement 1755
// describes.
func Announce(ctx context.Context, client kubernetes.Interface, host string) error {
	maps := client.CoreV1().ConfigMaps(metav1.NamespacePublic)
	wanted := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: hostingName, Namespace: metav1.NamespacePublic},
		Data:       map[string]string{hostingKey: fmt.Sprintf("host: %q\n", host)},
	}
	_, err := maps.Create(ctx, wanted, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		_, err = maps.Update(ctx, wanted, metav1.UpdateOptions{})
	}
	if err != nil {
		return fmt.Errorf("announcing the registry in the ConfigMap %s/%s: %w", metav1.NamespacePublic, hostingName, err)
	}
	return nil
}
