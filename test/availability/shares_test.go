//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package availability

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/fixtures"
)

var replicas = []string{"controller", "controller-1", "controller-2"}

func threeControllers(t *testing.T) *harness.Env {
	t.Helper()
	options := []harness.Option{harness.WithReplicas("controller", len(replicas)), harness.WithReplicas("webhook", 1)}
	for _, name := range replicas {
		options = append(options, harness.WithProxy(name))
	}
	return harness.Own(t, options...)
}

// rollOut sets the number of buckets and restarts one controller after the other.
func rollOut(t *testing.T, env *harness.Env, buckets int) {
	t.Helper()
	env.SetConfig(t, "config-leader-election", map[string]string{"buckets": strconv.Itoa(buckets)})
	for _, name := range replicas {
		env.Process(t, name).Restart(t)
	}
}

// held returns the process that holds each lease of the controller.
func held(ctx context.Context, env *harness.Env) (map[string]string, error) {
	list, err := env.Kube.CoordinationV1().Leases(env.SystemNamespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing the leases: %w", err)
	}
	holders := map[string]string{}
	for _, lease := range list.Items {
		if who := lease.Spec.HolderIdentity; strings.HasPrefix(lease.Name, "controller.") && who != nil && *who != "" {
			pod, _, _ := strings.Cut(*who, "_")
			holders[lease.Name] = strings.TrimSuffix(pod, "-0")
		}
	}
	return holders, nil
}

// awaitShares waits until the leases of this number of buckets are held, and no others, by as many processes as there are leases.
func awaitShares(t *testing.T, env *harness.Env, buckets int) map[string]string {
	t.Helper()
	var holders map[string]string
	harness.EventuallyWithin(t, patience, "each replica leads a share", func(ctx context.Context) (err error) {
		if holders, err = held(ctx, env); err != nil {
			return err
		}
		for name := range holders {
			if !strings.HasSuffix(name, fmt.Sprintf("-of-%02d", buckets)) {
				return fmt.Errorf("%s is held: %v", name, holders)
			}
		}
		leaders := slices.Compact(slices.Sorted(maps.Values(holders)))
		if len(holders) != buckets || len(leaders) != buckets {
			return fmt.Errorf("the shares are led by %v", holders)
		}
		return nil
	})
	return holders
}

// quickest is the minimum time in which a share can move to another process and back: each move needs a
// process that was killed, and whose lease expires, or one that leads two more shares than another.
const quickest = 10 * time.Second

// checkOneWriterAtATime fails when an object was written by one process, another, and the first again so soon that both led its share.
func checkOneWriterAtATime(t *testing.T, mark harness.Mark) {
	t.Helper()
	type written struct {
		by string
		at time.Time
	}
	byObject := map[string][]written{}
	for _, name := range replicas {
		for _, e := range mark.Entries(t, work, harness.ByProcess(name)) {
			if e.Resource == "addressableservices" {
				object := e.Namespace + "/" + e.Name
				byObject[object] = append(byObject[object], written{name, e.Time})
			}
		}
	}
	if len(byObject) == 0 {
		t.Fatal("no process wrote anything")
	}
	moved := 0
	for object, writes := range byObject {
		slices.SortStableFunc(writes, func(a, b written) int { return a.at.Compare(b.at) })
		last := map[string]time.Time{}
		for i, w := range writes {
			if i > 0 && writes[i-1].by != w.by {
				moved++
				if before, ok := last[w.by]; ok && w.at.Sub(before) < quickest {
					t.Errorf("%s was written by two processes in turn: %v", object, writes)
				}
			}
			last[w.by] = w.at
		}
	}
	t.Logf("%d objects were written; a second process wrote one %d times", len(byObject), moved)
}

// TestBuckets_RolledOutAndBack_EachReplicaLeadsAShare changes the number of buckets from 1 to 3 under load, kills a replica, and changes back.
func TestBuckets_RolledOutAndBack_EachReplicaLeadsAShare(t *testing.T) {
	t.Parallel()
	env := threeControllers(t)
	mark := env.Mark(t)
	ns := env.Namespace(t)
	stream := fixtures.StartStream(t, env, ns, time.Second/perSecond)
	stream.AwaitMore(t, perSecond)
	rollOut(t, env, 3)
	holders := awaitShares(t, env, 3)
	stream.AwaitMore(t, perSecond)

	share, victim := "", replicas[rand.IntN(len(replicas))]
	for name, who := range holders {
		if who == victim {
			share = name
		}
	}
	alive := env.Mark(t)
	env.Process(t, victim).Kill(t)
	harness.EventuallyWithin(t, patience, "another replica leads the share", func(ctx context.Context) (err error) {
		if holders, err = held(ctx, env); err == nil && holders[share] == victim {
			err = fmt.Errorf("%s leads it", victim)
		}
		return err
	})
	fixtures.CheckTakeover(t, alive, share, harness.ByProcess(victim), harness.ByProcess(holders[share]), leaseDuration)
	env.Process(t, victim).Start(t)
	awaitShares(t, env, 3)

	rollOut(t, env, 1)
	awaitShares(t, env, 1)
	stream.AwaitMore(t, perSecond)
	awaitPublished(t, env, ns, len(stream.Stop(t)))
	checkOneWriterAtATime(t, mark)
}

// TestBuckets_ReplicasKilledAtRandom_OneWriterPerObject kills replicas for at least 60 s, until 3,000 objects are created.
func TestBuckets_ReplicasKilledAtRandom_OneWriterPerObject(t *testing.T) {
	t.Parallel()
	const objects, attack, streams = 3000, 60 * time.Second, 4
	env := threeControllers(t)
	rollOut(t, env, 3)
	awaitShares(t, env, 3)
	mark := env.Mark(t)
	// Half of the replicas that are killed stay away for longer than a lease, so that their shares move.
	kills := harness.Every(t, time.Second, func(context.Context, int) error {
		victim := env.Process(t, replicas[rand.IntN(len(replicas))])
		victim.Kill(t)
		<-time.After(time.Duration(rand.Int64N(int64(2 * leaseDuration))))
		return victim.TryStart(t)
	})
	made := map[string]*fixtures.Stream{}
	var changing string
	for range streams {
		changing = env.Namespace(t)
		made[changing] = fixtures.StartStream(t, env, changing, streams*attack/objects)
	}
	// The target of a quarter of the objects is deleted and created again and again, so that different processes write the same object.
	changes := harness.Every(t, 5*time.Second, func(ctx context.Context, n int) error {
		if n%2 == 0 {
			return env.Kube.CoreV1().Services(changing).Delete(ctx, "target", metav1.DeleteOptions{})
		}
		_, err := env.TryApply(t, changing, fixtures.Target)
		return err
	})
	for _, stream := range made {
		harness.EventuallyWithin(t, 10*attack, "all objects are created", func(context.Context) error {
			if n := stream.Made(); n < objects/streams {
				return fmt.Errorf("there are %d of %d", n, objects/streams)
			}
			return nil
		})
	}
	times, failures := kills.Stop()
	_, more := changes.Stop()
	for _, err := range append(failures, more...) {
		t.Error(err)
	}
	env.Apply(t, changing, fixtures.Target)
	for ns, stream := range made {
		fixtures.AwaitReady(t, env, ns, len(stream.Stop(t)))
	}
	t.Logf("replicas were killed %d times", len(times))
	awaitShares(t, env, 3)
	checkOneWriterAtATime(t, mark)
}
