//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package install

import (
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestOverlays_Each_IsAcceptedByTheAPIServer(t *testing.T) {
	for _, overlay := range installations {
		t.Run(overlay, func(t *testing.T) {
			if overlay == withoutWebhook {
				t.Setenv("LOCALCLUSTER_KUBERNETES", kubernetes136)
			}
			c := newCluster(t)
			for line := range strings.Lines(c.kubectl("apply", "--kustomize", folderOf(t, overlay))) {
				if !strings.HasSuffix(line, " created\n") {
					t.Errorf("on an empty cluster kubectl apply says %q", line)
				}
			}
			for name, object := range rendered(t, overlay).objects {
				c.expectStored(name, object)
			}
			if overlay == "single-namespace+hooks" {
				c.expectRightsInOneNamespace()
			}
		})
	}
}

// expectStored expects the object under its name; what the API server makes of its fields is its own matter.
func (c *cluster) expectStored(name string, object *unstructured.Unstructured) {
	c.t.Helper()
	args := []string{"get", object.GroupVersionKind().GroupKind().String(), object.GetName(), "--output=name"}
	if object.GetNamespace() != "" {
		args = append(args, "--namespace", object.GetNamespace())
	}
	if out, err := c.try("", args...); err != nil {
		c.t.Errorf("%s does not exist: %s", name, out)
	}
}

// expectRightsInOneNamespace checks with the API server the permissions of the accounts of a single-namespace installation.
func (c *cluster) expectRightsInOneNamespace() {
	c.t.Helper()
	c.kubectl("create", "namespace", "other")
	c.awaitAggregation()
	for _, question := range []struct{ account, verb, resource, namespace, want string }{
		{"controller", "list", "addressableservices.samples.knative.dev", "default", "yes"},
		{"controller", "list", "addressableservices.samples.knative.dev", "other", "no"},
		{"controller", "list", "addressableservices.samples.knative.dev", "", "no"},
		{"controller", "update", "addressableservices.samples.knative.dev/status", "default", "yes"},
		{"controller", "update", "addressableservices.samples.knative.dev/status", "other", "no"},
		{"controller", "create", "pods", "default", "yes"},
		{"controller", "create", "pods", "other", "no"},
		{"controller", "watch", "pods", "", "no"},
		{"controller", "watch", "simpledeployments.samples.knative.dev", "default", "yes"},
		{"controller", "watch", "simpledeployments.samples.knative.dev", "", "no"},
		{"controller", "watch", "services", "default", "yes"},
		{"controller", "watch", "services", "", "no"},
		{"controller", "create", "services", "default", "yes"},
		{"controller", "create", "services", "other", "no"},
		{"controller", "create", "events", "default", "yes"},
		{"controller", "create", "events", "other", "no"},
		{"controller", "get", "configmaps", "knative-samples", "yes"},
		{"controller", "get", "configmaps", "default", "no"},
		{"controller", "watch", "customresourcedefinitions.apiextensions.k8s.io", "", "yes"},
		{"hooks", "watch", "services", "default", "yes"},
		{"hooks", "watch", "services", "other", "no"},
		{"hooks", "create", "addressableservices.samples.knative.dev", "default", "yes"},
		{"hooks", "create", "addressableservices.samples.knative.dev", "other", "no"},
		{"hooks", "create", "events", "default", "yes"},
		{"hooks", "create", "events", "other", "no"},
		{"controller", "watch", "namespaces", "", "yes"},
		{"webhook", "list", "secrets", "knative-samples", "yes"},
		{"webhook", "list", "secrets", "default", "no"},
		{"webhook", "list", "addressableservices.samples.knative.dev", "default", "no"},
	} {
		args := []string{"auth", "can-i", question.verb, question.resource, "--as=system:serviceaccount:knative-samples:" + question.account}
		if resource, subresource, ok := strings.Cut(question.resource, "/"); ok {
			args[3], args = resource, append(args, "--subresource="+subresource)
		}
		if question.namespace == "" {
			args = append(args, "--all-namespaces")
		} else {
			args = append(args, "--namespace", question.namespace)
		}
		out, _ := c.try("", args...) // it ends with 1 after a no
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if got := lines[len(lines)-1]; got != question.want {
			c.t.Errorf("may the %s %s %s in namespace %q: %s, want %s", question.account, question.verb, question.resource, question.namespace, got, question.want)
		}
	}
}

// Without the files that are named after a kind, the others can be applied.
func TestKind_ManifestsDeleted_RestCanBeApplied(t *testing.T) {
	for _, kind := range kinds(t) {
		t.Run(kind, func(t *testing.T) {
			newCluster(t).kubectl("apply", "--kustomize", filepath.Join(without(t, kind), "kustomize", "overlays", "default"))
		})
	}
}
