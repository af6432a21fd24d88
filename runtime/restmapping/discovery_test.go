/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restmapping

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
)

var (
	deployment = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	goose      = schema.GroupVersionKind{Group: "aggregated.example.com", Version: "v1", Kind: "Goose"}
)

// fakeClock counts the timers that were created.
type fakeClock struct {
	*clocktesting.FakeClock

	timers atomic.Int64
}

func (c *fakeClock) NewTimer(d time.Duration) clock.Timer {
	defer c.timers.Add(1)
	return c.FakeClock.NewTimer(d)
}

// fakeCluster answers discovery. Its fields may be changed with mu held.
type fakeCluster struct {
	discovery.ServerResourcesInterface

	mu       sync.Mutex
	lists    []*metav1.APIResourceList
	err      error
	hold     chan struct{}
	requests int
	changed  []sets.Set[schema.GroupVersion]
}

func (c *fakeCluster) ServerGroupsAndResources() ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	c.mu.Lock()
	c.requests++
	hold := c.hold
	c.mu.Unlock()
	if hold != nil {
		<-hold
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return nil, c.lists, c.err
}

func (c *fakeCluster) set(err error, lists ...*metav1.APIResourceList) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err, c.lists = err, lists
}

func (c *fakeCluster) count() (requests, changes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.requests, len(c.changed)
}

// reported returns the group versions that were reported as changed since the last call.
func (c *fakeCluster) reported() sets.Set[schema.GroupVersion] {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := sets.New[schema.GroupVersion]()
	for _, gvs := range c.changed {
		all = all.Union(gvs)
	}
	c.changed = nil
	return all
}

func serves(gvk schema.GroupVersionKind, resource string) *metav1.APIResourceList {
	return &metav1.APIResourceList{
		GroupVersion: gvk.GroupVersion().String(), APIResources: []metav1.APIResource{{Name: resource, Kind: gvk.Kind, Namespaced: true}},
	}
}

var (
	core        = &metav1.APIResourceList{GroupVersion: "v1"}
	deployments = serves(deployment, "deployments")
	geese       = serves(goose, "geese")
)

func newDiscovering(t *testing.T, cluster *fakeCluster) (*Mapper, *fakeClock) {
	t.Helper()
	crds := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	mapper, err := NewMapper(t.Context(), crds, cluster, func(gvs sets.Set[schema.GroupVersion]) {
		cluster.mu.Lock()
		defer cluster.mu.Unlock()
		cluster.changed = append(cluster.changed, gvs)
	})
	if err != nil {
		t.Fatal(err)
	}
	clock := &fakeClock{FakeClock: clocktesting.NewFakeClock(time.Unix(1000, 0))}
	mapper.clock = clock
	return mapper, clock
}

// requestsWithin lets time pass in small steps, each once discovery waits for it, and returns how many requests that took.
func requestsWithin(t *testing.T, clock *fakeClock, cluster *fakeCluster, d time.Duration) int {
	t.Helper()
	before, _ := cluster.count()
	for range int(d / time.Second) {
		eventually(t, "the next discovery is waited for", clock.HasWaiters)
		clock.Step(time.Second)
	}
	eventually(t, "the next discovery is waited for", clock.HasWaiters)
	after, _ := cluster.count()
	return after - before
}

func isNotServed(err error) bool {
	_, ok := errors.AsType[*NotServedError](err)
	return ok
}

func TestFind_DiscoveryHangs_ReturnsAtOnce(t *testing.T) {
	cluster := &fakeCluster{lists: []*metav1.APIResourceList{core, deployments}, hold: make(chan struct{})}
	mapper, _ := newDiscovering(t, cluster)
	for range 1000 {
		if _, err := mapper.Map(deployment); !errors.Is(err, ErrNotKnown) {
			t.Fatalf("Map() = %v, want ErrNotKnown", err)
		}
	}
	close(cluster.hold)
	eventually(t, "the answer is reported", func() bool { return cluster.reported().Has(deployment.GroupVersion()) })
	if found, err := mapper.Map(deployment); err != nil || found.Resource.Resource != "deployments" {
		t.Errorf("Map() = %+v, %v", found, err)
	}
	if requests, _ := cluster.count(); requests != 1 {
		t.Errorf("%d requests, want one", requests)
	}
}

func TestFind_KindsNotServed_RequestsDoNotDependOnTheirNumber(t *testing.T) {
	cluster := &fakeCluster{lists: []*metav1.APIResourceList{core, deployments}}
	mapper, clock := newDiscovering(t, cluster)
	for range 3 {
		for i := range 1000 {
			invented := schema.GroupVersionKind{Group: fmt.Sprintf("g%d.example.com", i), Version: "v1", Kind: fmt.Sprintf("Invented%d", i)}
			if _, err := mustMap(t, mapper, invented); !isNotServed(err) {
				t.Fatalf("Map() = %v, want that it is not served", err)
			}
		}
		if got := requestsWithin(t, clock, cluster, 2*recheck); got > 1 {
			t.Errorf("%d requests in a minute for 1,000 kinds, want one that confirms them", got)
		}
	}
	if got := requestsWithin(t, clock, cluster, 5*time.Minute); got > 1 {
		t.Errorf("%d more requests, want that the last answers are confirmed once without queries", got)
	}
}

func TestFind_KindServedLater_IsReported(t *testing.T) {
	cluster := &fakeCluster{lists: []*metav1.APIResourceList{core, deployments}}
	mapper, clock := newDiscovering(t, cluster)
	if _, err := mustMap(t, mapper, goose); !isNotServed(err) {
		t.Fatalf("Map() = %v, want that it is not served", err)
	}
	cluster.reported()
	cluster.set(nil, core, deployments, geese)
	_, _ = mapper.Map(goose)
	eventually(t, "the change is reported", func() bool {
		clock.Step(time.Second)
		return cluster.reported().Equal(sets.New(goose.GroupVersion()))
	})
	if _, err := mapper.Map(goose); err != nil {
		t.Errorf("Map() = %v", err)
	}

	cluster.set(nil, core, deployments)
	requestsWithin(t, clock, cluster, refresh)
	eventually(t, "its removal is reported", func() bool { return cluster.reported().Equal(sets.New(goose.GroupVersion())) })
	if _, err := mapper.Map(goose); !isNotServed(err) {
		t.Errorf("Map() = %v, want that it is not served", err)
	}
}

// An aggregated API server that is down makes only its own kinds unknown, and those that it served before stay.
func TestFind_OneGroupFails_OthersAreServed(t *testing.T) {
	down := &discovery.ErrGroupDiscoveryFailed{Groups: map[schema.GroupVersion]error{goose.GroupVersion(): apierrors.NewServiceUnavailable("down")}}
	cluster := &fakeCluster{lists: []*metav1.APIResourceList{core, deployments}, err: down}
	mapper, clock := newDiscovering(t, cluster)
	if _, err := mustMap(t, mapper, deployment); err != nil {
		t.Errorf("Map() = %v", err)
	}
	timers := clock.timers.Load()
	if _, err := mapper.Map(goose); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("Map() = %v, want why its discovery failed", err)
	}
	eventually(t, "discovery is repeated soon", func() bool { return clock.timers.Load() > timers })
	if _, err := mapper.Map(goose.GroupKind().WithVersion("v2")); !isNotServed(err) {
		t.Errorf("Map() = %v, want that another version is not served", err)
	}
	if got := requestsWithin(t, clock, cluster, 5*time.Minute); got < 9 || got > 20 {
		t.Errorf("%d requests in five minutes, want back-off up to %s", got, recheck)
	}
	cluster.reported()
	cluster.set(nil, core, deployments, geese)
	requestsWithin(t, clock, cluster, recheck)
	eventually(t, "the recovery is reported", func() bool { return cluster.reported().Equal(sets.New(goose.GroupVersion())) })

	cluster.set(down, core, deployments)
	requestsWithin(t, clock, cluster, refresh)
	if _, err := mapper.Map(goose); err != nil {
		t.Errorf("Map() = %v, want the resource that served it before", err)
	}
}

func TestFind_DiscoveryFails_IsRetriedWithBackOffAndReported(t *testing.T) {
	for name, fail := range map[string]func(*fakeCluster){
		"error":      func(c *fakeCluster) { c.set(apierrors.NewServiceUnavailable("down")) },
		"lacks core": func(c *fakeCluster) { c.set(nil, deployments) },
	} {
		t.Run(name, func(t *testing.T) {
			cluster := &fakeCluster{}
			fail(cluster)
			mapper, clock := newDiscovering(t, cluster)
			for i := range 100 {
				invented := schema.GroupVersionKind{Group: fmt.Sprintf("g%d.example.com", i), Version: "v1", Kind: "K"}
				if _, err := mustMap(t, mapper, invented); err == nil || isNotServed(err) {
					t.Fatalf("Map() = %v, want why discovery failed", err)
				}
			}
			if got := requestsWithin(t, clock, cluster, 5*time.Minute); got < 9 || got > 20 {
				t.Errorf("%d requests in five minutes, want back-off up to %s", got, recheck)
			}
			if _, changes := cluster.count(); changes != 1 {
				t.Errorf("%d changes were reported, want the first failure alone", changes)
			}
			cluster.reported()
			cluster.set(nil, core, deployments)
			requestsWithin(t, clock, cluster, recheck)
			eventually(t, "all are reported in one call", func() bool { _, changes := cluster.count(); return changes == 1 })
			if got := cluster.reported(); got.Len() != 100 {
				t.Errorf("%d group versions were reported, want all that were queried", got.Len())
			}
			fail(cluster)
			requestsWithin(t, clock, cluster, refresh)
			if _, err := mapper.Map(deployment); err != nil {
				t.Errorf("Map() = %v, want what was served before", err)
			}
		})
	}
}
