/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package environment

import (
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"github.com/mallard-dev/mallard/localcluster/env/manifest"
)

const registeredPeriod = 50 * time.Millisecond

// waitRegistered waits until the API server can call the webhooks of the manifests: their process writes its CA into them after it is ready. Objects that
// are created before are neither defaulted nor validated. serves reports whether a process with the name of a Service runs.
func (e *Env) waitRegistered(ctx context.Context, serves func(service string) bool) error {
	client, err := dynamic.NewForConfig(e.Config)
	if err != nil {
		return fmt.Errorf("making a client for the webhook configurations: %w", err)
	}
	var missing string
	err = wait.PollUntilContextCancel(ctx, registeredPeriod, true, func(ctx context.Context) (bool, error) {
		for _, object := range e.Manifests {
			if kind := object.GetKind(); strings.HasSuffix(kind, "WebhookConfiguration") {
				resource := schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: strings.ToLower(kind) + "s"}
				live, err := client.Resource(resource).Get(ctx, object.GetName(), metav1.GetOptions{})
				if err != nil && !apierrors.IsNotFound(err) {
					return false, fmt.Errorf("getting %s: %w", manifest.Name(object, kind), err)
				}
				if err == nil && !isRegistered(live, serves) {
					missing = manifest.Name(object, kind)
					return false, nil
				}
			}
		}
		return true, nil
	})
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("waiting for the CA in %s: %w", missing, context.Cause(ctx))
	}
	return err //nolint:wrapcheck // it names the configuration
}

func isRegistered(configuration *unstructured.Unstructured, serves func(service string) bool) bool {
	webhooks, _, _ := unstructured.NestedSlice(configuration.Object, "webhooks")
	for _, webhook := range webhooks {
		fields, _ := webhook.(map[string]any)
		service, _, _ := unstructured.NestedString(fields, "clientConfig", "service", "name")
		ca, _, _ := unstructured.NestedString(fields, "clientConfig", "caBundle")
		if ca == "" && serves(service) {
			return false
		}
	}
	return true
}
