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
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"knative.dev/pkg/apis"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/apis/config"
	"github.com/mallard-dev/mallard/test/fixtures"
)

const (
	// sets is the number of sets of objects: an AddressableService, a Deployment, an AddressBinding and a SimpleDeployment each.
	sets = 50
	// churn is the time during which they change, and atRest the time without writes at the end.
	churn, atRest = 2 * time.Minute, 10 * time.Second
)

const set = `
apiVersion: samples.knative.dev/v1
kind: AddressableService
metadata: {name: NAME}
spec:
  ref: {apiVersion: v1, kind: Service, name: target}
  publish: {alias: NAME-SUFFIX}
---` + fixtures.Bound + `---
apiVersion: samples.knative.dev/v1alpha1
kind: SimpleDeployment
metadata: {name: NAME}
spec: {image: first, replicas: 2}
`

// farm is a namespace with sets of objects that several controllers reconcile.
type farm struct {
	*harness.Env

	ns, suffix, directory string
}

func newFarm(t *testing.T, env *harness.Env, n int) farm {
	t.Helper()
	f := farm{Env: env, ns: env.Namespace(t), directory: directory}
	f.suffix = f.ns[len(f.ns)-5:]
	var manifest strings.Builder
	manifest.WriteString(fixtures.Target)
	for i := range n {
		manifest.WriteString("---" + strings.NewReplacer("NAME", nameOf(i), "SUFFIX", f.suffix).Replace(set))
	}
	env.Apply(t, f.ns, manifest.String())
	return f
}

func nameOf(i int) string { return fmt.Sprintf("o%03d", i) }

// change makes a random change, to an object or to what a controller has made of it.
func (f farm) change(ctx context.Context, random *rand.Rand, n int) error {
	name := nameOf(random.IntN(n))
	client := fixtures.Client(f.Env).SamplesV1()
	merge := func(format string, args ...any) []byte { return fmt.Appendf(nil, format, args...) }
	var err error
	switch random.IntN(7) {
	case 0: // another address
		_, err = client.AddressableServices(f.ns).Patch(ctx, name, types.MergePatchType, merge(`{"spec":{"path":"/%d"}}`, random.IntN(100)), metav1.PatchOptions{})
	case 1: // the same name again
		if err = client.AddressableServices(f.ns).Delete(ctx, name, metav1.DeleteOptions{}); err == nil {
			as := fixtures.Published(f.ns, name)
			if _, err = client.AddressableServices(f.ns).Create(ctx, as, metav1.CreateOptions{}); apierrors.IsAlreadyExists(err) {
				err = nil // it is being deleted; rebuild makes it again
			}
		}
	case 2: // its alias
		err = f.Kube.CoreV1().Services(f.directory).Delete(ctx, name+"-"+f.suffix, metav1.DeleteOptions{})
	case 3: // the variable
		_, err = f.Kube.AppsV1().Deployments(f.ns).Patch(ctx, name, types.JSONPatchType, []byte(`[{"op":"remove","path":"/spec/template/spec/containers/0/env"}]`), metav1.PatchOptions{})
	case 4: // the number of Pods
		_, err = fixtures.Client(f.Env).SamplesV1alpha1().SimpleDeployments(f.ns).Patch(ctx, name, types.MergePatchType, merge(`{"spec":{"replicas":%d}}`, 1+random.IntN(3)), metav1.PatchOptions{})
	case 5: // their image
		_, err = fixtures.Client(f.Env).SamplesV1alpha1().SimpleDeployments(f.ns).Patch(ctx, name, types.MergePatchType, merge(`{"spec":{"image":"v%d"}}`, random.IntN(100)), metav1.PatchOptions{})
	default: // one of them
		pods, listErr := f.Kube.CoreV1().Pods(f.ns).List(ctx, metav1.ListOptions{})
		if err = listErr; err == nil && len(pods.Items) > 0 {
			err = f.Kube.CoreV1().Pods(f.ns).Delete(ctx, pods.Items[random.IntN(len(pods.Items))].Name, metav1.DeleteOptions{})
		}
	}
	if apierrors.IsNotFound(err) || apierrors.IsInvalid(err) {
		return nil // it has been changed already
	}
	return err
}

// move makes another namespace the directory.
func (f *farm) move(t *testing.T) {
	t.Helper()
	to, roles := f.Namespace(t), f.Kube.RbacV1()
	role, err := roles.Roles(f.directory).Get(t.Context(), "mallard-directory", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	binding, err := roles.RoleBindings(f.directory).Get(t.Context(), "mallard-directory", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	role.ObjectMeta, binding.ObjectMeta = metav1.ObjectMeta{Name: role.Name}, metav1.ObjectMeta{Name: binding.Name}
	if _, err := roles.Roles(to).Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := roles.RoleBindings(to).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	f.SetConfig(t, config.AddressableName, map[string]string{"directory-namespace": to})
	f.directory = to
}

// churn changes objects for a time, after half of which the directory moves. It returns the number of changes.
func (f *farm) churn(t *testing.T, random *rand.Rand) (changes int) {
	t.Helper()
	for end := time.Now().Add(churn); time.Now().Before(end); changes++ {
		if f.directory == directory && time.Until(end) < churn/2 {
			f.move(t)
		}
		if err := f.change(t.Context(), random, sets); err != nil {
			t.Fatal(err)
		}
	}
	return changes
}

// rebuild creates the AddressableServices that were deleted.
func (f farm) rebuild(ctx context.Context, n int) error {
	objects := fixtures.Client(f.Env).SamplesV1().AddressableServices(f.ns)
	for i := range n {
		current, err := objects.Get(ctx, nameOf(i), metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			if _, err := objects.Create(ctx, fixtures.Published(f.ns, nameOf(i)), metav1.CreateOptions{}); err != nil {
				return err
			}
		case err != nil:
			return err
		case current.DeletionTimestamp != nil:
			return fmt.Errorf("%s is being deleted", current.Name)
		}
	}
	return nil
}

// settled returns an error unless each object is ready, and has exactly its children.
func (f farm) settled(ctx context.Context, n int) error {
	aliases, err := f.Kube.CoreV1().Services(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	aliases.Items = slices.DeleteFunc(aliases.Items, func(s corev1.Service) bool { return !strings.HasSuffix(s.Name, "-"+f.suffix) })
	elsewhere := slices.IndexFunc(aliases.Items, func(s corev1.Service) bool { return s.Namespace != f.directory })
	if len(aliases.Items) != n || elsewhere >= 0 {
		return fmt.Errorf("%d objects have %d aliases, of which number %d is not in the directory", n, len(aliases.Items), elsewhere)
	}
	pods, err := f.Kube.CoreV1().Pods(f.ns).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	images := map[types.UID][]string{}
	for _, pod := range pods.Items {
		if owner := metav1.GetControllerOf(&pod); owner == nil {
			return fmt.Errorf("Pod %s has no owner", pod.Name)
		} else if pod.DeletionTimestamp == nil {
			images[owner.UID] = append(images[owner.UID], pod.Spec.Containers[0].Image)
		}
	}
	for i := range n {
		as, err := fixtures.Client(f.Env).SamplesV1().AddressableServices(f.ns).Get(ctx, nameOf(i), metav1.GetOptions{})
		if err != nil {
			return err
		}
		if !as.Status.GetCondition(apis.ConditionReady).IsTrue() || as.Status.ObservedGeneration != as.Generation || as.Status.Address == nil {
			return fmt.Errorf("AddressableService %s: %+v", as.Name, as.Status)
		}
		deployment, err := f.Kube.AppsV1().Deployments(f.ns).Get(ctx, as.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if env := deployment.Spec.Template.Spec.Containers[0].Env; len(env) != 1 || env[0].Value != as.Status.Address.URL.String() {
			return fmt.Errorf("Deployment %s has the variables %+v, want the address %s", as.Name, env, as.Status.Address.URL)
		}
		sd, err := fixtures.Client(f.Env).SamplesV1alpha1().SimpleDeployments(f.ns).Get(ctx, as.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if have := images[sd.UID]; len(have) != int(sd.Spec.Replicas) || slices.ContainsFunc(have, func(image string) bool { return image != sd.Spec.Image }) {
			return fmt.Errorf("SimpleDeployment %s has Pods with %q, want %d with %s", sd.Name, have, sd.Spec.Replicas, sd.Spec.Image)
		}
	}
	return nil
}

// awaitRest waits until everything is as it should be and the controllers have stopped writing.
func (f farm) awaitRest(t *testing.T, n int) {
	t.Helper()
	harness.EventuallyWithin(t, patience, "every object has its children, and no others", func(ctx context.Context) error {
		if err := f.rebuild(ctx, n); err != nil {
			return err
		}
		return f.settled(ctx, n)
	})
	// Writes that undo each other would not end.
	mark, since := f.Mark(t), time.Now()
	harness.EventuallyWithin(t, patience, "the controllers stop writing", func(context.Context) error {
		if writes := mark.Entries(t, work, harness.ByUser(f.User("controller"))); len(writes) > 0 {
			mark, since = f.Mark(t), time.Now()
			return fmt.Errorf("%d writes, the first of which is %+v", len(writes), writes[0])
		}
		if quiet := time.Since(since); quiet < atRest {
			return fmt.Errorf("the last write was %v ago", quiet)
		}
		return nil
	})
	if err := f.settled(t.Context(), n); err != nil {
		t.Error(err)
	}
}

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
		if err := f.change(t.Context(), random, few); err != nil {
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
		if err := f.change(t.Context(), random, few); err != nil {
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
				as, err := fixtures.Client(env).SamplesV1().AddressableServices(f.ns).Get(ctx, name, metav1.GetOptions{})
				if err == nil && !as.Status.GetCondition(apis.ConditionReady).IsTrue() {
					err = errors.New("it is not")
				}
				return err
			})
			f.awaitOneWriter(t, name)
		})
	}
}

// awaitOneWriter waits until the holder of the lease alone writes about an object that changes repeatedly. A leader whose lease another process has taken
// leads for renew-deadline more.
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
