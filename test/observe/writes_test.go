/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/tools/cache"

	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/observe"
	"github.com/mallard-dev/mallard/observe/expectations"
)

// family is a reconciler of ConfigMaps that creates a Secret for each one without, and writes the name of the Secret into the ConfigMap.
type family struct {
	reconciler.LeaderAwareFuncs
	*scene

	parents  observe.Lister[*corev1.ConfigMap]
	children observe.Lister[*corev1.Secret]
	// expectations holds the writes.
	expectations *expectations.Expectations
}

// childrenOf returns the children in the cache.
func (f *family) childrenOf(owner metav1.Object) (children []metav1.Object) {
	for _, child := range f.children.List(func(child *corev1.Secret) bool { return metav1.IsControlledBy(child, owner) }) {
		children = append(children, child)
	}
	return children
}

// Reconcile implements controller.Reconciler.
func (f *family) Reconcile(ctx context.Context, key string) error {
	name, err := cache.ParseObjectName(key)
	if err != nil {
		return fmt.Errorf("parsing a key: %w", err)
	}
	for _, owner := range f.parents.List(func(cm *corev1.ConfigMap) bool { return cm.Name == name.Name }) {
		children := f.childrenOf(owner)
		if len(children) == 0 {
			return f.createChild(ctx, owner)
		}
		if status := children[0].GetName(); owner.Data["child"] != status {
			if err := f.patch(ctx, name.Name, fmt.Sprintf(`{"data": {"child": %q}}`, status)); err != nil {
				return fmt.Errorf("writing the status: %w", err)
			}
		}
	}
	return nil
}

func (f *family) createChild(ctx context.Context, owner *corev1.ConfigMap) error {
	child, err := f.kube.CoreV1().Secrets(f.ns).Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "child-", OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, configMapKind)},
	}}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("creating a child: %w", err)
	}
	f.expectations.Written(owner, child)
	return nil
}

// postponed returns how many reconciliations were postponed.
func (f *family) postponed(t *testing.T) int64 {
	t.Helper()
	return counted(t, "reconcile.triggers", map[string]string{"kind": f.ns, "cause": "requeued"})
}

func TestWire_ChildIsNotInTheCache_ReconciliationIsPostponedAndNoOtherIsCreated(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		parents := s.configMaps()
		children := observe.Selected[*corev1.Secret](kubeclient.Get, coreinformers.NewFilteredSecretInformer, observe.InNamespace(s.ns))
		f := &family{scene: s, parents: parents.Lister(s.ctx), children: children.Lister(s.ctx)}
		f.expectations = expectations.New(f.childrenOf)
		impl := controller.NewContext(s.ctx, f, controller.ControllerOptions{WorkQueueName: "family", Logger: zap.NewNop().Sugar()})
		guards := observe.Guards{Expectations: f.expectations}
		if err := observe.NewTriggers(s.ns).Wire(s.ctx, impl, guards, observe.For(parents), observe.Owns(children, parent{})); err != nil {
			t.Fatal(err)
		}
		go func() { _ = impl.RunContext(s.ctx, 1) }()
		created := func() []corev1.Secret {
			t.Helper()
			list, err := s.kube.CoreV1().Secrets(s.ns).List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			return list.Items
		}

		isChild := harness.Matching("*", "secrets").And(harness.InNamespace(s.ns))
		harness.Eventually(t, "the children are watched", func(context.Context) error {
			if s.proxy.Watches(isChild) == 0 {
				return errors.New("they are not")
			}
			return nil
		})
		resume := s.proxy.PauseWatches(isChild)
		defer resume()
		s.create(t, "it", "1")
		harness.Eventually(t, "the child is created", func(context.Context) error {
			if len(created()) == 0 {
				return errors.New("there is no such write")
			}
			return nil
		})
		for trigger := range int64(2) {
			s.update(t, "it", strconv.FormatInt(trigger+2, 10))
			harness.Eventually(t, "the reconciliation is postponed", func(context.Context) error {
				if n := f.postponed(t); n <= trigger {
					return fmt.Errorf("%d are", n)
				}
				return nil
			})
		}
		resume()
		harness.Eventually(t, "the status and the caches have the child", func(ctx context.Context) error {
			owner, err := s.kube.CoreV1().ConfigMaps(s.ns).Get(ctx, "it", metav1.GetOptions{})
			if err != nil {
				return err
			}
			if cached := f.childrenOf(owner); len(cached) != 1 || owner.Data["child"] != cached[0].GetName() {
				return fmt.Errorf("the status has the child %q, and the cache %v", owner.Data["child"], cached)
			}
			return nil
		})
		if children := created(); len(children) != 1 {
			t.Errorf("%d children were created, want 1", len(children))
		}
	})
}
