/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"testing"

	"k8s.io/client-go/rest"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// missed changes objects while the process cannot see it, and expects that observers receive once what has changed.
func missed(t *testing.T, s *scene, interrupt func(change func())) {
	t.Helper()
	for _, name := range []string{"changed", "deleted", "recreated", "untouched"} {
		s.create(t, name, "1")
	}
	s.settle(t, 4)
	journals := map[string]*journal{}
	want := []string{"Added changed listed", "Added deleted listed", "Added recreated listed", "Added untouched listed"}
	for name, o := range ways {
		journals[name] = &journal{}
		s.subscribe(t, name, journals[name].record, o)
		journals[name].await(t, want...)
	}
	s.update(t, "changed", "2")
	want = append(want, "Updated changed 1→2")
	for _, j := range journals {
		j.await(t, want...)
	}
	interrupt(func() {
		s.update(t, "changed", "3")
		s.delete(t, "deleted")
		s.delete(t, "recreated")
		s.create(t, "recreated", "2")
		s.create(t, "created", "2")
	})
	want = append(want, "Added created", "Updated changed 2→3", "Deleted deleted unknown", "Deleted recreated unknown", "Added recreated")
	for _, j := range journals {
		j.await(t, want...)
	}
	// What follows is delivered, and nothing of the above again.
	s.delete(t, "untouched")
	for _, j := range journals {
		j.await(t, append(want, "Deleted untouched")...)
	}
}

func TestObserver_WatchExpires_DeliversWhatWasMissedOnce(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		missed(t, s, func(change func()) { s.interrupt(t, change) })
	})
}

func TestObserver_APIServerRestarts_DeliversWhatWasMissedOnce(t *testing.T) {
	server := harness.Shared(t).StartAPIServer(t)
	eachAt(t, func(*testing.T) (*rest.Config, *harness.Proxy) { return server.Config, nil }, func(t *testing.T, s *scene) {
		missed(t, s, func(change func()) {
			server.Stop(t)
			change()
			server.Start(t)
		})
	})
}

// Without a watch cache, the API server answers as etcd does.
func TestObserver_EtcdIsCompacted_DeliversWhatWasMissedOnce(t *testing.T) {
	server := harness.Shared(t).StartAPIServer(t, "--watch-cache=false")
	eachAt(t, func(t *testing.T) (*rest.Config, *harness.Proxy) { return server.Proxied(t) }, func(t *testing.T, s *scene) {
		isWatch := harness.Matching("watch", "configmaps").And(harness.InNamespace(s.ns))
		missed(t, s, func(change func()) {
			undo := s.proxy.Fail(isWatch, 429)
			s.proxy.EndWatches(isWatch)
			change()
			s.Compact(t)
			undo()
		})
	})
}

func TestObserver_APIServerDoesNotStreamLists_DeliversWhatWasMissedOnce(t *testing.T) {
	server := harness.Shared(t).StartAPIServer(t, "--feature-gates=WatchList=false")
	eachAt(t, func(t *testing.T) (*rest.Config, *harness.Proxy) { return server.Proxied(t) }, func(t *testing.T, s *scene) {
		lists := s.proxy.Count(harness.Matching("list", "configmaps").And(harness.InNamespace(s.ns)))
		missed(t, s, func(change func()) { s.interrupt(t, change) })
		// One is that of settle.
		if n := lists(); n < 3 {
			t.Errorf("there were %d lists, want one at the start and one after the watch expired", n-1)
		}
	})
}

// A connection over which nothing arrives any more is detected by the pings of HTTP/2, whose periods client-go reads from environment variables.
func TestObserver_PacketsAreDropped_DeliversWhatWasMissedOnce(t *testing.T) {
	t.Setenv("HTTP2_READ_IDLE_TIMEOUT_SECONDS", "1")
	t.Setenv("HTTP2_PING_TIMEOUT_SECONDS", "1")
	each(t, func(t *testing.T, s *scene) {
		missed(t, s, func(change func()) {
			s.proxy.DropPackets()
			change()
		})
	})
}
