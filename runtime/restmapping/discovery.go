/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restmapping

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/discovery"
)

const (
	// firstRetry and recheck bound the time until a failed discovery is repeated. recheck is also the time until a discovery is
	// confirmed by which a kind is not served.
	firstRetry, recheck = time.Second, 30 * time.Second

	// refresh is the interval at which all kinds are discovered in any case.
	refresh = 10 * time.Minute

	// discoveryLags is for how long after the deletion of a CRD discovery is not trusted: it lists the kind for a few seconds more.
	discoveryLags = time.Minute
)

// document is the result of a discovery, without the kinds that CRDs define.
type document struct {
	served map[schema.GroupVersionKind]Served
	failed map[schema.GroupVersion]error
	// err is set if no discovery has succeeded yet.
	err error
}

// errorOf returns the error because of which it is not known whether a group version is served.
func (d *document) errorOf(gv schema.GroupVersion) error {
	return cmp.Or(d.err, d.failed[gv]) //nolint:wrapcheck // Map does
}

// run discovers the kinds until the context ends.
func (m *Mapper) run() {
	retry := firstRetry
	for m.ctx.Err() == nil {
		wait := retry
		retry = min(2*retry, recheck)
		if m.discover() {
			wait, retry = refresh, firstRetry
		}
		due := m.clock.Now().Add(wait)
		m.sleep(wait, m.doubted)
		m.sleep(min(due.Sub(m.clock.Now()), recheck), nil)
	}
}

func (m *Mapper) sleep(wait time.Duration, early <-chan struct{}) {
	if wait <= 0 {
		return
	}
	timer := m.clock.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-m.ctx.Done():
	case <-timer.C():
	case <-early:
	}
}

// discover replaces the document and reports what changed. It returns false if it failed, or if a caller still has no answer.
func (m *Mapper) discover() bool {
	started := m.clock.Now()
	_, lists, err := m.discovery.ServerGroupsAndResources()

	m.mu.Lock()
	before, after := m.known, m.read(started, lists, err)
	if after.err == nil || before.err != nil {
		m.known = after
	}
	changed := m.changes(before)
	isDone := after.err == nil && len(m.unanswered) == 0
	select {
	case <-m.doubted: // answered by this discovery
	default:
	}
	m.mu.Unlock()

	if len(changed) > 0 && m.ctx.Err() == nil {
		m.changed(changed)
	}
	return isDone
}

// read returns the document of a discovery. While an aggregated API server does not answer, its kinds stay as they were. m.mu is held.
func (m *Mapper) read(started time.Time, lists []*metav1.APIResourceList, err error) document {
	failed, isPartial := discovery.GroupDiscoveryFailedErrorGroups(err)
	if err != nil && !isPartial {
		return document{err: err}
	}
	if !slices.ContainsFunc(lists, func(list *metav1.APIResourceList) bool { return list.GroupVersion == "v1" }) {
		// The client takes a 404 of the core group for an empty one.
		return document{err: errors.New("the API server's answer lacks the core group")}
	}
	maps.DeleteFunc(m.undefined, func(_ schema.GroupKind, deleted time.Time) bool { return started.Sub(deleted) >= discoveryLags })
	served := make(map[schema.GroupVersionKind]Served)
	maps.Copy(served, m.known.served)
	maps.DeleteFunc(served, func(gvk schema.GroupVersionKind, _ Served) bool { return failed[gvk.GroupVersion()] == nil })
	for _, list := range lists {
		for _, r := range list.APIResources {
			gvk := schema.FromAPIVersionAndKind(list.GroupVersion, r.Kind)
			// Those with a slash are subresources.
			if _, undefined := m.undefined[gvk.GroupKind()]; !undefined && !strings.Contains(r.Name, "/") && len(m.defining(gvk.GroupKind())) == 0 {
				served[gvk] = Served{Resource: gvk.GroupVersion().WithResource(r.Name), Namespaced: r.Namespaced, BuiltIn: isBuiltIn(gvk.Group)}
			}
		}
	}
	return document{served: served, failed: failed}
}

// changes returns the group versions for which the answer is another one than before. m.mu is held.
func (m *Mapper) changes(before document) sets.Set[schema.GroupVersion] {
	changed := sets.New[schema.GroupVersion]()
	for gv := range m.unanswered {
		was, is := before.errorOf(gv), m.known.errorOf(gv)
		if is == nil {
			m.unanswered.Delete(gv)
		}
		if is == nil || errors.Is(was, ErrNotKnown) || apierrors.ReasonForError(was) != apierrors.ReasonForError(is) {
			changed.Insert(gv)
		}
	}
	if before.err != nil {
		return changed
	}
	for _, documents := range [][2]document{{before, m.known}, {m.known, before}} {
		for gvk, was := range documents[0].served {
			if is := documents[1].served[gvk]; is.Resource != was.Resource || is.Namespaced != was.Namespaced {
				changed.Insert(gvk.GroupVersion())
			}
		}
	}
	return changed
}
