/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kinds

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/clock"
)

const (
	// firstRetry and recheck bound the time until a failed discovery is repeated. recheck is also the time until a discovery is
	// confirmed by which a kind is not served.
	firstRetry, recheck = time.Second, 30 * time.Second

	// refresh is how often all kinds are discovered anyway.
	refresh = 10 * time.Minute

	// discoveryLags is for how long after the deletion of a CRD discovery is not trusted: it lists the kind for a few seconds more.
	discoveryLags = time.Minute
)

var errNoCore = errors.New("the API server's answer lacks the core group")

// discoverer knows the kinds that no CRD defines: Kubernetes' own and those of aggregated API servers. It discovers the whole
// cluster at once, so that the number of its requests does not depend on the kinds that users name.
type discoverer struct {
	ctx       context.Context //nolint:containedctx // the lifetime of the background discovery, not of a call
	discovery discovery.ServerResourcesInterface
	isDefined func(schema.GroupKind) bool
	changed   func(sets.Set[schema.GroupVersion])
	clock     clock.Clock

	start sync.Once
	// doubted asks run for a discovery within recheck.
	doubted chan struct{}

	mu    sync.Mutex
	known document
	// unanswered are the group versions for which a caller got an error that is no answer.
	unanswered sets.Set[schema.GroupVersion]
	// undefined are the kinds whose CRD was deleted lately, and when.
	undefined map[schema.GroupKind]time.Time
}

// document is the result of a discovery, without the kinds that CRDs define.
type document struct {
	served map[schema.GroupVersionKind]resource
	failed map[schema.GroupVersion]error
	// err is set if no discovery has succeeded yet.
	err error
}

type resource struct {
	name       string
	namespaced bool
}

// errorOf returns the error because of which it is not known whether a group version is served.
func (d *document) errorOf(gv schema.GroupVersion) error {
	if d.err != nil {
		return d.err
	}
	return d.failed[gv]
}

func newDiscoverer(ctx context.Context, discovery discovery.ServerResourcesInterface, isDefined func(schema.GroupKind) bool,
	changed func(sets.Set[schema.GroupVersion]),
) *discoverer {
	return &discoverer{
		ctx:        ctx,
		discovery:  discovery,
		isDefined:  isDefined,
		changed:    changed,
		clock:      clock.RealClock{},
		doubted:    make(chan struct{}, 1),
		known:      document{err: ErrNotKnown},
		unanswered: sets.New[schema.GroupVersion](),
		undefined:  make(map[schema.GroupKind]time.Time),
	}
}

func (d *discoverer) discovered(gvk schema.GroupVersionKind) (Served, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if found, ok := d.known.served[gvk]; ok {
		return Served{Resource: gvk.GroupVersion().WithResource(found.name), Namespaced: found.namespaced, BuiltIn: isBuiltIn(gvk.Group)}, nil
	}
	d.start.Do(func() { go d.run() })
	select {
	case d.doubted <- struct{}{}:
	default:
	}
	if err := d.known.errorOf(gvk.GroupVersion()); err != nil {
		d.unanswered.Insert(gvk.GroupVersion())
		return Served{}, fmt.Errorf("discovering %s: %w", gvk.GroupVersion(), err)
	}
	return Served{}, &NotServedError{Kind: gvk}
}

// alike returns the kinds whose name differs in case at most.
func (d *discoverer) alike(kind string) []schema.GroupVersionKind {
	d.mu.Lock()
	defer d.mu.Unlock()
	var kinds []schema.GroupVersionKind
	for gvk := range d.known.served {
		if strings.EqualFold(gvk.Kind, kind) {
			kinds = append(kinds, gvk)
		}
	}
	return kinds
}

func (d *discoverer) undefine(gk schema.GroupKind) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.undefined[gk] = d.clock.Now()
	// A discovery may have seen the kind before the informer had its CRD.
	maps.DeleteFunc(d.known.served, func(gvk schema.GroupVersionKind, _ resource) bool { return gvk.GroupKind() == gk })
}

// run discovers the kinds until the context ends.
func (d *discoverer) run() {
	retry := firstRetry
	for d.ctx.Err() == nil {
		wait := refresh
		if d.discover() {
			retry = firstRetry
		} else {
			wait, retry = retry, min(2*retry, recheck)
		}
		due := d.clock.Now().Add(wait)
		d.sleep(wait, d.doubted)
		d.sleep(min(due.Sub(d.clock.Now()), recheck), nil)
	}
}

func (d *discoverer) sleep(wait time.Duration, early <-chan struct{}) {
	if wait <= 0 {
		return
	}
	timer := d.clock.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-d.ctx.Done():
	case <-timer.C():
	case <-early:
	}
}

// discover replaces the document and reports what changed. It returns false if it failed, or if a caller still has no answer.
func (d *discoverer) discover() bool {
	started := d.clock.Now()
	_, lists, err := d.discovery.ServerGroupsAndResources()

	d.mu.Lock()
	before, after := d.known, d.read(started, lists, err)
	switch {
	case after.err == nil:
		for gvk, r := range before.served {
			// While an aggregated API server does not answer, its kinds stay as they were.
			if after.failed[gvk.GroupVersion()] != nil {
				after.served[gvk] = r
			}
		}
		d.known = after
	case before.err != nil:
		d.known = after
	}
	changed := d.changes(before)
	isDone := after.err == nil && len(d.unanswered) == 0
	select {
	case <-d.doubted: // answered by this discovery
	default:
	}
	d.mu.Unlock()

	if len(changed) > 0 && d.ctx.Err() == nil {
		d.changed(changed)
	}
	return isDone
}

func (d *discoverer) read(started time.Time, lists []*metav1.APIResourceList, err error) document {
	failed, isPartial := discovery.GroupDiscoveryFailedErrorGroups(err)
	if err != nil && !isPartial {
		return document{err: err}
	}
	if !slices.ContainsFunc(lists, func(list *metav1.APIResourceList) bool { return list.GroupVersion == "v1" }) {
		// The client takes a 404 of the core group for an empty one.
		return document{err: errNoCore}
	}
	maps.DeleteFunc(d.undefined, func(_ schema.GroupKind, deleted time.Time) bool { return started.Sub(deleted) >= discoveryLags })
	served := make(map[schema.GroupVersionKind]resource)
	for _, list := range lists {
		for _, r := range list.APIResources {
			gvk := schema.FromAPIVersionAndKind(list.GroupVersion, r.Kind)
			// Those with a slash are subresources.
			if _, undefined := d.undefined[gvk.GroupKind()]; !undefined && !strings.Contains(r.Name, "/") && !d.isDefined(gvk.GroupKind()) {
				served[gvk] = resource{name: r.Name, namespaced: r.Namespaced}
			}
		}
	}
	return document{served: served, failed: failed}
}

// changes returns the group versions for which the answer is another one than before.
func (d *discoverer) changes(before document) sets.Set[schema.GroupVersion] {
	changed := sets.New[schema.GroupVersion]()
	for gv := range d.unanswered {
		was, is := before.errorOf(gv), d.known.errorOf(gv)
		if is == nil {
			d.unanswered.Delete(gv)
		}
		if is == nil || errors.Is(was, ErrNotKnown) || apierrors.ReasonForError(was) != apierrors.ReasonForError(is) {
			changed.Insert(gv)
		}
	}
	if before.err != nil {
		return changed
	}
	for _, documents := range [][2]document{{before, d.known}, {d.known, before}} {
		for gvk, r := range documents[0].served {
			if documents[1].served[gvk] != r {
				changed.Insert(gvk.GroupVersion())
			}
		}
	}
	return changed
}
