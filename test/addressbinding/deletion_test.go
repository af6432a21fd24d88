/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"fmt"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

func TestAddressBinding_DeletedWhileSubjectsAreCreated_NoneKeepsTheVariable(t *testing.T) {
	t.Parallel()
	deleteWhileCreating(t, harness.Shared(t))
}

// deleteWhileCreating creates 40 subjects, 8 at a time, and deletes their binding once 8 of them have the variable.
func deleteWhileCreating(t *testing.T, env *harness.Env) {
	t.Helper()
	const total, atOnce = 40, 8
	w := newWorld(t, env)
	ab := w.bind(t, "b", byLabel)
	w.AwaitAdmission(t, w.ns, deployment("d", "bound: to-it"), has(address))

	subjects := w.Dynamic.Resource(deployments(w.ns, "").Resource).Namespace(w.ns)
	var bound atomic.Int32
	begun, ended := make(chan struct{}), make(chan error, 1)
	create := func(name string) error {
		var subject unstructured.Unstructured
		if err := yaml.Unmarshal([]byte(deployment(name, "bound: to-it")), &subject.Object); err != nil {
			return fmt.Errorf("reading the manifest: %w", err)
		}
		answer, err := subjects.Create(t.Context(), &subject, metav1.CreateOptions{})
		if err == nil && has(address)(answer) == nil && bound.Add(1) == atOnce {
			close(begun)
		}
		return err
	}
	go func() {
		var creating errgroup.Group
		creating.SetLimit(atOnce)
		for i := range total {
			creating.Go(func() error { return create(fmt.Sprintf("d%02d", i)) })
		}
		ended <- creating.Wait()
	}()
	select {
	case <-begun:
	case err := <-ended:
		t.Fatalf("%d subjects were created with the variable: %v", bound.Load(), err)
	}
	w.Delete(t, ab)
	w.Await(t, ab, harness.Deleted)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	all, err := subjects.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range all.Items {
		if err := isMarked(false)(&all.Items[i]); err != nil {
			t.Errorf("%s: %v", all.Items[i].GetName(), err)
		}
	}
	t.Logf("%d of %d subjects had the variable when they were created", bound.Load(), len(all.Items))
}
