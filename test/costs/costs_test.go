/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package costs

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/test/fixtures"
)

// objects is the number of objects that the suite creates.
const objects = 500

func TestMain(m *testing.M) { harness.Main(m, harness.Separate()) }

// TestCosts_CreateIdleAndRestart_AreBounded is one story: objects are created, stay unchanged, and the controller is restarted. Each part needs the one before.
func TestCosts_CreateIdleAndRestart_AreBounded(t *testing.T) {
	env := harness.Shared(t)
	ns := env.Namespace(t)
	createTarget(t, env, ns)
	controller := env.Process(t, "controller")
	logEveryReconciliation(t, env)

	audit, before := env.Mark(t), env.Requests(t)
	start := time.Now()
	create(t, env, ns, objects, "")
	creating := time.Since(start)
	awaitAllReady(t, env, ns, objects)
	ready := time.Since(start)
	made := env.Requests(t).Since(before)

	t.Run("OneWriteAnObjectFromCreateToReady", func(t *testing.T) {
		exactly(t, made.Of(harness.Matching("create", "addressableservices")), objects, "creates of the test's own")
		exactly(t, made.Of(harness.Matching("update", "addressableservices/status")), objects, "status writes")
		exactly(t, made.Of(harness.Matching("patch", "addressableservices")), 0, "patches, as of the finalizer")
		exactly(t, made.Of(harness.Matching("get", "addressableservices")), 0, "reads of single objects")
		exactly(t, made.Of(harness.Matching("create", "events")), 0, "events, for no condition went from good to bad or back")
		for answer, n := range made {
			if answer.Code == 409 {
				t.Errorf("there were %d conflicts: %+v", n, answer)
			}
		}
		writes := audit.Entries(t, harness.Writes, harness.ByUser(env.User("controller")), notLeases)
		if len(writes) != objects {
			t.Errorf("the controller wrote %d times, want %d: %v", len(writes), objects, sample(writes))
		}
	})

	t.Run("ReadyWithinTwiceTheTimeOfCreating", func(t *testing.T) {
		t.Logf("creating took %v, until all were Ready %v: %.2f times", creating, ready, ready.Seconds()/creating.Seconds())
		if ready > 2*creating {
			t.Errorf("all were Ready after %v, more than twice the %v that creating them took", ready, creating)
		}
	})

	t.Run("NoWritesAtRest", func(t *testing.T) {
		// A reconciliation of every object, which the ConfigMap triggers although nothing that concerns these objects changes.
		mark := env.Mark(t)
		awaitReconciliations(t, env, ns, func() {
			env.SetConfig(t, "config-addressable", map[string]string{"domain": "resync.example.com"})
		})
		noWrites(t, env, mark)
	})

	t.Run("NoWritesAfterARestart", func(t *testing.T) {
		mark := env.Mark(t)
		awaitReconciliations(t, env, ns, func() { controller.Restart(t) })
		noWrites(t, env, mark)
	})
}

// logEveryReconciliation has the controller log all reconciliations, of which it otherwise leaves most
// out when there are many a second. It is the only setting that is not the default.
func logEveryReconciliation(t *testing.T, env *harness.Env) {
	t.Helper()
	env.SetConfig(t, "config-logging", map[string]string{"zap-logger-config": `{"level": "info", "sampling": null}`})
	env.Process(t, "controller").Restart(t)
}

func createTarget(t testing.TB, env *harness.Env, ns string) {
	t.Helper()
	target := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "target"},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "http", Port: 80}}},
	}
	if _, err := env.Kube.CoreV1().Services(ns).Create(t.Context(), target, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating the target: %v", err)
	}
}

// create makes objects as fast as one client can: one request after the other,
// without a rate limit. They get the default class when none is given.
func create(t testing.TB, env *harness.Env, ns string, count int, class string) []*v1.AddressableService {
	t.Helper()
	client := fixtures.Client(env).SamplesV1().AddressableServices(ns)
	made := make([]*v1.AddressableService, 0, count)
	for i := range count {
		as := &v1.AddressableService{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("it-%d", i)},
			Spec:       v1.AddressableServiceSpec{Ref: v1.TargetReference{APIVersion: "v1", Kind: "Service", Name: "target"}},
		}
		if class != "" {
			as.Annotations = map[string]string{samples.ClassAnnotationKey: class}
		}
		as, err := client.Create(t.Context(), as, metav1.CreateOptions{})
		if err != nil {
			t.Fatalf("creating object %d: %v", i, err)
		}
		made = append(made, as)
	}
	return made
}

// awaitAllReady returns as soon as every object is Ready. It watches, because repeated lists would distort the measurement.
func awaitAllReady(t testing.TB, env *harness.Env, ns string, count int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	client := fixtures.Client(env).SamplesV1().AddressableServices(ns)
	list, err := client.List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatalf("listing the objects: %v", err)
	}
	ready := map[string]bool{}
	note := func(as *v1.AddressableService) {
		if as.Status.GetCondition(v1.AddressableServiceConditionReady).IsTrue() {
			ready[as.Name] = true
		}
	}
	for i := range list.Items {
		note(&list.Items[i])
	}
	watch, err := client.Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	if err != nil {
		t.Fatalf("watching the objects: %v", err)
	}
	defer watch.Stop()
	for len(ready) < count {
		event, ok := <-watch.ResultChan()
		as, isObject := event.Object.(*v1.AddressableService)
		if !ok || !isObject {
			t.Fatalf("the watch ended with %d of %d objects Ready: %v", len(ready), count, event.Object)
		}
		note(as)
	}
}

// awaitReconciliations causes a reconciliation of every object and returns once the controller's log contains each.
func awaitReconciliations(t *testing.T, env *harness.Env, ns string, cause func()) {
	t.Helper()
	controller := env.Process(t, "controller")
	from := len(controller.Log(t))
	cause()
	harness.Eventually(t, "a reconciliation of every object", func(context.Context) error {
		reconciled := map[string]bool{}
		for line := range strings.Lines(controller.Log(t)[from:]) {
			var entry struct {
				Message string `json:"message"`
				Key     string `json:"knative.dev/key"`
			}
			if json.Unmarshal([]byte(line), &entry) == nil && entry.Message == "Reconcile succeeded" && strings.HasPrefix(entry.Key, ns+"/") {
				reconciled[entry.Key] = true
			}
		}
		if len(reconciled) < objects {
			return fmt.Errorf("there were reconciliations of %d of %d objects", len(reconciled), objects)
		}
		return nil
	})
}

// noWrites fails when the controller wrote to anything but leases.
func noWrites(t *testing.T, env *harness.Env, mark harness.Mark) {
	t.Helper()
	writes := mark.Entries(t, harness.Writes, harness.ByUser(env.User("controller")), notLeases)
	if len(writes) > 0 {
		t.Errorf("the controller wrote %d times, want none: %v", len(writes), sample(writes))
	}
}

func notLeases(e harness.AuditEntry) bool { return e.Resource != "leases" }

func exactly(t *testing.T, requests harness.Requests, want int, what string) {
	t.Helper()
	if got := requests.Total(); got != want {
		t.Errorf("%s: %d, want %d:\n%s", what, got, want, requests)
	}
}

func sample(entries []harness.AuditEntry) []harness.AuditEntry { return entries[:min(len(entries), 5)] }
