//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/fixtures"
)

func TestSchema_Tightened_ExistingObjectsCanBeUpdatedAndDeleted(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.AllVersions())
	ns := env.Namespace(t)
	env.Apply(t, ns, fixtures.Target)
	create(t, env, object(ns, named("subject"), set("spec.ref", map[string]any{"apiVersion": "v1", "kind": "Service", "name": "target"}),
		set("spec.path", "/long-path"), set("spec.publish.alias", "long-alias")))
	subject := harness.Ref{Resource: resource, Namespace: ns, Name: "subject"}
	env.Await(t, subject, harness.Ready)

	tighten(t, env)
	for _, version := range versions {
		harness.Eventually(t, "the new bounds are in force at "+version, func(ctx context.Context) error {
			_, err := servicesAt(version, env, ns).Create(ctx, objectAt(version, ns), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			if err == nil {
				return errors.New("an object that breaks them is accepted")
			}
			return nil
		})
	}
	for _, version := range versions {
		subject := harness.Ref{Resource: at(version), Namespace: ns, Name: "subject"}
		checkPatch(t, env, subject, `{"metadata": {"labels": {"touched": "`+version+`"}}}`)
	}
	checkPatch(t, env, subject, `{"spec": {"visibility": "ClusterLocal"}}`)
	checkPatch(t, env, subject, `{"spec": {"path": "/longer-path"}}`, "spec.path", "may not be more than 4")
	checkPatch(t, env, subject, `{"spec": {"publish": {"alias": "longer-alias"}}}`, "spec.publish", "no alias any more")
	atV1beta1 := harness.Ref{Resource: at("v1beta1"), Namespace: ns, Name: "subject"}
	checkPatch(t, env, atV1beta1, `{"spec": {"exposure": "External"}}`)
	checkPatch(t, env, atV1beta1, `{"spec": {"path": "/longer-path"}}`, "spec.path", "may not be more than 4")
	atV1alpha1 := harness.Ref{Resource: at("v1alpha1"), Namespace: ns, Name: "subject"}
	checkPatch(t, env, atV1alpha1, `{"spec": {"serviceName": "target"}}`)
	checkPatch(t, env, atV1alpha1, `{"spec": {"serviceName": "other"}}`, "spec.serviceName", "may not be more than 4")
	// The controller still writes the status.
	env.Delete(t, harness.Ref{Resource: corev1.SchemeGroupVersion.WithResource("services"), Namespace: ns, Name: "target"})
	env.Await(t, subject, harness.HasCondition("Ready", "False", "TargetNotFound"))
	env.Delete(t, subject)
	env.Await(t, subject, harness.Deleted)
}

// tighten adds bounds to the schema of each version, and a rule to that of v1.
func tighten(t *testing.T, env *harness.Env) {
	t.Helper()
	env.ChangeCRD(t, resource.GroupResource(), func(crd *apiextensionsv1.CustomResourceDefinition) {
		longest := int64(4)
		for _, version := range crd.Spec.Versions {
			properties := version.Schema.OpenAPIV3Schema.Properties["spec"].Properties
			for _, name := range []string{"path", "serviceName"} {
				if property, ok := properties[name]; ok {
					property.MaxLength = &longest
					properties[name] = property
				}
			}
			if publish, ok := properties["publish"]; ok {
				publish.XValidations = append(publish.XValidations, apiextensionsv1.ValidationRule{Rule: "self.alias == ''", Message: "no alias any more"})
				properties["publish"] = publish
			}
		}
	})
}
