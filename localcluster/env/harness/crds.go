/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness

import (
	"context"
	"fmt"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/retry"

	"github.com/mallard-dev/mallard/localcluster/env/manifest"
)

// ChangeCRD changes a CustomResourceDefinition, and does so again on a conflict.
func (e *Env) ChangeCRD(t testing.TB, resource schema.GroupResource, change func(*apiextensionsv1.CustomResourceDefinition)) {
	t.Helper()
	crds := e.CRDs.ApiextensionsV1().CustomResourceDefinitions()
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		crd, err := crds.Get(t.Context(), resource.String(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(crd)
		_, err = crds.Update(t.Context(), crd, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		t.Fatalf("changing the CRD %s: %v", resource, err)
	}
}

// StoreAt has the API server store the objects of a kind at a version, and returns when it does, which it learns of by a
// watch. The probe is the manifest of an object of that kind, which is created in a namespace and deleted again.
func (e *Env) StoreAt(t testing.TB, version, namespace, probe string) {
	t.Helper()
	objects, err := manifest.Parse([]byte(probe))
	if err != nil || len(objects) != 1 {
		t.Fatalf("reading the probe: %v (%d objects, want one)", err, len(objects))
	}
	ref := e.Ref(t, namespace, objects[0])
	e.ChangeCRD(t, ref.Resource.GroupResource(), func(crd *apiextensionsv1.CustomResourceDefinition) {
		for i := range crd.Spec.Versions {
			crd.Spec.Versions[i].Storage = crd.Spec.Versions[i].Name == version
		}
	})
	Eventually(t, "objects are stored at "+version, func(context.Context) error {
		if _, err := e.TryApply(t, namespace, probe); err != nil {
			return err
		}
		stored := storedVersion(t, e.Stored(t, ref))
		e.Delete(t, ref)
		e.Await(t, ref, Deleted)
		if stored != version {
			return fmt.Errorf("one is stored at %s", stored)
		}
		return nil
	})
}
