/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/injection"
)

// Source is what to list and watch. Sources with equal keys, that is, of the same kind and with equal qualifiers, share one watch. It is built
// only while an observer needs it.
type Source[T Object] struct {
	key       sourceKey
	transform cache.TransformFunc
	// build makes the informer. It is nil for a source that injection runs.
	build func(ctx context.Context, key sourceKey) (cache.SharedIndexInformer, error)
	// injected returns the informer that injection runs.
	injected func(context.Context) cache.SharedIndexInformer
	// err is the first mistake in the qualifiers.
	err error
}

// sourceKey identifies the list and watch of a source.
type sourceKey struct {
	// kind is the constructor of the informer, or the resource.
	kind                      any
	namespace, labels, fields string
}

// Injected is the informer that injection runs for a generated informer package. It costs no watch of its own.
func Injected[T Object, I interface {
	Informer() cache.SharedIndexInformer
}](get func(context.Context) I) Source[T] {
	return Source[T]{injected: func(ctx context.Context) cache.SharedIndexInformer { return get(ctx).Informer() }}
}

// Selected is a list and watch with qualifiers that the API server applies. newInformer is the NewFiltered…Informer function of a generated
// informer package, and client returns what that takes. Without a namespace it watches the one that the process is limited to, or all.
func Selected[T Object, C any, F ~func(*metav1.ListOptions)](client func(context.Context) C,
	newInformer func(C, string, time.Duration, cache.Indexers, F) cache.SharedIndexInformer, qualifiers ...Qualifier,
) Source[T] {
	return newSource[T](reflect.ValueOf(newInformer).Pointer(), qualifiers, func(ctx context.Context, key sourceKey) (cache.SharedIndexInformer, error) {
		return newInformer(client(ctx), key.namespace, resyncCheck, indexers(), F(key.tweak)), nil
	})
}

// Metadata is a list and watch of the metadata of a resource, which needs little memory and never contains, for example, the data of a Secret.
func Metadata(resource schema.GroupVersionResource, qualifiers ...Qualifier) Source[*metav1.PartialObjectMetadata] {
	build := func(ctx context.Context, key sourceKey) (cache.SharedIndexInformer, error) {
		client, err := metadata.NewForConfig(injection.GetConfig(ctx))
		if err != nil {
			return nil, fmt.Errorf("making a metadata client: %w", err)
		}
		return metadatainformer.NewFilteredMetadataInformer(client, resource, key.namespace, resyncCheck, indexers(), key.tweak).Informer(), nil
	}
	return newSource[*metav1.PartialObjectMetadata](resource, qualifiers, build)
}

func newSource[T Object](kind any, qualifiers []Qualifier, build func(context.Context, sourceKey) (cache.SharedIndexInformer, error)) Source[T] {
	q := qualified{key: sourceKey{kind: kind}}
	for _, qualify := range qualifiers {
		qualify(&q)
	}
	return Source[T]{key: q.key, transform: q.transform, err: q.err, build: build}
}

// resyncCheck is how often an informer looks for observers with a Resync. An informer without it would ignore them.
const resyncCheck = time.Second

func indexers() cache.Indexers {
	return cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
}

// tweak sets the selectors of a request.
func (k sourceKey) tweak(options *metav1.ListOptions) {
	options.LabelSelector, options.FieldSelector = k.labels, k.fields
}

// in returns the key with the namespace that the process is limited to, unless it has one.
func (k sourceKey) in(ctx context.Context) sourceKey {
	if k.namespace == "" {
		k.namespace = injection.GetNamespaceScope(ctx)
	}
	return k
}

// String is for people.
func (k sourceKey) String() string {
	return fmt.Sprintf("namespace %q, labels %q, fields %q", k.namespace, k.labels, k.fields)
}

// Qualifier limits a source.
type Qualifier func(*qualified)

type qualified struct {
	key       sourceKey
	transform cache.TransformFunc
	err       error
}

// InNamespace limits a source to the objects of a namespace.
func InNamespace(namespace string) Qualifier {
	return func(q *qualified) { q.key.namespace = namespace }
}

// Named limits a source to one object.
func Named(namespace, name string) Qualifier {
	return func(q *qualified) {
		InNamespace(namespace)(q)
		Fields(fields.OneTermEqualSelector(metav1.ObjectNameField, name).String())(q)
	}
}

// Labels limits a source to the objects that a label selector selects, in kubectl's syntax.
func Labels(selector string) Qualifier {
	return func(q *qualified) {
		parsed, err := labels.Parse(selector)
		if err != nil {
			q.err = errors.Join(q.err, fmt.Errorf("Labels(%q): %w", selector, err))
			return
		}
		q.key.labels = parsed.String()
	}
}

// Fields limits a source to the objects that a field selector selects.
func Fields(selector string) Qualifier {
	return func(q *qualified) {
		parsed, err := fields.ParseSelector(selector)
		if err != nil {
			q.err = errors.Join(q.err, fmt.Errorf("Fields(%q): %w", selector, err))
			return
		}
		q.key.fields = parsed.String()
	}
}

// Transform changes each object before it is cached. By default managedFields are removed. Sources that share a watch must have the same one.
func Transform(f cache.TransformFunc) Qualifier {
	return func(q *qualified) { q.transform = f }
}

// dropManagedFields is the transform of sources without one. It halves the memory of most objects.
func dropManagedFields(obj any) (any, error) {
	if object, ok := obj.(metav1.Object); ok {
		object.SetManagedFields(nil)
	}
	return obj, nil
}
