/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/observe"
)

type options = observe.Options[*corev1.ConfigMap]

// ways are those in which an observer is called.
var ways = map[string]options{"Queued": {}, "Inline": {Inline: true}}

func TestObserver_ObjectsExist_AreAddedInTheInitialList(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.create(t, "a", "1")
		s.create(t, "b", "1")
		s.settle(t, 2)
		for name, o := range ways {
			var j journal
			s.subscribe(t, name, j.record, o)
			j.await(t, "Added a listed", "Added b listed")
		}
	})
}

func TestObserver_CreateUpdateDelete_AreDeliveredInOrder(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		for name, o := range ways {
			var j journal
			s.subscribe(t, name, j.record, o)
			it := strings.ToLower(name)
			s.create(t, it, "1")
			j.await(t, "Added "+it)
			s.update(t, it, "2")
			j.await(t, "Added "+it, "Updated "+it+" 1→2")
			s.delete(t, it)
			j.await(t, "Added "+it, "Updated "+it+" 1→2", "Deleted "+it)
		}
	})
}

func TestObserver_WatchEnds_ResumesWithoutAList(t *testing.T) {
	for name, tc := range map[string]struct {
		// isAnnounced reports whether the connection announces its end with GOAWAY.
		isAnnounced bool
		end         func(*harness.Proxy, harness.Match)
	}{
		"InOrder":     {end: (*harness.Proxy).EndWatches},
		"ByAReset":    {end: func(p *harness.Proxy, _ harness.Match) { p.Reset() }},
		"AfterGoAway": {isAnnounced: true, end: func(p *harness.Proxy, _ harness.Match) { p.Reset() }},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, s *scene) {
				s.create(t, "a", "1")
				s.settle(t, 1)
				isWatch := harness.Matching("watch", "configmaps").And(harness.InNamespace(s.ns))
				if tc.isAnnounced {
					undo := s.proxy.GoAway(isWatch)
					defer undo()
				}
				var j journal
				s.subscribe(t, "resumed", j.record)
				s.update(t, "a", "2")
				j.await(t, "Added a listed", "Updated a 1→2")
				lists := s.proxy.Count(harness.Matching("list", "configmaps").And(harness.InNamespace(s.ns)))
				watches := s.proxy.Count(isWatch)
				held := s.proxy.Hold(isWatch)
				tc.end(s.proxy, isWatch)
				held.Wait(t)
				s.delete(t, "a")
				held.Release()
				j.await(t, "Added a listed", "Updated a 1→2", "Deleted a")
				if n, m := lists(), watches(); n != 0 || m != 1 {
					t.Errorf("after the watch ended there were %d lists and %d watches, want 0 and 1", n, m)
				}
			})
		})
	}
}

func TestObserver_Where_BeginsAndCeasesToMatch(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.create(t, "matching", "yes")
		s.create(t, "other", "no")
		s.settle(t, 2)
		journals := map[string]*journal{}
		for name, o := range ways {
			o.Where = func(cm *corev1.ConfigMap) bool { return cm.Labels["it"] == "yes" }
			journals[name] = &journal{}
			s.subscribe(t, name, journals[name].record, o)
			journals[name].await(t, "Added matching listed")
		}
		// The API server's selector decides in the same way.
		selected := &journal{}
		subscription, err := observe.Subscribe(s.ctx, "selected", s.configMaps(observe.Labels("it=yes")), selected.record)
		if err != nil {
			t.Fatal(err)
		}
		journals["selected"] = selected
		selected.await(t, "Added matching listed")

		s.update(t, "matching", "no")
		for _, j := range journals {
			j.await(t, "Added matching listed", "Deleted matching")
		}
		s.update(t, "matching", "yes")
		for _, j := range journals {
			j.await(t, "Added matching listed", "Deleted matching", "Added matching")
		}
		if err := subscription.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		delete(journals, "selected")
		s.interrupt(t, func() {
			s.delete(t, "matching")
			s.delete(t, "other")
		})
		for _, j := range journals {
			j.await(t, "Added matching listed", "Deleted matching", "Added matching", "Deleted matching unknown")
		}
	})
}
