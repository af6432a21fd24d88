/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package repository

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/mallard-dev/mallard/localcluster/env/manifest"
)

// The migration has to name each kind in its settings and permissions, and a kind that is forgotten there is missed
// only when a version is dropped.
func TestPostInstall_Kinds_AreMigrated(t *testing.T) {
	var crds []string
	for _, object := range configObjects(t) {
		// A kind with one version has nothing to migrate.
		if object.GetKind() == "CustomResourceDefinition" && len(into[apiextensionsv1.CustomResourceDefinition](t, object).Spec.Versions) > 1 {
			crds = append(crds, object.GetName())
		}
	}
	slices.Sort(crds)
	if len(crds) == 0 {
		t.Fatal("config/ has no CRD")
	}
	var migrated, readable, prunable, objects []string
	for _, object := range objectsBelow(t, "post-install") {
		name := manifest.Name(object, object.GetKind())
		expectLabels(t, name, object.GetLabels())
		switch object.GetKind() {
		case "Job":
			job := into[batchv1.Job](t, object)
			expectLabels(t, "the Pod of "+name, job.Spec.Template.Labels)
			for _, v := range job.Spec.Template.Spec.Containers[0].Env {
				if v.Name == "RESOURCES" {
					migrated = strings.Split(v.Value, ",")
				}
			}
		case "ClusterRole":
			for _, rule := range into[rbacv1.ClusterRole](t, object).Rules {
				switch rule.Resources[0] {
				case "customresourcedefinitions":
					readable = rule.ResourceNames
				case "customresourcedefinitions/status":
					prunable = rule.ResourceNames
				default:
					for _, resource := range rule.Resources {
						objects = append(objects, resource+"."+rule.APIGroups[0])
					}
				}
			}
		}
	}
	for what, got := range map[string][]string{
		"are migrated": migrated, "may be read": readable, "may be pruned": prunable, "have objects that may be written": objects,
	} {
		slices.Sort(got)
		if diff := cmp.Diff(crds, got); diff != "" {
			t.Errorf("CRDs of config/ (-) and those that %s by post-install/ (+):\n%s", what, diff)
		}
	}
}

func into[T any](t *testing.T, object *unstructured.Unstructured) *T {
	t.Helper()
	var typed T
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, &typed, true); err != nil {
		t.Fatalf("%s: %v", manifest.Name(object, object.GetKind()), err)
	}
	return &typed
}
