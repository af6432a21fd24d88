//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

func TestObserver_APIServerRestarts_DeliversWhatWasMissedOnce(t *testing.T) {
	env := harness.Shared(t)
	server := env.StartAPIServer(t)
	eachAt(t, env, func(*testing.T) (*rest.Config, *harness.Proxy) { return server.Config, nil }, func(t *testing.T, s *scene) {
		missed(t, s, func(change func()) {
			server.Stop(t)
			change()
			server.Start(t)
		})
	})
}

// Without a watch cache, the API server answers as etcd does, whose history others rely on in a shared environment.
func TestObserver_EtcdIsCompacted_DeliversWhatWasMissedOnce(t *testing.T) {
	env := harness.Own(t, harness.Bare())
	server := env.StartAPIServer(t, "--watch-cache=false")
	eachAt(t, env, func(t *testing.T) (*rest.Config, *harness.Proxy) { return server.Proxied(t) }, func(t *testing.T, s *scene) {
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
	env := harness.Shared(t)
	server := env.StartAPIServer(t, "--feature-gates=WatchList=false")
	eachAt(t, env, func(t *testing.T) (*rest.Config, *harness.Proxy) { return server.Proxied(t) }, func(t *testing.T, s *scene) {
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

func TestSource_APIServerFailsInSeveralWays_RequestsBackOffAndNothingIsLost(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		var j journal
		s.subscribe(t, "it", j.record)
		s.create(t, "a", "1")
		s.create(t, "b", "1")
		j.await(t, "Added a", "Added b")
		requests, began := s.proxy.Count(s.ours()), time.Now()
		awaitFailures := func(atLeast int) {
			t.Helper()
			harness.Eventually(t, fmt.Sprintf("%d requests fail", atLeast), func(context.Context) error {
				if n := requests() + s.proxy.Rejected(); n < atLeast {
					return fmt.Errorf("there were %d", n)
				}
				return nil
			})
		}
		heal := s.proxy.Fail(s.ours(), 429)
		s.proxy.EndWatches(s.ours())
		s.delete(t, "a")
		s.update(t, "b", "2")
		s.create(t, "c", "1")
		awaitFailures(2)
		s.awaitHealth(t, "the source of it fails since ")
		fail := s.proxy.Fail(s.ours(), 500)
		heal()
		// Unlike 429, this error ends the watch, and a list follows.
		s.awaitHealth(t, "the harness has this request fail")
		failed := requests() + s.proxy.Rejected()
		s.proxy.Cut()
		fail()
		awaitFailures(failed + 1)
		s.awaitHealth(t, "the source of it fails since ")
		s.proxy.Restore()
		// The list does not have the object that was deleted.
		j.await(t, "Added a", "Added b", "Deleted a unknown", "Updated b 1→2", "Added c")
		s.awaitHealth(t, "")
		// A failed attempt is a watch and a list, and the shortest pause after one is 0.8 s. The other two sources of the process attempt it, too.
		if n, most := requests()+s.proxy.Rejected(), 3*2*(2+int(time.Since(began)/(800*time.Millisecond))); n > most {
			t.Errorf("there were %d requests in %v, want %d at most", n, time.Since(began), most)
		}
	})
}
