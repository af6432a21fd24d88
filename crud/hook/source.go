/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/observe"
)

// stopTimeout bounds how long the end of a term waits for notifications under way.
const stopTimeout = time.Second

// start subscribes to the sources of the binding, unless that was done. ctx is that of the process.
func (m *monitor) start(ctx context.Context, client *crud.Client) error {
	mapping, err := client.Resource(crud.Ref{APIVersion: m.APIVersion, Kind: m.Kind})
	if err != nil {
		return fmt.Errorf("finding the kind: %w", err)
	}
	if m.Namespace != nil && mapping.Scope != meta.RESTScopeNamespace {
		return fmt.Errorf("objects of kind %s have no namespace: leave out namespace", mapping.GroupVersionKind.Kind)
	}
	if m.Namespace != nil && m.Namespace.LabelSelector != nil {
		return m.startNamespaces(ctx, mapping)
	}
	namespaces := []string{metav1.NamespaceAll}
	if m.Namespace != nil && m.Namespace.NameSelector != nil {
		namespaces = m.Namespace.NameSelector.MatchNames
	}
	for _, namespace := range namespaces {
		if err := m.subscribe(ctx, mapping, namespace); err != nil {
			return err
		}
	}
	return nil
}

// selectorOfNamespaces is the name of the subscription to namespaces.
var selectorOfNamespaces = cache.ObjectName{}

// startNamespaces subscribes to the objects of each namespace that has the labels, as long as it has them.
func (m *monitor) startNamespaces(ctx context.Context, mapping *meta.RESTMapping) error {
	selector, _ := metav1.LabelSelectorAsSelector(m.Namespace.LabelSelector) // checked
	namespaces := observe.Metadata(corev1.SchemeGroupVersion.WithResource("namespaces"), observe.Labels(selector.String()))
	return m.add(selectorOfNamespaces, func() (*observe.Subscription, error) {
		return observe.Subscribe(ctx, m.id()+" namespaces", namespaces, func(_ context.Context, e observe.Event[*metav1.PartialObjectMetadata]) error {
			if e.Type == observe.Deleted {
				m.leave(e.Object.Name)
				return nil
			}
			return m.subscribe(ctx, mapping, e.Object.Name)
		}, observe.Options[*metav1.PartialObjectMetadata]{Inline: true})
	})
}

func (m *monitor) subscribe(ctx context.Context, mapping *meta.RESTMapping, namespace string) error {
	labels, _ := metav1.LabelSelectorAsSelector(m.LabelSelector) // checked, as are the fields
	selected, _ := m.fields()
	names := []string{""}
	if m.NameSelector != nil {
		names = m.NameSelector.MatchNames
	}
	for _, name := range names {
		of := selected
		if name != "" {
			of = fields.AndSelectors(selected, fields.OneTermEqualSelector(metav1.ObjectNameField, name))
		}
		source := observe.Unstructured(mapping.Resource, observe.InNamespace(namespace), observe.Labels(labels.String()), observe.Fields(of.String()))
		if err := m.add(cache.ObjectName{Namespace: namespace, Name: "objects/" + name}, func() (*observe.Subscription, error) {
			return observe.Subscribe(ctx, m.id(), source, m.observed, observe.Options[*unstructured.Unstructured]{Inline: true})
		}); err != nil {
			return err
		}
	}
	return nil
}

// add keeps a subscription, which is made unless there is one with this name.
func (m *monitor) add(name cache.ObjectName, subscribe func() (*observe.Subscription, error)) error {
	m.mu.Lock()
	_, ok := m.sources[name]
	m.mu.Unlock()
	if ok {
		return nil
	}
	subscription, err := subscribe()
	if err != nil {
		return fmt.Errorf("observing its objects: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sources[name] = subscription
	return nil
}

func (m *monitor) id() string { return "hook " + m.hook.name + " " + m.Name }

// leave forgets the objects of a namespace that has not the labels any more. For the hook that is no event.
func (m *monitor) leave(namespace string) {
	_ = m.stop(func(name cache.ObjectName) bool { return name.Namespace == namespace })
	m.mu.Lock()
	defer m.mu.Unlock()
	for name := range m.objects {
		if name.Namespace == namespace {
			delete(m.objects, name)
		}
	}
}

func (m *monitor) stop(matches func(cache.ObjectName) bool) error {
	m.mu.Lock()
	var stopping []*observe.Subscription
	for name, subscription := range m.sources {
		if matches(name) {
			stopping = append(stopping, subscription)
			delete(m.sources, name)
		}
	}
	m.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	var errs []error
	for _, subscription := range stopping {
		errs = append(errs, subscription.Stop(ctx))
	}
	return errors.Join(errs...)
}

// hasSynced reports whether the monitor has received the objects that existed when it started.
func (m *monitor) hasSynced() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, subscription := range m.sources {
		if !subscription.HasSynced() {
			return false
		}
	}
	return true
}
