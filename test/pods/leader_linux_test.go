//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pods

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/fixtures"
)

// settled is the number of objects that have a status before the leader is removed, so that it is at work then.
const settled = 20

// TestLeader_PodRemoved_StandbyTakesOver removes the leader during a stream of creates, in each way in which a cluster does, and checks
// which replica wrote what, and when.
func TestLeader_PodRemoved_StandbyTakesOver(t *testing.T) {
	for name, way := range map[string]struct {
		remove func(t *testing.T, env *harness.Env, pod string)
		// released says that the leader released the lease, so that no standby waits until it expires.
		released bool
	}{
		"Deleted": {
			remove: func(t *testing.T, env *harness.Env, pod string) {
				t.Helper()
				deletePod(t, env, pod, metav1.DeleteOptions{})
			},
			released: true,
		},
		"DeletedByForce": {
			remove: func(t *testing.T, env *harness.Env, pod string) {
				t.Helper()
				kill(t, pod)
				deletePod(t, env, pod, metav1.DeleteOptions{GracePeriodSeconds: new(int64)})
			},
		},
		"Killed": {
			remove: func(t *testing.T, _ *harness.Env, pod string) {
				t.Helper()
				kill(t, pod)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			env := harness.Shared(t)
			awaitRunning(t, env, "controller", 2)
			ns := env.Namespace(t)
			mark := env.Mark(t)
			stream := fixtures.StartStream(t, env, ns, period)
			harness.Eventually(t, "the leader is at work", func(context.Context) error {
				if n := len(statusWrites(t, mark, ns)); n < settled {
					return fmt.Errorf("%d objects have a status, want %d", n, settled)
				}
				return nil
			})
			old := leader(t, env)
			removed := time.Now()
			way.remove(t, env, old)
			var lease time.Duration
			if !way.released {
				stored, err := fixtures.Lease(t.Context(), env)
				if err != nil {
					t.Fatal(err)
				}
				lease = time.Duration(*stored.Spec.LeaseDurationSeconds) * time.Second
			}
			var first harness.AuditEntry
			harness.EventuallyWithin(t, lease+harness.Deadline, "objects are reconciled", func(context.Context) error {
				for _, entry := range statusWrites(t, mark, ns) {
					if entry.Time.After(removed) && (entry.Pod != old || name == "Killed") {
						first = entry
						return nil
					}
				}
				return fmt.Errorf("no status has been written since Pod %s went", old)
			})
			names := stream.Stop(t)
			t.Logf("%s wrote %v after %s received SIGTERM or was killed; %d objects", first.Pod, first.Time.Sub(removed), old, len(names))
			// The container that is started again in the same Pod takes its own lease.
			if first.Pod != old {
				fixtures.CheckTakeover(t, mark, fixtures.ControllerLease, byPod(old), byPod(first.Pod), lease)
			}
			fixtures.AwaitReady(t, env, ns, len(names))
			noneTwice(t, env, mark, ns, names, name != "Deleted")
			awaitRunning(t, env, "controller", 2)
		})
	}
}

// deletePod does what kubectl does, without the time that kubectl takes to start.
func deletePod(t *testing.T, env *harness.Env, pod string, options metav1.DeleteOptions) {
	t.Helper()
	if err := env.Kube.CoreV1().Pods(env.SystemNamespace).Delete(t.Context(), pod, options); err != nil {
		t.Fatalf("deleting Pod %s: %v", pod, err)
	}
}

// statusWrites are the successful writes of the status of a namespace's objects.
func statusWrites(t *testing.T, mark harness.Mark, ns string) []harness.AuditEntry {
	t.Helper()
	return mark.Entries(t, succeeded, harness.ByRequest(harness.Matching("update", "addressableservices/status").And(harness.InNamespace(ns))))
}

func byPod(name string) harness.AuditFilter {
	return func(entry harness.AuditEntry) bool { return entry.Pod == name }
}

func succeeded(entry harness.AuditEntry) bool { return entry.Code < 300 }

// noneTwice fails unless each object's status was written twice at most, to record the namespace of the alias and that the alias exists, and its alias
// was made once. If a Pod was killed,
// one may be missing in the audit log: the last write of a killed process is executed, but has no response, and so did not succeed there. Objects
// that are Ready have both.
func noneTwice(t *testing.T, env *harness.Env, mark harness.Mark, ns string, names []string, killed bool) {
	t.Helper()
	writers := map[string][]string{}
	for _, entry := range statusWrites(t, mark, ns) {
		writers[entry.Name] = append(writers[entry.Name], entry.Pod)
	}
	made := map[string]int{}
	for _, entry := range mark.Entries(t, succeeded, harness.ByUser(env.User("controller")), harness.ByRequest(harness.Matching("create", "services"))) {
		made[entry.Name]++
	}
	if len(writers) == 0 || len(made) == 0 {
		t.Errorf("of %d objects %d have a status and %d an alias", len(names), len(writers), len(made))
	}
	least := 1
	if killed {
		least = 0
	}
	for _, name := range names {
		if n := len(writers[name]); n > 2 || n < least {
			t.Errorf("the status of %s was written by %q, want two writes at most", name, writers[name])
		}
		alias := fixtures.Published(ns, name).Spec.Publish.Alias
		if n := made[alias]; n > 1 || n < least {
			t.Errorf("the alias of %s was made %d times, want once", name, n)
		}
	}
}
