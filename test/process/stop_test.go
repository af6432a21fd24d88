//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package process

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/localcluster/env/processes"
	"github.com/mallard-dev/mallard/test/fixtures"
)

// grace is terminationGracePeriodSeconds of the Deployments.
const grace = 30 * time.Second

const sample = fixtures.Target + "---" + `
apiVersion: samples.knative.dev/v1
kind: AddressableService
metadata: {name: subject}
spec:
  ref: {apiVersion: v1, kind: Service, name: target}
`

func TestController_SIGTERM_ExitsZeroAndReleasesItsLeases(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.WithOverlay("hooks"))
	for _, name := range []string{"controller", "hooks", "webhook"} {
		t.Run(name, func(t *testing.T) {
			harness.Eventually(t, "the process has its leases", func(ctx context.Context) error {
				if held := heldLeases(ctx, t, env, name); len(held) == 0 {
					return errors.New("it has none")
				}
				return nil
			})
			terminate(t, env, name)
			awaitEnd(t, env, name)
			if held := heldLeases(t.Context(), t, env, name); len(held) > 0 {
				t.Errorf("the leases %q are still held", held)
			}
			// So the next one need not wait until they have run out.
			env.Process(t, name).Start(t)
		})
	}
	ns := env.Namespace(t)
	env.Await(t, env.Apply(t, ns, sample)[1], harness.Ready)
}

func TestWebhook_SIGTERM_ServesWhileItStops(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.Without("webhook"))
	process := newProbed(t, env, "webhook")
	process.Start(t)
	process.awaitReady(t)
	ns := env.Namespace(t)

	terminate(t, env, "webhook")
	process.awaitUnready(t, "stopping")
	// Until the API server has noticed, it sends requests here.
	env.Apply(t, ns, sample)
	_, err := env.TryApply(t, ns, strings.Replace(sample, "kind: Service, name: target", "kind: Service, name: Target", 1))
	if err == nil || !strings.Contains(err.Error(), "spec.ref.name") {
		t.Errorf("a bad object: got error %v, want one that names spec.ref.name", err)
	}
	awaitEnd(t, env, "webhook")
}

// terminate sends SIGTERM to a process, as the kubelet does.
func terminate(t *testing.T, env *harness.Env, name string) {
	t.Helper()
	if err := syscall.Kill(env.Process(t, name).PID(), syscall.SIGTERM); err != nil {
		t.Fatalf("sending SIGTERM to the %s: %v", name, err)
	}
}

// awaitEnd waits until a process that received SIGTERM has exited, which has to be with the exit status 0.
func awaitEnd(t *testing.T, env *harness.Env, name string) {
	t.Helper()
	var exit *processes.ExitError
	if err := awaitExit(t, env); !errors.As(err, &exit) || exit.Process != name || exit.Err != nil {
		t.Errorf("got %v, want that the %s has ended with exit status 0", err, name)
	}
}

// awaitExit waits for the notice that a process has ended, and takes it.
func awaitExit(t *testing.T, env *harness.Env) error {
	t.Helper()
	var notice error
	harness.EventuallyWithin(t, grace, "a process has ended", func(context.Context) error {
		exits := env.TakeExits()
		if len(exits) == 0 {
			return errors.New("none has")
		}
		notice = errors.Join(exits...)
		return nil
	})
	return notice
}

// heldLeases returns the names of the leases of a process that are held.
func heldLeases(ctx context.Context, t *testing.T, env *harness.Env, name string) []string {
	t.Helper()
	list, err := env.Kube.CoordinationV1().Leases(env.SystemNamespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var held []string
	for _, lease := range list.Items {
		if holder := lease.Spec.HolderIdentity; strings.HasPrefix(lease.Name, name+".") && holder != nil && *holder != "" {
			held = append(held, lease.Name)
		}
	}
	return held
}
