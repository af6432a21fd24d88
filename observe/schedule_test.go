/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	clientfeatures "k8s.io/client-go/features"
	clientfeaturestesting "k8s.io/client-go/features/testing"

	"knative.dev/pkg/logging"

	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
)

// witness is an observer that checks each event against those before.
type witness struct {
	mu        sync.Mutex
	random    *rand.Rand
	announced map[string]types.UID
	at        map[string]int
	mistakes  []string
}

func (w *witness) observe(_ context.Context, e Event[*corev1.Secret]) error {
	w.mu.Lock()
	pause, fails := time.Duration(w.random.IntN(4))*100*time.Millisecond, w.random.IntN(4) == 0
	w.mu.Unlock()
	pass(pause)
	if fails {
		return errors.New("induced")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	name, uid := e.Name.Name, w.announced[e.Name.Name]
	switch {
	case e.Type == Added && uid == "":
		w.announced[name] = e.Object.UID
	case e.Type == Updated && uid == e.Object.UID && versionOf(e.Object) != w.at[name]:
	case e.Type == Deleted && uid == e.Object.UID:
		delete(w.announced, name)
	default:
		w.mistakes = append(w.mistakes, fmt.Sprintf("after %q at %d it received %v of %q at %s", uid, w.at[name], e.Type, e.Object.UID, e.Object.ResourceVersion))
	}
	w.at[name] = versionOf(e.Object)
	return nil
}

// check reports whether the observer knows the objects that exist.
func (w *witness) check(s *apiServer) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.mistakes) > 0 {
		return fmt.Errorf("mistakes: %q", w.mistakes)
	}
	if uids := s.uids(); !maps.Equal(w.announced, uids) {
		return fmt.Errorf("the observer knows %v, and there are %v", w.announced, uids)
	}
	return nil
}

// disturb makes one random step, and lets time pass.
func (s *apiServer) disturb(random *rand.Rand) {
	name := []string{"a", "b"}[random.IntN(2)]
	switch n := random.IntN(14); {
	case n == 12:
		s.save()
	case n == 13:
		s.restore()
	case n < 4:
		s.write(name)
	case n < 7:
		s.remove(name)
	case n == 7:
		// Recreated unobserved, unless the history contains it.
		s.disconnect(nil)
		s.remove(name)
		s.write(name)
	case n == 8:
		s.disconnect(nil)
	case n == 9:
		s.compact()
		s.disconnect(apierrors.NewResourceExpired("compacted"))
	case n == 10:
		s.reject(errRefused)
		s.disconnect(nil)
	default:
		s.restart()
	}
	pass(time.Duration(random.IntN(4)) * 300 * time.Millisecond)
}

// TestSubscribe_RandomSchedule_OneDeletedForEachAdded has informers of client-go list and watch at an API server that disconnects, restarts,
// forgets the past, is restored from a backup and recreates objects at random, while calls fail and take long at random.
func TestSubscribe_RandomSchedule_OneDeletedForEachAdded(t *testing.T) {
	seed, schedules := seed(t), uint64(5*testrand.Inputs(t))
	quiet(t)
	for name, streamed := range map[string]bool{"Streamed": true, "Listed": false} {
		t.Run(name, func(t *testing.T) {
			clientfeaturestesting.SetFeatureDuringTest(t, clientfeatures.WatchListClient, streamed)
			for n := range schedules {
				synctest.Test(t, func(t *testing.T) { schedule(t, rand.New(rand.NewPCG(seed, n))) })
				if t.Failed() {
					t.Fatalf("schedule %d failed", n)
				}
			}
		})
	}
}

func schedule(t *testing.T, random *rand.Rand) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ctx, _ = attach(logging.WithLogger(ctx, zap.NewNop().Sugar()))
	server := newAPIServer()
	w := &witness{random: rand.New(rand.NewPCG(random.Uint64(), 0)), announced: map[string]types.UID{}, at: map[string]int{}}
	subscription, err := Subscribe(ctx, "witness", ofSecrets(server), w.observe)
	if err != nil {
		t.Fatal(err)
	}
	for range 12 {
		server.disturb(random)
	}
	server.restart()
	// The longest back-off of an informer is half a minute, and that of a failed call grows to seconds.
	for range 10 {
		pass(20 * time.Second)
		synctest.Wait()
		if err = w.check(server); err == nil {
			break
		}
	}
	if err != nil {
		t.Errorf("at the end: %v", err)
	}
	if err := subscription.Stop(ctx); err != nil {
		t.Error(err)
	}
	cancel()
}
