/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/itchyny/gojq"
	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"github.com/mallard-dev/mallard/observe"
)

// monitor has the objects of a kubernetes binding, and what the hook has been told of each. An event is the difference of both, so that an
// object has at most one event, whatever the rate of its changes.
type monitor struct {
	*Kubernetes

	hook   *Hook
	filter *gojq.Code
	logger *zap.SugaredLogger
	// changed is called, with the lock, for an object of which the hook has not been told.
	changed func(cache.ObjectName)

	mu      sync.Mutex
	objects map[cache.ObjectName]*object
	// enabled is whether the hook has run for the Synchronization.
	enabled bool
	// sources are the subscriptions by namespace and name. Of the selector of namespaces there is one, too.
	sources map[cache.ObjectName]*observe.Subscription
}

// object is what is known of an object, and what the hook has been told, nil if it does not exist.
type object struct {
	now, told *state
	// versions are those since the hook was told. What was before many is the empty one.
	versions []string
}

// mostVersions bounds object.versions.
const mostVersions = 64

type state struct {
	*unstructured.Unstructured

	filtered json.RawMessage
}

func (s *state) version() string { return versionOf(s.Unstructured) }

// versionOf identifies a state of an object.
func versionOf(u *unstructured.Unstructured) string {
	return string(u.GetUID()) + "/" + u.GetResourceVersion()
}

// event returns of what the hook has not been told, if there is something.
func (o *object) event(hasFilter bool) (WatchEvent, *state) {
	switch {
	case o.told == nil && o.now == nil:
		return "", nil
	case o.told == nil:
		return Added, o.now
	case o.now == nil || o.now.GetUID() != o.told.GetUID():
		return Deleted, o.told
	case hasFilter && bytes.Equal(o.now.filtered, o.told.filtered), o.now.GetResourceVersion() == o.told.GetResourceVersion():
		return "", nil
	}
	return Modified, o.now
}

// observed takes an event of a source.
func (m *monitor) observed(_ context.Context, e observe.Event[*unstructured.Unstructured]) error {
	s := &state{Unstructured: e.Object, filtered: m.filterResult(e.Object)}
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.objects[e.Name]
	if o == nil {
		o = &object{}
		m.objects[e.Name] = o
	}
	if e.Type == observe.Deleted {
		if o.told != nil && o.told.GetUID() == s.GetUID() {
			o.told = s
		}
		o.now = nil
	} else {
		o.now = s
		if len(o.versions) == mostVersions {
			o.versions = []string{""}
		}
		o.versions = append(o.versions, s.version())
	}
	m.announce(e.Name, o)
	return nil
}

// announce has the hook told of an object. It is called with the lock.
func (m *monitor) announce(name cache.ObjectName, o *object) {
	switch event, _ := o.event(m.filter != nil); {
	case o.now == nil && o.told == nil:
		delete(m.objects, name)
	case event != "" && m.enabled:
		m.changed(name)
	}
}

// untold returns the event of an object, or "" if there is nothing to tell: also because the hook itself wrote all changes, or does not want
// the event.
func (m *monitor) untold(name cache.ObjectName, isOwn func(version string) bool) (WatchEvent, *state) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.objects[name]
	for o != nil {
		event, s := o.event(m.filter != nil)
		own := event != Deleted && len(o.versions) > 0 && !slices.ContainsFunc(o.versions, func(version string) bool { return !isOwn(version) })
		if event == "" || m.runsOn(event) && !own {
			return event, s
		}
		o.tell(event, s)
	}
	return "", nil
}

// tell notes that the hook has been told of an event.
func (o *object) tell(event WatchEvent, s *state) {
	o.told = s
	if event == Deleted {
		o.told = nil
		return
	}
	o.versions = slices.Clone(o.versions[slices.Index(o.versions, s.version())+1:])
}

// tell notes that the hook has been told of an event.
func (m *monitor) tell(name cache.ObjectName, event WatchEvent, s *state) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if o := m.objects[name]; o != nil {
		o.tell(event, s)
		m.announce(name, o)
	}
}

// enable notes that the hook has been told of all objects in a state, and begins to tell of events.
func (m *monitor) enable(told []*state) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.enabled = true
	for _, s := range told {
		name := cache.MetaObjectToName(s)
		if m.objects[name] == nil {
			m.objects[name] = &object{} // deleted since
		}
		m.objects[name].tell(Added, s)
	}
	for name, o := range m.objects {
		m.announce(name, o)
	}
}

// states returns the objects in the order of their names.
func (m *monitor) states() (all []*state) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, o := range m.objects {
		if o.now != nil {
			all = append(all, o.now)
		}
	}
	slices.SortFunc(all, func(a, b *state) int {
		return strings.Compare(cache.MetaObjectToName(a).String(), cache.MetaObjectToName(b).String())
	})
	return all
}

// isAt reports whether the cache has an object in a version, and not in a later one.
func (m *monitor) isAt(name cache.ObjectName, resourceVersion string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.objects[name]
	return o != nil && o.now != nil && o.now.GetResourceVersion() == resourceVersion
}

// snapshot returns what a binding context has of a state.
func (m *monitor) snapshot(s *state) Snapshot {
	snapshot := Snapshot{Object: s.Unstructured, FilterResult: s.filtered}
	if m.KeepFullObjectsInMemory != nil && !*m.KeepFullObjectsInMemory {
		snapshot.Object = nil
	}
	return snapshot
}

func (m *monitor) snapshots(states []*state) []Snapshot {
	all := make([]Snapshot, len(states))
	for i, s := range states {
		all[i] = m.snapshot(s)
	}
	return all
}
