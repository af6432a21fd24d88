/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Plain is a controller as its authors write it with knative.dev/pkg, and what tests ask it to do. HARDENING_OFF makes it one without package
// hardening.
package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	kubeclient "knative.dev/pkg/client/injection/kube/client"
	configmapinformer "knative.dev/pkg/client/injection/kube/informers/core/v1/configmap"
	serviceinformer "knative.dev/pkg/client/injection/kube/informers/core/v1/service"
	serviceaccountinformer "knative.dev/pkg/client/injection/kube/informers/core/v1/serviceaccount"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection/sharedmain"
	"knative.dev/pkg/logging"
	pkgreconciler "knative.dev/pkg/reconciler"
	"knative.dev/pkg/tracker"

	"github.com/mallard-dev/mallard/hardening"
)

func main() {
	sharedmain.Main("plain", hardening.Constructors(newController)...)
	hardening.Exit()
}

var (
	parents = corev1.SchemeGroupVersion.WithKind("ConfigMap")
	targets = corev1.SchemeGroupVersion.WithKind("Service")
)

// isParent accepts the ConfigMaps that are reconciled.
var isParent = pkgreconciler.LabelFilterFunc("plain", "parent", false)

func newController(ctx context.Context, _ configmap.Watcher) *controller.Impl {
	logger := logging.FromContext(ctx)
	informer, accounts, services := configmapinformer.Get(ctx), serviceaccountinformer.Get(ctx), serviceinformer.Get(ctx)
	logger.Infof("The client has limiter %t", kubeclient.Get(ctx).CoreV1().RESTClient().GetRateLimiter() != nil)
	r := &reconciler{kube: kubeclient.Get(ctx), parents: informer.Lister(), accounts: accounts.Lister()}
	r.PromoteFunc = func(bucket pkgreconciler.Bucket, enqueue func(pkgreconciler.Bucket, types.NamespacedName)) error {
		for _, object := range informer.Informer().GetStore().List() {
			if isParent(object) {
				enqueue(bucket, cache.MetaObjectToName(object.(metav1.Object)).AsNamespacedName())
			}
		}
		return nil
	}
	impl := controller.NewContext(ctx, r, controller.ControllerOptions{WorkQueueName: "Plain", Logger: logger})
	r.tracker = impl.Tracker
	_, _ = informer.Informer().AddEventHandler(cache.FilteringResourceEventHandler{FilterFunc: isParent, Handler: controller.HandleAll(impl.Enqueue)})
	_, _ = accounts.Informer().AddEventHandler(cache.FilteringResourceEventHandler{
		FilterFunc: controller.FilterControllerGVK(parents), Handler: controller.HandleAll(impl.EnqueueControllerOf),
	})
	_, _ = services.Informer().AddEventHandler(controller.HandleAll(controller.EnsureTypeMeta(r.tracker.OnChanged, targets)))
	_, _ = services.Informer().AddEventHandler(controller.HandleAll(func(object any) {
		if s, ok := object.(*corev1.Service); ok && s.Annotations["handler"] == "panic" {
			panic("in the handler of a Service")
		}
	}))
	return impl
}

type reconciler struct {
	pkgreconciler.LeaderAwareFuncs

	kube     kubernetes.Interface
	parents  corev1listers.ConfigMapLister
	accounts corev1listers.ServiceAccountLister
	tracker  tracker.Interface
}

// Reconcile creates the number of ServiceAccounts in a ConfigMap.
func (r *reconciler) Reconcile(ctx context.Context, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return fmt.Errorf("splitting %q: %w", key, err)
	}
	if !r.IsLeaderFor(types.NamespacedName{Namespace: namespace, Name: name}) {
		return controller.NewSkipKey(key)
	}
	parent, err := r.parents.ConfigMaps(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	logging.FromContext(ctx).Infof("Begin %s", key)
	if target := parent.Data["target"]; target != "" {
		ref := tracker.Reference{APIVersion: "v1", Kind: "Service", Namespace: namespace, Name: target}
		if err := r.tracker.TrackReference(ref, parent); err != nil {
			return fmt.Errorf("tracking the target: %w", err)
		}
	}
	if parent.Data["panic"] != "" {
		panic(parent.Data["panic"])
	}
	if pause, err := time.ParseDuration(parent.Data["pause"]); err == nil {
		time.Sleep(pause) //nolint:forbidigo // work that nothing cancels
	}
	children, _ := strconv.Atoi(parent.Data["children"])
	for i := range children {
		child := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: fmt.Sprintf("%s-%d", name, i), OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(parent, parents)},
		}}
		if _, err := r.accounts.ServiceAccounts(namespace).Get(child.Name); err == nil {
			continue
		}
		if _, err := r.kube.CoreV1().ServiceAccounts(namespace).Create(ctx, child, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("creating child %s: %w", child.Name, err)
		}
	}
	logging.FromContext(ctx).Infof("End %s", key)
	return nil
}
