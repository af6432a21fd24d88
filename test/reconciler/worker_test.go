/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package reconciler

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// The calls of the queue for a key after a reconciliation.
const (
	done    = "reconcile 1; forget"                        // nothing more until an event enqueues the object
	again   = "reconcile 1; reconcile 2; forget"           // another reconciliation after the requested time
	backOff = "reconcile 1; back off; reconcile 2; forget" // another reconciliation after a time that grows from one to the next
)

// queued runs a reconciler by a controller with one worker, and returns what happened until ns/a was forgotten.
func (w *world) queued(t *testing.T, reconciliations *[]string) {
	t.Helper()
	ctx, cancel := context.WithCancel(w.ctx)
	forgotten := make(chan struct{})
	impl := controller.NewContext(ctx, w.generated, controller.ControllerOptions{
		WorkQueueName: t.Name(), Logger: logging.FromContext(ctx), Concurrency: 1,
		RateLimiter: limiter{reconciliations: reconciliations, forgotten: forgotten},
	})
	ended := make(chan error, 1)
	go func() { ended <- impl.Run(ctx) }()
	impl.EnqueueKey(types.NamespacedName{Namespace: ns, Name: "a"})
	select {
	case <-forgotten:
	case <-time.After(time.Minute):
		t.Error("the key is never forgotten")
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// limiter notes what the queue asks it for. There is one worker, so nothing is noted at once.
type limiter struct {
	reconciliations *[]string
	forgotten       chan struct{}
}

func (l limiter) When(any) time.Duration {
	*l.reconciliations = append(*l.reconciliations, "back off")
	return 0
}

func (l limiter) Forget(any) {
	*l.reconciliations = append(*l.reconciliations, "forget")
	close(l.forgotten)
}

func (limiter) NumRequeues(any) int { return 0 }

// first returns a function that returns the result in its first call and nil in all others, and notes its calls.
func first(result reconciler.Event, reconciliations *[]string) function {
	count := 0
	return func(context.Context, *v1.AddressableService) reconciler.Event {
		count++
		*reconciliations = append(*reconciliations, fmt.Sprint("reconcile ", count))
		if count == 1 {
			return result
		}
		return nil
	}
}
