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
	*source

	// build makes the informer. It is nil for a source that injection runs.
	build func(ctx context.Context, key sourceKey) (cache.SharedIndexInformer, error)
	// injected returns the informer that injection runs, or what else delivers its notifications.
	injected func(context.Context) notifier
}

// source is the part of a Source that does not depend on the type of its objects.
type source struct {
	// name is that of the type of the objects, for metrics and logs.
	name      string
	key       sourceKey
	transform cache.TransformFunc
	indexers  cache.Indexers
	// err is the first mistake in the qualifiers.
	err error
}

// sourceKey identifies the list and watch of a source.
type sourceKey struct {
	// kind is the constructor of the informer, or the resource.
	kind                      any
	namespace, labels, fields string
}

// notifier delivers the notifications of a source.
type notifier interface {
	AddEventHandlerWithOptions(handler cache.ResourceEventHandler, options cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error)
}

// Injected is the informer that injection runs for a generated informer package. It costs no watch of its own. Of the qualifiers it accepts Index
// and Transform. Without a Transform, the objects are cached as the API server sends them.
func Injected[T Object, I interface {
	Informer() cache.SharedIndexInformer
}](get func(context.Context) I, qualifiers ...Qualifier) Source[T] {
	s := newSource[T](nil, qualifiers, nil)
	if s.key != (sourceKey{}) {
		s.err = errors.Join(s.err, errors.New("Injected: the informer that injection runs cannot be limited; use Selected"))
	}
	s.injected = func(ctx context.Context) notifier { return get(ctx).Informer() }
	return s
}

// Duck is the notifications of objects of several kinds, which are read as one Go type. It is for Wire, and not for observers. name is a label
// of metrics.
func Duck[T Object](name string, ducks notifier) Source[T] {
	s := newSource[T](nil, nil, nil)
	s.name, s.injected = name, func(context.Context) notifier { return ducks }
	return s
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
	s := &source{name: reflect.TypeFor[T]().String(), key: sourceKey{kind: kind}, indexers: cache.Indexers{}}
	s.name = s.name[strings.LastIndex(s.name, ".")+1:]
	for _, qualify := range qualifiers {
		qualify(s)
	}
	return Source[T]{source: s, build: build}
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

// Qualifier limits a source, or determines how its objects are cached.
type Qualifier func(*source)

// InNamespace limits a source to the objects of a namespace.
func InNamespace(namespace string) Qualifier {
	return func(s *source) { s.key.namespace = namespace }
}

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

// addIndexes adds the indexes of a source to an informer. Several observers may name the source. It is called with the hub's lock.
func (s *source) addIndexes(h *hub, informer cache.SharedIndexInformer) error {
	for name, values := range s.indexers {
		index := indexOf{informer, name}
		if h.indexes[index] == s {
			continue
		}
		if err := informer.AddIndexers(cache.Indexers{name: values}); err != nil {
			return fmt.Errorf("adding index %q of %s: %w", name, s.name, err)
		}
		h.indexes[index] = s
	}
	return nil
}

// setUp returns the informer that injection runs, with the indexes and the transform of the source.
func (s Source[T]) setUp(ctx context.Context, h *hub) (notifier, error) {
	if s.err != nil {
		return nil, s.err
	}
	found := s.injected(ctx)
	informer, ok := found.(cache.SharedIndexInformer)
	if !ok {
		return found, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.transform != nil {
		if err := informer.SetTransform(reporting(h.ctx, s.name, s.transform)); err != nil {
			return nil, fmt.Errorf("setting the transform of %s: %w", s.name, err)
		}
	}
	return informer, s.addIndexes(h, informer)
}
