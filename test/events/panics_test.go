/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package events

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
)

// panicking is set for the process that TestHandler_Panics starts.
const panicking = "EVENTS_TEST_PANICS"

func TestHandler_Panics_ProcessEnds(t *testing.T) {
	if os.Getenv(panicking) != "" {
		panicInHandler(t, func(cache.ResourceEventHandlerRegistration) {})
		return
	}
	said, err := rerun(t)
	if err == nil || !strings.Contains(said, "induced panic") {
		t.Errorf("the process ends with %v:\n%s", err, said)
	}
}

func TestHandler_PanicsInTheInitialListWithReallyCrashOff_NeverSyncs(t *testing.T) {
	if os.Getenv(panicking) == "" {
		if said, err := rerun(t); err != nil {
			t.Errorf("the process ends with %v:\n%s", err, said)
		}
		return
	}
	utilruntime.ReallyCrash = false
	panicInHandler(t, func(registration cache.ResourceEventHandlerRegistration) {
		if registration.HasSynced() {
			t.Error("the handler has synced")
		}
	})
}

// panicInHandler has a handler panic with the first object, and calls then once it has been called with the second one.
func panicInHandler(t *testing.T, then func(cache.ResourceEventHandlerRegistration)) {
	t.Helper()
	s := newServer("5", it("a", "3"))
	informer, after := s.informer(t, 0), make(chan struct{}, 1)
	registration := add(t, informer, cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		if obj.(*corev1.ConfigMap).Name == "a" {
			panic("induced panic")
		}
		after <- struct{}{}
	}})
	run(t, informer)
	added := it("b", "6")
	s.watched(t).Add(&added)
	receive(t, after, "the second object")
	then(registration)
}

// rerun runs the test in a separate process.
func rerun(t *testing.T) (string, error) {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	command := exec.CommandContext(t.Context(), self, "-test.run", "^"+t.Name()+"$")
	command.Env = append(os.Environ(), panicking+"=1")
	said, err := command.CombinedOutput()
	return string(said), err
}
