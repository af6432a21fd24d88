//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package availability

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"knative.dev/pkg/apis"
	"knative.dev/pkg/leaderelection"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/fixtures"
)

// A lease is no fence: writes have to be safe even if several processes lead.
func TestLeaders_AllLead_EachChildExistsOnce(t *testing.T) {
	for _, leaders := range []int{2, 5} {
		t.Run(strconv.Itoa(leaders), func(t *testing.T) {
			options := []harness.Option{harness.WithReplicas("controller", leaders), harness.WithReplicas("webhook", 1)}
			names := []string{"controller"}
			for i := 1; i < leaders; i++ {
				names = append(names, fmt.Sprintf("controller-%d", i))
			}
			for _, name := range names {
				options = append(options, harness.Without(name), harness.WithProxy(name))
			}
			env := harness.Own(t, options...)
			_, err := env.Kube.AppsV1().Deployments(env.SystemNamespace).Patch(t.Context(), "controller", types.JSONPatchType,
				[]byte(`[{"op":"add","path":"/spec/template/spec/containers/0/args","value":["--disable-ha"]}]`), metav1.PatchOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range names {
				env.Process(t, name).Start(t)
			}
			mark := env.Mark(t)
			f := newFarm(t, env, sets)
			changes := f.churn(t, rand.New(rand.NewPCG(uint64(leaders), uint64(time.Now().UnixNano()))))
			f.awaitRest(t, sets)
			conflicts := 0
			for _, name := range names {
				writes := mark.Entries(t, work, harness.ByProcess(name))
				if len(writes) == 0 {
					t.Errorf("%s has not written", name)
				}
				conflicts += len(slices.DeleteFunc(writes, func(e harness.AuditEntry) bool { return e.Code != http.StatusConflict }))
			}
			// Five processes create the same Pods and aliases. Two may happen to take turns.
			if leaders == 5 && conflicts == 0 {
				t.Error("no write has lost against another one")
			}
			t.Logf("%d changes, %d conflicts", changes, conflicts)
		})
	}
}

// The processes share the buckets of each kind.
func TestLeaders_SeveralBuckets_EachChildExistsOnce(t *testing.T) {
	t.Parallel()
	const few = 5
	env := harness.Own(t, harness.WithReplicas("controller", 2), harness.WithReplicas("webhook", 1), harness.Without("controller"), harness.Without("controller-1"),
		harness.WithProxy("controller"), harness.WithProxy("controller-1"))
	env.ExpectErrors(t, "lease")
	env.SetConfig(t, leaderelection.ConfigMapName(), map[string]string{"buckets": "3"})
	mark := env.Mark(t)
	env.Process(t, "controller").Start(t)
	f := newFarm(t, env, few)
	f.awaitRest(t, few)
	lose := env.Proxy(t, "controller").Fail(func(r harness.Request) bool {
		return r.Resource == "leases" && strings.HasSuffix(r.Name, ".01-of-03")
	}, http.StatusServiceUnavailable)
	env.Process(t, "controller-1").Start(t)
	harness.EventuallyWithin(t, patience, "each process has leases of buckets", func(ctx context.Context) error {
		leases, err := env.Kube.CoordinationV1().Leases(env.SystemNamespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		held := map[string]int{}
		for _, name := range []string{"controller", "controller-1"} {
			log := env.Process(t, name).Log(t)
			for _, lease := range leases.Items {
				if holder := ptr.Deref(lease.Spec.HolderIdentity, ""); strings.HasSuffix(lease.Name, "-of-03") && holder != "" && strings.Contains(log, holder) {
					held[name]++
				}
			}
		}
		// One of three buckets of each of three kinds.
		if want := map[string]int{"controller": 6, "controller-1": 3}; !maps.Equal(held, want) {
			return fmt.Errorf("they have %v, want %v", held, want)
		}
		return nil
	})
	lose()
	random := rand.New(rand.NewPCG(3, uint64(time.Now().UnixNano())))
	for range 200 {
		if err := f.change(t, random, few); err != nil {
			t.Fatal(err)
		}
	}
	f.awaitRest(t, few)
	t.Logf("writes: controller %d, controller-1 %d", len(mark.Entries(t, work, harness.ByProcess("controller"))), len(mark.Entries(t, work, harness.ByProcess("controller-1"))))
}

func TestLeader_SuspendedBeyondItsLease_TheStateIsRight(t *testing.T) {
	t.Parallel()
	const few = 5
	env := twoControllers(t)
	leader, standby := roles(t, env)
	f := newFarm(t, env, few)
	f.awaitRest(t, few)
	env.ExpectErrors(t, "lease")
	pid := env.Process(t, leader).PID()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	suspended := time.Now()
	random := rand.New(rand.NewPCG(1, uint64(suspended.UnixNano())))
	for time.Since(suspended) < leaseDuration+5*time.Second {
		if err := f.change(t, random, few); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond) //nolint:forbidigo // the rate of the load
	}
	harness.EventuallyWithin(t, patience, "the standby leads", func(context.Context) error {
		if now, err := holder(t, env); err != nil || now != standby {
			return fmt.Errorf("it is %q: %w", now, err)
		}
		return nil
	})
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if err := f.change(t, random, few); err != nil {
			t.Fatal(err)
		}
	}
	f.awaitRest(t, few)
	if now := env.Process(t, leader).PID(); now != pid {
		t.Errorf("the process that was suspended was %d and is %d", pid, now)
	}
}

// TestLeader_LeaseIsDeletedOrStolen_OneLeadsAgain includes leases of leaders whose clock has jumped. Such a leader is killed, so that the standby, which has to
// measure the lease's duration with its clock alone, takes over.
func TestLeader_LeaseIsDeletedOrStolen_OneLeadsAgain(t *testing.T) {
	t.Parallel()
	const few = 2
	env := twoControllers(t)
	env.ExpectErrors(t, "lease")
	leases := env.Kube.CoordinationV1().Leases(env.SystemNamespace)
	f := newFarm(t, env, few)
	f.awaitRest(t, few)
	random := rand.New(rand.NewPCG(2, uint64(time.Now().UnixNano())))
	renewed := func(holder *string, at time.Duration) func(context.Context) error {
		return func(ctx context.Context) error {
			lease, err := leases.Get(ctx, fixtures.ControllerLease, metav1.GetOptions{})
			if err != nil {
				return err
			}
			lease.Spec.HolderIdentity, lease.Spec.RenewTime = cmp.Or(holder, lease.Spec.HolderIdentity), &metav1.MicroTime{Time: time.Now().Add(at)}
			_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
			return err
		}
	}
	for name, harm := range map[string]func(ctx context.Context) error{
		"deleted": func(ctx context.Context) error {
			return leases.Delete(ctx, fixtures.ControllerLease, metav1.DeleteOptions{})
		},
		"stolen":       renewed(new("thief"), 0),
		"clock-ahead":  renewed(nil, time.Hour),
		"clock-behind": renewed(nil, -time.Hour),
	} {
		t.Run(name, func(t *testing.T) {
			if leader, _ := roles(t, env); strings.HasPrefix(name, "clock") {
				env.Process(t, leader).Kill(t)
				defer env.Process(t, leader).Start(t)
			}
			harness.Eventually(t, "the lease is "+name, harm) // it is renewed all the time
			as := fixtures.Published(f.ns, name)
			if _, err := fixtures.Client(env).SamplesV1().AddressableServices(f.ns).Create(t.Context(), as, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			harness.EventuallyWithin(t, patience, "the new object is ready", func(ctx context.Context) error {
				if err := f.change(t, random, few); err != nil {
					return err
				}
				as, err := fixtures.Client(env).SamplesV1().AddressableServices(f.ns).Get(ctx, name, metav1.GetOptions{})
				if err == nil && !as.Status.GetCondition(apis.ConditionReady).IsTrue() {
					err = errors.New("it is not")
				}
				return err
			})
			f.awaitOneWriter(t, name)
			if err := fixtures.Client(env).SamplesV1().AddressableServices(f.ns).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			f.awaitRest(t, few)
		})
	}
}

// awaitOneWriter waits until the holder of the lease alone writes about an object that changes repeatedly. A leader whose lease another process has taken
// leads for renew-deadline more, from its next renewal on.
func (f farm) awaitOneWriter(t *testing.T, name string) {
	t.Helper()
	objects := fixtures.Client(f.Env).SamplesV1().AddressableServices(f.ns)
	changes := 0
	harness.EventuallyWithin(t, patience, "the leader alone writes", func(ctx context.Context) error {
		leader, standby := roles(t, f.Env)
		mark := f.Mark(t)
		for range 20 {
			changes++
			path := fmt.Sprintf("/%d", changes)
			if _, err := objects.Patch(ctx, name, types.MergePatchType, fmt.Appendf(nil, `{"spec":{"path":%q}}`, path), metav1.PatchOptions{}); err != nil {
				return err
			}
			harness.Eventually(t, "the address has the path", func(ctx context.Context) error {
				as, err := objects.Get(ctx, name, metav1.GetOptions{})
				if err == nil && (as.Status.Address == nil || as.Status.Address.URL.Path != path) {
					err = fmt.Errorf("the address is %+v", as.Status.Address)
				}
				return err
			})
		}
		ofObject := func(e harness.AuditEntry) bool {
			return e.Resource == "addressableservices" && e.Namespace == f.ns && e.Name == name
		}
		by, also := mark.Entries(t, work, ofObject, harness.ByProcess(leader)), mark.Entries(t, work, ofObject, harness.ByProcess(standby))
		if len(by) == 0 || len(also) > 0 {
			return fmt.Errorf("%s, which leads, has written %d times, and %s %d times", leader, len(by), standby, len(also))
		}
		return nil
	})
}

// A leader without work learns only from its lease that another process leads.
func TestLeader_SuspendedBeyondItsLeaseWithoutWork_BecomesStandby(t *testing.T) {
	t.Parallel()
	env := twoControllers(t)
	env.ExpectErrors(t, "lease")
	f := newFarm(t, env, 1)
	f.awaitRest(t, 1)
	pids := map[string]int{}
	for _, name := range []string{"controller", "controller-1"} {
		pids[name] = env.Process(t, name).PID()
	}
	for range 8 {
		leader, standby := roles(t, env)
		if err := syscall.Kill(pids[leader], syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		harness.EventuallyWithin(t, patience, "the standby leads", func(context.Context) error {
			if now, err := holder(t, env); err != nil || now != standby {
				return fmt.Errorf("it is %q: %w", now, err)
			}
			return nil
		})
		if err := syscall.Kill(pids[leader], syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		awaitAttempts(t, env, leader, 6)
		if now, err := holder(t, env); err != nil || now != standby {
			t.Fatalf("%s leads, after the process that was suspended has looked at the lease: %v", now, err)
		}
	}
	for name, pid := range pids {
		if now := env.Process(t, name).PID(); now != pid {
			t.Errorf("%s, which was suspended, was %d and is %d", name, pid, now)
		}
	}
	f.awaitOneWriter(t, nameOf(0))
}
