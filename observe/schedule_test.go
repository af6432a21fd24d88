/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	clientfeatures "k8s.io/client-go/features"
	clientfeaturestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"knative.dev/pkg/logging"
)

// apiServer lists and watches Secrets as an API server does, which a random schedule disturbs.
type apiServer struct {
	mu      sync.Mutex
	version int
	live    map[string]*corev1.Secret
	// history are the events after version forgotten. Older ones are answered with 410.
	history   []watch.Event
	forgotten int
	watches   map[*watch.FakeWatcher]struct{}
	// refusal is why requests are refused, or nil.
	refusal error
	// backup is a state to which restore returns.
	backup backup
	// newest is the newest version that there has been, and lost has those after a backup and before a restore.
	newest int
	lost   [][2]int
}

func newAPIServer() *apiServer {
	return &apiServer{version: 1, forgotten: 1, live: map[string]*corev1.Secret{}, watches: map[*watch.FakeWatcher]struct{}{}}
}

var errRefused = fmt.Errorf("connecting: %w", syscall.ECONNREFUSED)

// list returns the objects that exist.
func (s *apiServer) list(_ context.Context, options metav1.ListOptions) (runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refuse(options); err != nil {
		return nil, err
	}
	list := &corev1.SecretList{ListMeta: metav1.ListMeta{ResourceVersion: strconv.Itoa(s.version)}}
	for _, object := range s.live {
		list.Items = append(list.Items, *object.DeepCopy())
	}
	return list, nil
}

// watch sends what has changed since a version, or what exists.
func (s *apiServer) watch(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refuse(options); err != nil {
		return nil, err
	}
	// More than any schedule has events.
	w := watch.NewFakeWithChanSize(1000, false)
	if options.SendInitialEvents != nil && *options.SendInitialEvents {
		for _, object := range s.live {
			w.Add(object.DeepCopy())
		}
		w.Action(watch.Bookmark, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
			ResourceVersion: strconv.Itoa(s.version), Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"},
		}})
	} else {
		from, err := strconv.Atoi(options.ResourceVersion)
		if err != nil {
			return nil, fmt.Errorf("reading the version of a watch: %w", err)
		}
		if from < s.forgotten {
			return nil, apierrors.NewResourceExpired("too old resource version")
		}
		for _, event := range s.history {
			if versionOf(event.Object.(*corev1.Secret)) > from {
				w.Action(event.Type, event.Object.DeepCopyObject())
			}
		}
	}
	s.watches[w] = struct{}{}
	return w, nil
}

func (s *apiServer) send(t watch.EventType, object *corev1.Secret) {
	event := watch.Event{Type: t, Object: object.DeepCopy()}
	s.history = append(s.history, event)
	for w := range s.watches {
		if !w.IsStopped() {
			w.Action(t, object.DeepCopy())
		}
	}
}

// write creates an object, or updates it.
func (s *apiServer) write(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advance()
	change, uid := watch.Added, types.UID(name+strconv.Itoa(s.version))
	if object, ok := s.live[name]; ok {
		change, uid = watch.Modified, object.UID
	}
	s.live[name] = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: uid, ResourceVersion: strconv.Itoa(s.version)}}
	s.send(change, s.live[name])
}

func (s *apiServer) remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	object, ok := s.live[name]
	if !ok {
		return
	}
	s.advance()
	delete(s.live, name)
	object = object.DeepCopy()
	object.ResourceVersion = strconv.Itoa(s.version)
	s.send(watch.Deleted, object)
}

// disconnect ends all watches, for client-go either in order or with an error.
func (s *apiServer) disconnect(reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.watches {
		if !w.IsStopped() {
			if status := apierrors.APIStatus(nil); errors.As(reason, &status) {
				answer := status.Status()
				w.Error(&answer)
			}
			w.Stop()
		}
	}
	clear(s.watches)
}

// setDown has connections be refused, or accepted by a server that does not know the past.
func (s *apiServer) setDown(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refusal = errRefused; !down {
		s.refusal = nil
		s.forget()
	}
}

// compact has the server answer all former versions with 410.
func (s *apiServer) compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
}

func (s *apiServer) forget() { s.history, s.forgotten = nil, s.version }

func (s *apiServer) uids() map[string]types.UID {
	s.mu.Lock()
	defer s.mu.Unlock()
	uids := map[string]types.UID{}
	for name, object := range s.live {
		uids[name] = object.UID
	}
	return uids
}

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

// check returns whether the observer knows what exists.
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
		// Recreated while nobody sees it, unless the history has it.
		s.disconnect(nil)
		s.remove(name)
		s.write(name)
	case n == 8:
		s.disconnect(nil)
	case n == 9:
		s.compact()
		s.disconnect(apierrors.NewResourceExpired("compacted"))
	case n == 10:
		s.setDown(true)
		s.disconnect(nil)
	default:
		s.setDown(false)
	}
	pass(time.Duration(random.IntN(4)) * 300 * time.Millisecond)
}

// TestSubscribe_RandomSchedule_OneDeletedForEachAdded has informers of client-go list and watch at an API server that disconnects, restarts,
// forgets the past, is restored from a backup and recreates objects at random, while calls fail and take long at random.
func TestSubscribe_RandomSchedule_OneDeletedForEachAdded(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	silence(t)
	for name, streamed := range map[string]bool{"Streamed": true, "Listed": false} {
		t.Run(name, func(t *testing.T) {
			clientfeaturestesting.SetFeatureDuringTest(t, clientfeatures.WatchListClient, streamed)
			const schedules = 5_000
			for n := range uint64(schedules) {
				synctest.Test(t, func(t *testing.T) { schedule(t, rand.New(rand.NewPCG(seed, n))) })
				if t.Failed() {
					t.Fatalf("schedule %d of seed %d", n, seed)
				}
			}
		})
	}
}

// silence discards what client-go logs, and disables its error handlers, which delay errors that follow each other by the clock: it begins anew
// with each bubble of synctest.
func silence(t *testing.T) {
	t.Helper()
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	handlers := utilruntime.ErrorHandlers
	utilruntime.ErrorHandlers = nil //nolint:reassign // there is no other way
	t.Cleanup(func() {
		klog.SetOutput(os.Stderr)
		klog.LogToStderr(true)
		utilruntime.ErrorHandlers = handlers //nolint:reassign // there is no other way
	})
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
	server.setDown(false)
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

// ofSecrets is the source of the Secrets of an API server.
func ofSecrets(server *apiServer, qualifiers ...Qualifier) Source[*corev1.Secret] {
	return newSource[*corev1.Secret]("secrets", qualifiers, func(_ context.Context, _ sourceKey, tweak func(*metav1.ListOptions)) (cache.SharedIndexInformer, error) {
		list := &cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
				tweak(&options)
				return server.list(ctx, options)
			},
			WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
				tweak(&options)
				return server.watch(ctx, options)
			},
		}
		return cache.NewSharedIndexInformer(list, &corev1.Secret{}, 0, indexers()), nil
	})
}
