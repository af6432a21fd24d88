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
	"strings"
	"time"
	"unsafe"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/injection"
)

// Source defines the objects to list and watch. Sources with equal keys share one watch: those of the same kind and with equal qualifiers. Functions are equal
// if they are the same value, as a declared function is; a closure equals only itself. A source is built only while an observer needs it.
type Source[T Object] struct{ *source }

// source is a Source of any type of objects. One of build and injected is set.
type source struct {
	// name is that of the type of the objects, for metrics and logs.
	name string
	key  sourceKey
	// build makes the informer, which calls tweak with the options of each request.
	build func(ctx context.Context, key sourceKey, tweak func(*metav1.ListOptions)) (cache.SharedIndexInformer, error)
	// injected returns the informer that injection runs.
	injected func(context.Context) cache.SharedIndexInformer

	transform cache.TransformFunc
	// err is the first mistake in the qualifiers.
	err error
}

// sourceKey identifies the list and watch of a source.
type sourceKey struct {
	// kind has the client and the constructor of the informer, or the resource, or the informer that injection runs.
	kind                      any
	namespace, labels, fields string
	isClusterScoped           bool
}

// Injected is the informer that injection runs for a generated informer package. It needs no additional watch. The only qualifier that it accepts
// is Transform. A Transform is set by the first registered, queued observer that has it, before injection starts the informer; others
// must have the same one, or none. Without any, the objects are cached as the API server sends them.
func Injected[T Object, I interface {
	Informer() cache.SharedIndexInformer
}](get func(context.Context) I, qualifiers ...Qualifier) Source[T] {
	s := newSource[T](nil, qualifiers, nil)
	s.injected = func(ctx context.Context) cache.SharedIndexInformer { return get(ctx).Informer() }
	if s.key != (sourceKey{}) {
		s.err = errors.Join(s.err, errors.New("Injected: the informer that injection runs cannot be limited; use Selected"))
	}
	return s
}

// Selected is a list and watch with qualifiers that the API server applies. newInformer is the NewFiltered…Informer function of a generated
// informer package, and client returns what that takes. Without a namespace it watches the one that the process is limited to, or all.
func Selected[T Object, C any, F ~func(*metav1.ListOptions)](client func(context.Context) C,
	newInformer func(C, string, time.Duration, cache.Indexers, F) cache.SharedIndexInformer, qualifiers ...Qualifier,
) Source[T] {
	kind := [2]unsafe.Pointer{identity(client), identity(newInformer)}
	return newSource[T](kind, qualifiers, func(ctx context.Context, key sourceKey, tweak func(*metav1.ListOptions)) (cache.SharedIndexInformer, error) {
		return newInformer(client(ctx), key.namespace, resyncCheck, indexers(), tweak), nil
	})
}

// Metadata is a list and watch of the metadata of a resource, which needs little memory and never contains, for example, the data of a Secret.
func Metadata(resource schema.GroupVersionResource, qualifiers ...Qualifier) Source[*metav1.PartialObjectMetadata] {
	build := func(ctx context.Context, key sourceKey, tweak func(*metav1.ListOptions)) (cache.SharedIndexInformer, error) {
		client, err := metadata.NewForConfig(injection.GetConfig(ctx))
		if err != nil {
			return nil, fmt.Errorf("creating a metadata client: %w", err)
		}
		return metadatainformer.NewFilteredMetadataInformer(client, resource, key.namespace, resyncCheck, indexers(), tweak).Informer(), nil
	}
	return newSource[*metav1.PartialObjectMetadata](resource, qualifiers, build)
}

// Unstructured is a list and watch of the objects of a resource whose Go type the program does not have.
func Unstructured(resource schema.GroupVersionResource, qualifiers ...Qualifier) Source[*unstructured.Unstructured] {
	type kind schema.GroupVersionResource // not that of Metadata
	build := func(ctx context.Context, key sourceKey, tweak func(*metav1.ListOptions)) (cache.SharedIndexInformer, error) {
		client, err := dynamic.NewForConfig(injection.GetConfig(ctx))
		if err != nil {
			return nil, fmt.Errorf("creating a dynamic client: %w", err)
		}
		return dynamicinformer.NewFilteredDynamicInformer(client, resource, key.namespace, resyncCheck, indexers(), tweak).Informer(), nil
	}
	return newSource[*unstructured.Unstructured](kind(resource), qualifiers, build)
}

func newSource[T Object](kind any, qualifiers []Qualifier,
	build func(context.Context, sourceKey, func(*metav1.ListOptions)) (cache.SharedIndexInformer, error),
) Source[T] {
	s := &source{name: reflect.TypeFor[T]().String(), key: sourceKey{kind: kind}, build: build}
	s.name = s.name[strings.LastIndex(s.name, ".")+1:]
	if build != nil {
		s.transform = DropManagedFields
	}
	for _, qualify := range qualifiers {
		qualify(s)
	}
	return Source[T]{s}
}

// resyncCheck is the interval at which an informer looks for observers with a Resync. An informer without it would ignore them.
const resyncCheck = time.Second

func indexers() cache.Indexers {
	return cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
}

// tweak sets the selectors of a request.
func (k sourceKey) tweak(options *metav1.ListOptions) {
	options.LabelSelector, options.FieldSelector = k.labels, k.fields
}

// in returns the key with the namespace that the process is limited to, unless it has one or the objects have none.
func (k sourceKey) in(ctx context.Context) sourceKey {
	if k.namespace == "" && !k.isClusterScoped {
		k.namespace = injection.GetNamespaceScope(ctx)
	}
	return k
}

// Qualifier limits a source, or determines how its objects are cached.
type Qualifier func(*source)

// InNamespace limits a source to the objects of a namespace.
func InNamespace(namespace string) Qualifier {
	return func(s *source) { s.key.namespace = namespace }
}

// ClusterScoped declares that the objects have no namespace, so that a process which is limited to one namespace observes them, too.
func ClusterScoped(s *source) { s.key.isClusterScoped = true }

// Named limits a source to one object.
func Named(namespace, name string) Qualifier {
	return func(s *source) {
		InNamespace(namespace)(s)
		Fields(fields.OneTermEqualSelector(metav1.ObjectNameField, name).String())(s)
	}
}

// Labels limits a source to the objects that a label selector selects, in kubectl's syntax.
func Labels(selector string) Qualifier {
	return func(s *source) {
		parsed, err := labels.Parse(selector)
		if err != nil {
			s.err = errors.Join(s.err, fmt.Errorf("Labels(%q): %w", selector, err))
			return
		}
		s.key.labels = parsed.String()
	}
}

// Fields limits a source to the objects that a field selector selects.
func Fields(selector string) Qualifier {
	return func(s *source) {
		parsed, err := fields.ParseSelector(selector)
		if err != nil {
			s.err = errors.Join(s.err, fmt.Errorf("Fields(%q): %w", selector, err))
			return
		}
		s.key.fields = parsed.String()
	}
}

// Transform changes each object before it is cached, possibly more than once. By default managedFields are removed. An object for which it returns
// an error is cached as it is. Sources that share a watch must have the same one.
func Transform(f cache.TransformFunc) Qualifier {
	return func(s *source) { s.transform = f }
}

// DropManagedFields is the transform of Selected, Metadata and Unstructured without one. Managed fields are often the larger part of an object.
func DropManagedFields(obj any) (any, error) {
	if object, ok := obj.(metav1.Object); ok {
		object.SetManagedFields(nil)
	}
	return obj, nil
}

// identity distinguishes function values. The closures of a function have the same code, but each has its own value.
func identity[F any](f F) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&f)) //nolint:gosec // A function value is a pointer, which Go itself compares with nil alone.
}

// Lister reads the cache of a source. The objects are shared with it, so they must not be changed.
type Lister[T Object] struct{ list func() []any }

// Lister returns a Lister of the source, for handlers. A source that injection does not run has no objects while nothing observes it. ctx is the
// context of the process or of one of its controllers; with another one, Lister panics.
func (s Source[T]) Lister(ctx context.Context) Lister[T] {
	if s.injected != nil {
		return Lister[T]{s.injected(ctx).GetIndexer().List}
	}
	h, err := hubFrom(ctx)
	if err != nil {
		panic(fmt.Sprintf("listing %s: %v", s.name, err))
	}
	return Lister[T]{func() []any {
		h.mu.Lock()
		defer h.mu.Unlock()
		if informer, ok := h.informers[s.key.in(h.ctx)]; ok {
			return informer.GetIndexer().List()
		}
		return nil
	}}
}

// List returns the objects of the cache.
func (l Lister[T]) List() (found []T) {
	for _, object := range l.list() {
		if t, ok := object.(T); ok {
			found = append(found, t)
		}
	}
	return found
}
