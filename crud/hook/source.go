/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/observe"
)

// stopTimeout bounds the wait for notifications under way.
const stopTimeout = time.Second

// source is a subscription of a binding, which ends with the term.
type source struct {
	*observe.Subscription

	stop func()
}

// start subscribes to the sources of the binding until ctx ends, unless that was done.
func (m *monitor) start(ctx context.Context, client *crud.Client) error {
	mapping, err := client.Resource(crud.Ref{APIVersion: m.APIVersion, Kind: m.Kind})
	if err != nil {
		return fmt.Errorf("finding the kind: %w", err)
	}
	namespaces := []string{metav1.NamespaceAll}
	switch {
	case m.Namespace == nil:
	case mapping.Scope != meta.RESTScopeNamespace:
		return fmt.Errorf("objects of kind %s have no namespace: leave out namespace", mapping.GroupVersionKind.Kind)
	case m.Namespace.LabelSelector != nil:
		selector, _ := metav1.LabelSelectorAsSelector(m.Namespace.LabelSelector) // checked
		labelled := observe.Metadata(corev1.SchemeGroupVersion.WithResource("namespaces"), observe.ClusterScoped, observe.Labels(selector.String()))
		return subscribe(ctx, m, cache.ObjectName{Name: "namespaces"}, labelled, func(_ context.Context, e observe.Event[*metav1.PartialObjectMetadata]) error {
			if e.Type == observe.Deleted {
				m.leave(e.Object.Name)
				return nil
			}
			return m.enter(ctx, mapping, e.Object.Name)
		})
	case m.Namespace.NameSelector != nil:
		namespaces = m.Namespace.NameSelector.MatchNames
	}
	for _, namespace := range namespaces {
		if err := m.enter(ctx, mapping, namespace); err != nil {
			return err
		}
	}
	return nil
}

// enter subscribes to the objects of a namespace.
func (m *monitor) enter(ctx context.Context, mapping *meta.RESTMapping, namespace string) error {
	labels, _ := metav1.LabelSelectorAsSelector(m.LabelSelector) // checked
	scope, names := observe.InNamespace(namespace), []string{""}
	if mapping.Scope == meta.RESTScopeRoot {
		scope = observe.ClusterScoped
	}
	if m.NameSelector != nil {
		names = m.NameSelector.MatchNames
	}
	for _, name := range names {
		of := m.fields()
		if name != "" {
			of = fields.AndSelectors(of, fields.OneTermEqualSelector(metav1.ObjectNameField, name))
		}
		objects := observe.Unstructured(mapping.Resource, scope, observe.Labels(labels.String()), observe.Fields(of.String()))
		if err := subscribe(ctx, m, cache.ObjectName{Namespace: namespace, Name: "objects/" + name}, objects, m.observed); err != nil {
			return err
		}
	}
	return nil
}

// subscribe adds a source, unless there is one with this name.
func subscribe[T observe.Object](ctx context.Context, m *monitor, name cache.ObjectName, of observe.Source[T], handler observe.Handler[T]) error {
	m.mu.Lock()
	_, ok := m.sources[name]
	m.mu.Unlock()
	if ok {
		return nil
	}
	subscription, err := observe.Subscribe(ctx, "hook "+m.hook.name+" "+m.Name, of, handler, observe.Options[T]{Inline: true})
	if err != nil {
		return fmt.Errorf("observing its objects: %w", err)
	}
	stop := sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		if err := subscription.Stop(ctx); err != nil {
			m.logger.Warnw("Ending an observer of a binding failed", "error", err)
		}
	})
	unregister := context.AfterFunc(ctx, stop)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sources[name] = source{subscription, func() { unregister(); stop() }}
	return nil
}

// leave forgets the objects of a namespace that has not the labels any more. For the hook that is no event.
func (m *monitor) leave(namespace string) {
	m.mu.Lock()
	left := maps.Clone(m.sources)
	maps.DeleteFunc(left, func(name cache.ObjectName, _ source) bool { return name.Namespace != namespace })
	m.mu.Unlock()
	for _, of := range left {
		of.stop()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.sources, func(name cache.ObjectName, _ source) bool { return name.Namespace == namespace })
	maps.DeleteFunc(m.objects, func(name cache.ObjectName, _ *object) bool { return name.Namespace == namespace })
}

// hasSynced reports whether the monitor has received the objects that existed when it started.
func (m *monitor) hasSynced() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, of := range m.sources {
		if !of.HasSynced() {
			return false
		}
	}
	return true
}
