//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

func TestMain(m *testing.M) { harness.Main(m, harness.Bare()) }

// operator is the controller of one test, which may run without some concerns.
type operator struct {
	*harness.Env

	name    string
	process *harness.Process
	ns      string
}

// TestHardening_EachConcern_FaultAndRemedy runs the same controller with and without the hardening.
func TestHardening_EachConcern_FaultAndRemedy(t *testing.T) {
	env := harness.Own(t, harness.WithConfig("testdata/config"), harness.WithProxy("plain"))
	// The controller is made to panic, and its requests to fail.
	env.ExpectErrors(t, "plain")
	process := env.Process(t, "plain")
	for _, tc := range []struct {
		concern string
		test    func(t *testing.T, o operator, hardened bool)
	}{
		{"limits", testLimits},
		{"tracker", testTracker},
		{"tombstones", testTombstones},
		{"panics", testPanic},
		{"panics", testHandlerPanic},
		{"stopping", testStop},
	} {
		for _, hardened := range []bool{true, false} {
			name := tc.concern + " with"
			off := ""
			if !hardened {
				name, off = tc.concern+" without", tc.concern
			}
			t.Run(name, func(t *testing.T) {
				process.Stop(t)
				process.SetEnv(map[string]string{"HARDENING_OFF": off})
				env.ExpireLeases(t, process)
				process.Start(t)
				tc.test(t, operator{env, "plain", process, env.Namespace(t)}, hardened)
				env.TakeExits()
			})
		}
	}
}

func (o operator) parent(t *testing.T, name string, data map[string]string) {
	t.Helper()
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: o.ns, Name: name, Labels: map[string]string{"plain": "parent"}}, Data: data}
	if _, err := o.Kube.CoreV1().ConfigMaps(o.ns).Create(t.Context(), cm, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// ended returns how many reconciliations of a parent have ended.
func (o operator) ended(t *testing.T, name string) int {
	t.Helper()
	return strings.Count(o.process.Log(t), fmt.Sprintf("End %s/%s", o.ns, name))
}

func (o operator) awaitEnded(t *testing.T, name string, more int) {
	t.Helper()
	harness.Eventually(t, fmt.Sprintf("%d reconciliations of %s have ended", more, name), func(context.Context) error {
		if got := o.ended(t, name); got < more {
			return fmt.Errorf("%d have", got)
		}
		return nil
	})
}

func testLimits(t *testing.T, o operator, hardened bool) {
	t.Helper()
	log := o.process.Log(t)
	last := log[strings.LastIndex(log, "The client has limiter"):]
	if limited := strings.HasPrefix(last, "The client has limiter true"); limited == hardened {
		t.Errorf("the client is limited: %t", limited)
	}
}

func testTracker(t *testing.T, o operator, hardened bool) {
	t.Helper()
	for _, name := range []string{"first", "second"} {
		service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
		if _, err := o.Kube.CoreV1().Services(o.ns).Create(t.Context(), service, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	o.parent(t, "refers", map[string]string{"target": "first"})
	o.awaitEnded(t, "refers", 2) // one for the object, one because the reference is new
	o.patch(t, "configmaps", "refers", `{"data":{"target":"second"}}`)
	o.awaitEnded(t, "refers", 4)
	touch := func(service string) {
		o.patch(t, "services", service, fmt.Sprintf(`{"metadata":{"annotations":{"touched":%q}}}`, time.Now()))
	}
	touch("first")
	touch("second")
	want := 5
	if !hardened {
		want = 6
	}
	o.awaitEnded(t, "refers", want)
	// Another object is reconciled after what the first one had enqueued.
	o.parent(t, "marker", nil)
	o.awaitEnded(t, "marker", 1)
	if got := o.ended(t, "refers"); got != want {
		t.Errorf("%d reconciliations, want %d", got, want)
	}
}

func (o operator) patch(t *testing.T, resource, name, patch string) {
	t.Helper()
	_, err := o.Dynamic.Resource(corev1.SchemeGroupVersion.WithResource(resource)).Namespace(o.ns).
		Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// miss calls a function that deletes objects of a resource, while the watch of this resource, and no other, is cut and its version expires.
func (o operator) miss(t *testing.T, resource string, deletes func()) {
	t.Helper()
	proxy, watch := o.Proxy(t, o.name), harness.Matching("watch", resource)
	restore := proxy.Fail(watch, 410)
	proxy.EndWatches(watch)
	list := proxy.Fail(harness.Matching("list", resource), 500)
	deletes()
	restore()
	list()
	harness.Eventually(t, "the watch runs again", func(context.Context) error {
		if proxy.Watches(watch) == 0 {
			return errors.New("it does not")
		}
		return nil
	})
}

func testTombstones(t *testing.T, o operator, hardened bool) {
	t.Helper()
	o.parent(t, "family", map[string]string{"children": "2"})
	children := func(want int) error {
		list, err := o.Kube.CoreV1().ServiceAccounts(o.ns).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		found := 0
		for _, account := range list.Items {
			if strings.HasPrefix(account.Name, "family-") {
				found++
			}
		}
		if found != want {
			return fmt.Errorf("%d children, want %d", found, want)
		}
		return nil
	}
	harness.Eventually(t, "the children are created", func(context.Context) error { return children(2) })
	o.awaitEnded(t, "family", 2)
	ended := o.ended(t, "family")

	o.miss(t, "serviceaccounts", func() {
		for _, name := range []string{"family-0", "family-1"} {
			if err := o.Kube.CoreV1().ServiceAccounts(o.ns).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	})
	if hardened {
		harness.Eventually(t, "the children are created again", func(context.Context) error { return children(2) })
		return
	}
	o.parent(t, "marker", nil)
	o.awaitEnded(t, "marker", 1)
	if got := o.ended(t, "family"); got != ended {
		t.Errorf("without the concern the parent was reconciled: %d, before %d: knative.dev/pkg may have repaired its filters", got, ended)
	}
}

func testPanic(t *testing.T, o operator, hardened bool) {
	t.Helper()
	o.parent(t, "bad", map[string]string{"panic": "boom"})
	o.outlives(t, hardened, "panic while reconciling "+o.ns+"/bad: boom")
}

func testHandlerPanic(t *testing.T, o operator, hardened bool) {
	t.Helper()
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "bad", Annotations: map[string]string{"handler": "panic"}},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
	}
	if _, err := o.Kube.CoreV1().Services(o.ns).Create(t.Context(), service, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	o.outlives(t, hardened, "An event handler panicked")
	if err := o.Kube.CoreV1().Services(o.ns).Delete(t.Context(), "bad", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// outlives checks that the process contains a panic, or ends.
func (o operator) outlives(t *testing.T, hardened bool, line string) {
	t.Helper()
	// The next process, which may contain no panic, would end at its start.
	defer func() {
		_ = o.Kube.CoreV1().ConfigMaps(o.ns).DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{})
	}()
	if !hardened {
		_ = o.awaitExit(t)
		return
	}
	o.awaitLine(t, line)
	o.parent(t, "marker", nil)
	o.awaitEnded(t, "marker", 1)
}

func testStop(t *testing.T, o operator, hardened bool) {
	t.Helper()
	o.parent(t, "slow", map[string]string{"pause": "4s"})
	o.awaitLine(t, "Begin "+o.ns+"/slow")
	o.stop(t, hardened)
	if o.ended(t, "slow") != 1 {
		t.Error("the process has not waited for the reconciliation")
	}
}

// stop ends the process while a reconciliation is running, and checks whether its lease is kept until then.
func (o operator) stop(t *testing.T, hardened bool) {
	t.Helper()
	mark := o.Mark(t)
	o.process.Stop(t)
	held := harness.ByRequest(func(r harness.Request) bool {
		return r.Verb == "update" && r.Resource == "leases" && strings.Contains(r.Name, ".00-of-01")
	})
	byLease := map[string]int{}
	for _, entry := range mark.Entries(t, harness.ByProcess(o.name), held) {
		byLease[entry.Name]++
	}
	released := slices.Sorted(maps.Values(byLease))
	if len(released) == 0 {
		t.Fatal("the lease was not released")
	}
	// Upstream's last update of the lease is its release at the signal; the hardened one renews it while the reconciliation is running.
	if renewed := released[0] > 2; renewed != hardened {
		t.Errorf("the leases were updated %d times after SIGTERM", released)
	}
}

func (o operator) awaitExit(t *testing.T) (exit error) {
	t.Helper()
	harness.Eventually(t, "the process ends", func(context.Context) error {
		exits := o.TakeExits()
		if len(exits) == 0 {
			return errors.New("it is running")
		}
		exit = exits[0]
		return nil
	})
	return exit
}

func (o operator) awaitLine(t *testing.T, line string) {
	t.Helper()
	harness.Eventually(t, fmt.Sprintf("the log has %q", line), func(context.Context) error {
		if !strings.Contains(o.process.Log(t), line) {
			return errors.New("it has not")
		}
		return nil
	})
}
