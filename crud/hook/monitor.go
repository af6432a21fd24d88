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

	"go.uber.org/zap"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/mallard-dev/mallard/crud/internal/child"
	"github.com/mallard-dev/mallard/observe"
)

// monitor has the objects of a kubernetes binding, and the state of each that the hook has received. An event is the difference of both, so that an
// object has at most one event, whatever the rate of its changes.
type monitor struct {
	*Kubernetes

	hook   *Hook
	logger *zap.SugaredLogger
	// changed is called, with the lock, for an object with a change that the hook has not received.
	changed func(cache.ObjectName)

	mu      sync.Mutex
	objects map[cache.ObjectName]*object
	// enabled reports whether the hook has run for the Synchronization.
	enabled bool
	// sources are by namespace and name. The selector of namespaces is one, too.
	sources map[cache.ObjectName]source
}

func newMonitor(ctx context.Context, h *Hook, k *Kubernetes) *monitor {
	return &monitor{
		Kubernetes: k, hook: h, logger: loggerOf(ctx, h, k.Name, k.Queue),
		objects: map[cache.ObjectName]*object{}, sources: map[cache.ObjectName]source{},
	}
}

// object is the state of an object, and the one that the hook has received, nil if it does not exist.
type object struct {
	now, received *state
	// versions are those since the hook received a state. The empty version stands for the state before many versions.
	versions []string
}

const mostVersions = 64

type state struct {
	*unstructured.Unstructured

	filtered json.RawMessage
}

func (o *object) event(hasFilter bool) (WatchEvent, *state) {
	switch {
	case o.received == nil && o.now == nil:
		return "", nil
	case o.received == nil:
		return Added, o.now
	case o.now == nil || o.now.GetUID() != o.received.GetUID():
		return Deleted, o.received
	case hasFilter && bytes.Equal(o.now.filtered, o.received.filtered), o.now.GetResourceVersion() == o.received.GetResourceVersion():
		return "", nil
	}
	return Modified, o.now
}

func (m *monitor) observed(ctx context.Context, e observe.Event[*unstructured.Unstructured]) error {
	s := &state{Unstructured: e.Object, filtered: m.filterResult(ctx, e.Object)}
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.objects[e.Name]
	if o == nil {
		o = &object{}
		m.objects[e.Name] = o
	}
	if e.Type == observe.Deleted {
		if o.received != nil && o.received.GetUID() == s.GetUID() {
			o.received = s
		}
		o.now = nil
	} else {
		o.now = s
		if len(o.versions) == mostVersions {
			o.versions = []string{""}
		}
		o.versions = append(o.versions, versionOf(s))
	}
	m.announce(e.Name, o)
	return nil
}

// announce reports that the hook has to receive a change. It is called with the lock.
func (m *monitor) announce(name cache.ObjectName, o *object) {
	switch event, _ := o.event(m.JQFilter != ""); {
	case o.now == nil && o.received == nil:
		delete(m.objects, name)
	case event != "" && m.enabled:
		m.changed(name)
	}
}

// undelivered returns the event of an object, or "" without one: also if the hook itself wrote all changes, or deleted the object, or does not
// subscribe to the event.
func (m *monitor) undelivered(name cache.ObjectName, isOwn func(version string) bool) (WatchEvent, *state) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.objects[name]
	for o != nil {
		event, s := o.event(m.JQFilter != "")
		if event == "" || (m.ExecuteHookOnEvent == nil || slices.Contains(m.ExecuteHookOnEvent, event)) && !o.isOwn(event, s, isOwn) {
			return event, s
		}
		o.deliver(event, s)
	}
	return "", nil
}

// deliver notes that the hook has received an event.
func (o *object) deliver(event WatchEvent, s *state) {
	o.received = s
	if event == Deleted {
		o.received = nil
		return
	}
	o.versions = slices.Clone(o.versions[slices.Index(o.versions, versionOf(s))+1:])
}

// deliver notes that the hook has received an event.
func (m *monitor) deliver(name cache.ObjectName, event WatchEvent, s *state) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if o := m.objects[name]; o != nil {
		o.deliver(event, s)
		m.announce(name, o)
	}
}

// enable notes that the hook has received objects in a state, and begins to deliver events.
func (m *monitor) enable(received []*state) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.enabled = true
	for _, s := range received {
		name := cache.MetaObjectToName(s)
		if m.objects[name] == nil {
			m.objects[name] = &object{} // deleted since
		}
		m.objects[name].deliver(Added, s)
	}
	for name, o := range m.objects {
		m.announce(name, o)
	}
}

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

// keyOf identifies an object among those of all bindings of the hook.
func (m *monitor) keyOf(name cache.ObjectName) string { return m.Name + " " + name.String() }

// addReceived adds the states that the hook has received, unless the map has one of the object. If the filter ignores how it differs from the present
// state, it adds the present one, which the Synchronization of the next process would deliver.
func (m *monitor) addReceived(all map[string]string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.enabled {
		return
	}
	all[m.Name] = ""
	for name, o := range m.objects {
		s := o.received
		if event, _ := o.event(m.JQFilter != ""); event == "" {
			s = o.now
		}
		if _, ok := all[m.keyOf(name)]; !ok && s != nil {
			all[m.keyOf(name)] = versionOf(s)
		}
	}
}

// now returns the present state of an object, or nil if it does not exist.
func (m *monitor) now(name cache.ObjectName) *state {
	m.mu.Lock()
	defer m.mu.Unlock()
	if o := m.objects[name]; o != nil {
		return o.now
	}
	return nil
}

// snapshots returns the parts of states that binding contexts have.
func (m *monitor) snapshots(states ...*state) []Snapshot {
	all := make([]Snapshot, len(states))
	for i, s := range states {
		if all[i].FilterResult = s.filtered; ptr.Deref(m.KeepFullObjectsInMemory, true) {
			all[i].Object = s.Unstructured
		}
	}
	return all
}

// include adds the objects of a monitor to the snapshots.
func (c *Context) include(m *monitor, states []*state) {
	if c.Snapshots == nil {
		c.Snapshots = map[string][]Snapshot{}
	}
	c.Snapshots[m.Name] = m.snapshots(states...)
}

// filterResult returns the result of the filter as JSON: null for none, and a list for several. It is null for an object for which it fails.
func (m *monitor) filterResult(ctx context.Context, u *unstructured.Unstructured) json.RawMessage {
	if m.JQFilter == "" {
		return nil
	}
	results, err := child.Run(ctx, m.JQFilter, u.Object)
	if err != nil && ctx.Err() == nil {
		// It has no values of the object.
		m.logger.Errorw("The filter of a binding failed", "field", "jqFilter", "object", cache.MetaObjectToName(u).String(), "error", err)
	}
	if len(results) == 1 {
		return results[0]
	}
	list, _ := json.Marshal(results) //nolint:errchkjson // they are JSON, and nil is null
	return list
}

func versionOf(object metav1.Object) string {
	return string(object.GetUID()) + "/" + object.GetResourceVersion()
}

// deletionOf identifies the end of an object among its states.
func deletionOf(uid types.UID) string { return string(uid) + "/deleted" }

// isOwn reports whether a version, or a deletion, is of an operation of the hook, and the hook ignores those.
func (h *Hook) isOwn(version string) bool {
	_, ok := h.own.Get(version)
	return ok && !h.bindings.Settings.RunOnOwnWrites
}

// isOwn reports whether an event is of changes by the hook alone. The version with which its deletion of the object begins is not known.
func (o *object) isOwn(event WatchEvent, s *state, isOwn func(version string) bool) bool {
	deletes := isOwn(deletionOf(s.GetUID()))
	others := slices.DeleteFunc(slices.Clone(o.versions), isOwn)
	switch {
	case event == Deleted:
		return deletes
	case event == Modified && deletes && o.received.GetDeletionTimestamp() == nil && s.GetDeletionTimestamp() != nil:
		return len(others) <= 1
	}
	return len(o.versions) > 0 && len(others) == 0
}
