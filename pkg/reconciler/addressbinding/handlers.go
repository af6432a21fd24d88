/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"context"
	"strconv"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/apis/duck"
	"knative.dev/pkg/client/injection/ducks/duck/v1/podspecable"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/injection/clients/dynamicclient"
	"knative.dev/pkg/kmeta"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/binding"
	"github.com/mallard-dev/mallard/pkg/client/injection/ducks/duck/v1alpha1/configurable"
	listers "github.com/mallard-dev/mallard/pkg/client/listers/samples/v1"
)

// batchKey is the key of the factory for CronJobs or Jobs, duck types for which injection-gen has made none.
type batchKey struct{ shape binding.Shape }

func init() {
	injection.Default.RegisterDuck(withBatch)
}

func withBatch(ctx context.Context) context.Context {
	for _, shape := range []binding.Shape{binding.CronJob, binding.JobTemplate} {
		ctx = context.WithValue(ctx, batchKey{shape}, &duck.CachedInformerFactory{Delegate: &duck.TypedInformerFactory{
			Client: dynamicclient.Get(ctx), Type: shape.New(), ResyncPeriod: controller.GetResyncPeriod(ctx), StopChannel: ctx.Done(),
		}})
	}
	return ctx
}

// newSubjects returns the factories of informers of subjects, by shape. An informer starts when a binding first refers to its kind.
func newSubjects(ctx context.Context, onChanged func(any)) map[binding.Shape]duck.InformerFactory {
	factories := map[binding.Shape]duck.InformerFactory{binding.PodTemplate: podspecable.Get(ctx), binding.Configurable: configurable.Get(ctx)}
	for _, shape := range []binding.Shape{binding.CronJob, binding.JobTemplate} {
		factories[shape], _ = ctx.Value(batchKey{shape}).(duck.InformerFactory)
	}
	for shape, factory := range factories {
		factories[shape] = &duck.CachedInformerFactory{Delegate: &duck.EnqueueInformerFactory{
			Delegate: factory, EventHandler: whenChanged(onChanged, readSubject),
		}}
	}
	return factories
}

// whenChanged returns a handler that calls a function, for an update with both states: labels may have changed away from a selector. Updates that
// change nothing of what bindings read are ignored: most are of a status.
func whenChanged(call func(any), read func(any) []any) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{AddFunc: call, DeleteFunc: call, UpdateFunc: func(before, after any) {
		if !equality.Semantic.DeepEqual(read(before), read(after)) {
			call(before)
			call(after)
		}
	}}
}

// readSubject returns what bindings read of a subject.
func readSubject(obj any) []any {
	o := obj.(kmeta.Accessor) //nolint:forcetypeassert // of every duck type
	version := strconv.FormatInt(o.GetGeneration(), 10)
	if version == "0" {
		version = o.GetResourceVersion()
	}
	return []any{
		o.GetUID(), version, o.GetLabels(), o.GetAnnotations()[samples.BoundVariablesAnnotationKey], o.GetDeletionTimestamp() == nil,
		binding.Controlled(o), binding.Finished(o),
	}
}

// readClaim returns what other bindings read of a binding.
func readClaim(obj any) []any {
	ab := obj.(*v1.AddressBinding) //nolint:forcetypeassert // the informer has nothing else
	return []any{ab.UID, ab.Generation, ab.Status.Value, ab.Status.LacksAddress(), binding.Unserved(ab), ab.Status.Kinds}
}

// contenders returns a function that enqueues the other bindings that may want the same variable of the same objects as one.
func contenders(bindings listers.AddressBindingLister, enqueue func(any)) func(any) {
	return func(obj any) {
		changed, _ := kmeta.DeletionHandlingAccessor(obj)
		ab, ok := changed.(*v1.AddressBinding)
		if !ok {
			return
		}
		all, _ := bindings.AddressBindings(ab.Namespace).List(labels.Everything())
		for _, other := range all {
			if ab.Name != other.Name && ab.Spec.Variable == other.Spec.Variable && subjectGVK(ab).GroupKind() == subjectGVK(other).GroupKind() {
				enqueue(other)
			}
		}
	}
}

// withoutSchemas implements cache.TransformFunc: memory must not depend on the schemas of other operators.
func withoutSchemas(obj any) (any, error) {
	if crd, ok := obj.(*apiextensionsv1.CustomResourceDefinition); ok {
		crd.ManagedFields, crd.Annotations = nil, nil
		for i := range crd.Spec.Versions {
			crd.Spec.Versions[i].Schema = nil
		}
	}
	return obj, nil
}
