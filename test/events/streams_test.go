/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package events

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	clientfeatures "k8s.io/client-go/features"
	clientfeaturestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
)

// broken is the body of a watch, of which reading fails.
type broken struct{ err error }

// Decode implements watch.Decoder.
func (b broken) Decode() (watch.EventType, runtime.Object, error) { return "", nil, b.err }

// Close implements watch.Decoder.
func (broken) Close() {}

func TestStream_ConnectionEnds_IsAnErrorOnlyIfPingsAreLost(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"end":                    {err: io.EOF},
		"end within an event":    {err: io.ErrUnexpectedEOF},
		"reset":                  {err: fmt.Errorf("reading: %w", syscall.ECONNRESET)},
		"GOAWAY":                 {err: errors.New("http2: server sent GOAWAY and closed the connection; LastStreamID=1")},
		"closed":                 {err: errors.New("read tcp: use of closed network connection")},
		"timeout":                {err: os.ErrDeadlineExceeded},
		"pings are not answered": {err: errors.New("http2: client connection lost"), want: true},
		"not JSON":               {err: errors.New("invalid character"), want: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := watch.NewStreamWatcher(broken{tc.err}, apierrors.NewClientErrorReporter(500, "GET", "ClientWatchDecoding"))
			var received []watch.Event
			for event := range w.ResultChan() {
				received = append(received, event)
			}
			if got := len(received) == 1 && apierrors.IsInternalError(apierrors.FromObject(received[0].Object)); got != tc.want || len(received) > 1 {
				t.Errorf("the stream has the events %+v, want an error: %t", received, tc.want)
			}
		})
	}
}

// A fake client watches without initial events and without a bookmark.
func TestWatchList_FakeClient_SyncsIfItsListWatchDeclaresIt(t *testing.T) {
	clientfeaturestesting.SetFeatureDuringTest(t, clientfeatures.WatchListClient, true)
	for name, declared := range map[string]bool{"Declared": true, "Undeclared": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				object := it("a", "3")
				client := fake.NewClientset(&object)
				list := cache.ListerWatcher(&cache.ListWatch{
					ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
						return client.CoreV1().ConfigMaps("").List(ctx, options)
					},
					WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
						return client.CoreV1().ConfigMaps("").Watch(ctx, options)
					},
				})
				if declared {
					list = cache.ToListWatcherWithWatchListSemantics(list.(*cache.ListWatch), client)
				}
				informer := cache.NewSharedIndexInformer(list, &corev1.ConfigMap{}, 0, cache.Indexers{})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				go informer.RunWithContext(ctx)
				time.Sleep(time.Hour) //nolint:forbidigo // A bubble of synctest does not wait.
				if informer.HasSynced() != declared {
					t.Errorf("after an hour the informer has synced: %t", informer.HasSynced())
				}
			})
		})
	}
}
