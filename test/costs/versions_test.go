//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package costs

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// comparing is the longest time until the API server has compared each of its watch caches with etcd, which it does at random every 5 to 7.5 minutes.
const comparing = 9 * time.Minute

// TestCosts_OlderVersions_AreConvertedOnlyWhereServed counts the conversions by the webhook, for each write and while nothing changes.
func TestCosts_OlderVersions_AreConvertedOnlyWhereServed(t *testing.T) {
	for name, test := range map[string]struct {
		options []harness.Option
		// served is the number of versions. Each has a watch cache, to which the API server converts each write, unless it stores that version.
		served int
	}{
		"Config":      {nil, 1},
		"AllVersions": {[]harness.Option{harness.AllVersions()}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const objects = 50
			env := harness.Own(t, test.options...)
			ns := env.Namespace(t)
			createTarget(t, env, ns)
			mark := env.Mark(t)
			addressableServices.create(t, env, ns, objects, 1).await(t)
			resource := v1.Resource("addressableservices")
			// They are two per object, unless one is reconciled before the cache has its target.
			writes := len(mark.Entries(t, harness.Writes, func(e harness.AuditEntry) bool {
				return e.Namespace == ns && e.Resource == resource.Resource && e.Code < http.StatusBadRequest
			}))
			conversions := writes * (test.served - 1)
			harness.Eventually(t, "the watch caches have all writes", func(context.Context) error {
				// A watch cache that starts after the first objects were created converts those of its list as well.
				n := env.Conversions(t, resource)
				if n < conversions {
					return fmt.Errorf("%d conversions, want %d", n, conversions)
				}
				conversions = n
				return nil
			})
			harness.EventuallyWithin(t, comparing, "each watch cache is compared with etcd", func(context.Context) error {
				if n := env.ConsistencyChecks(t, resource); n < test.served {
					return fmt.Errorf("%d of %d are", n, test.served)
				}
				return nil
			})
			n := env.Conversions(t, resource) - conversions
			t.Logf("%d versions, %d objects: %d conversions by %d writes, %d while nothing changes", test.served, objects, conversions, writes, n)
			// One cache may be compared twice before another one is compared.
			if least := objects * (test.served - 1); n < least || test.served == 1 && n != 0 {
				t.Errorf("%d conversions while nothing changes, want %d", n, least)
			}
		})
	}
}

// TestCosts_WatchOfAnOlderVersion_DeliversAllChanges creates objects while the controller runs, and while it is suspended, and compares when informers of v1
// and of v1alpha1 have all of them as Ready. The webhook converts each event of v1alpha1, one after the other.
func TestCosts_WatchOfAnOlderVersion_DeliversAllChanges(t *testing.T) {
	const half, writers = 5000, 4
	env := harness.Own(t, harness.AllVersions(), harness.WithReplicas("webhook", 1))
	env.ExpectErrors(t, "lease") // if the controller is suspended for longer than its lease
	ns := env.Namespace(t)
	createTarget(t, env, ns)
	older := addressableServices
	older.resource.Version = "v1alpha1"
	atV1, atV1alpha1 := addressableServices.inform(t, env, ns, 2*half), older.inform(t, env, ns, 2*half)
	create := func(first int) time.Duration {
		return each(t, half, writers, func(n int) error {
			_, err := env.Dynamic.Resource(addressableServices.resource).Namespace(ns).Create(t.Context(), addressableServices.object(first+n), metav1.CreateOptions{})
			return err
		})
	}
	running := create(0)
	resume := suspend(t, env, "controller")
	suspended := create(half)
	resume()
	resumed := time.Now()
	atV1.await(t)
	atV1alpha1.await(t)
	last, lastOlder := slices.MaxFunc(atV1.ready, time.Time.Compare), slices.MaxFunc(atV1alpha1.ready, time.Time.Compare)
	t.Logf("each half of %d objects was created in %v and %v; %v after the controller was resumed, all were Ready at v1, and at v1alpha1 %v later",
		2*half, running, suspended, last.Sub(resumed), lastOlder.Sub(last))
	checkSuspendedWebhook(t, env, harness.Ref{Resource: addressableServices.resource, Namespace: ns, Name: "it-0"}, older.resource)
}

// checkSuspendedWebhook checks the watch of an older version of an object while the webhook answers late, and while it does not answer.
func checkSuspendedWebhook(t *testing.T, env *harness.Env, ref harness.Ref, older schema.GroupVersionResource) {
	t.Helper()
	watchAt := func(resource schema.GroupVersionResource) (events <-chan watch.Event) {
		harness.Eventually(t, "a watch of "+resource.Version, func(context.Context) error {
			w, err := env.Dynamic.Resource(resource).Namespace(ref.Namespace).Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + ref.Name})
			if err != nil {
				return err // until all objects are converted
			}
			t.Cleanup(w.Stop)
			events = w.ResultChan()
			return nil
		})
		return events
	}
	atV1, atOlder := watchAt(ref.Resource), watchAt(older)
	awaitLabel(t, atOlder, "")
	resume := suspend(t, env, "webhook")
	env.Patch(t, ref, `{"metadata": {"labels": {"example.com/a": "late"}}}`)
	awaitLabel(t, atV1, "late")
	select {
	case event := <-atOlder:
		t.Errorf("while the webhook does not answer, the watch of %s delivers %v", older.Version, event)
	default:
	}
	resume()
	awaitLabel(t, atOlder, "late")

	resume = suspend(t, env, "webhook")
	env.Patch(t, ref, `{"metadata": {"labels": {"example.com/a": "lost"}}}`)
	awaitLabel(t, atV1, "lost")
	started := time.Now()
	for event := range atOlder { // until the API server ends the watch
		t.Errorf("while the webhook does not answer, the watch of %s delivers %v", older.Version, event)
	}
	ended := time.Now()
	resume()
	awaitLabel(t, watchAt(older), "lost")
	t.Logf("without an answer, the watch of %s ended after %v; a new one delivered the change %v after the webhook ran again",
		older.Version, ended.Sub(started), time.Since(ended))
}

// suspend suspends a process until the function that it returns is called.
func suspend(t *testing.T, env *harness.Env, process string) (resume func()) {
	t.Helper()
	pid := env.Process(t, process).PID()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	resume = sync.OnceFunc(func() {
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(resume)
	return resume
}

// awaitLabel returns when a watch has delivered an object with a value of the label example.com/a.
func awaitLabel(t *testing.T, events <-chan watch.Event, want string) {
	t.Helper()
	for {
		select {
		case event := <-events:
			object, ok := event.Object.(*unstructured.Unstructured)
			if !ok {
				t.Fatalf("the watch delivers %v", event.Object)
			}
			if object.GetLabels()["example.com/a"] == want {
				return
			}
		case <-time.After(harness.Deadline):
			t.Fatalf("the watch has not delivered the label %q after %v", want, harness.Deadline)
		}
	}
}
