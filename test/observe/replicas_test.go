/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/utils/ptr"

	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/signals"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/localcluster/env/procgroup"
	"github.com/mallard-dev/mallard/observe"
	"github.com/mallard-dev/mallard/runtime/leader"
	"github.com/mallard-dev/mallard/runtime/process"
)

// replicaVariable is the environment variable with which the test binary is a replica of an operator that has observers and no controllers.
const replicaVariable = "MALLARD_TEST_REPLICA"

// Values of the label it, for the replicas' observers.
const (
	slow  = "slow"
	stuck = "stuck"
)

func init() {
	if os.Getenv(replicaVariable) == "" {
		return
	}
	source := observe.Selected[*corev1.ConfigMap](kubeclient.Get, coreinformers.NewFilteredConfigMapInformer,
		observe.InNamespace(os.Getenv(replicaVariable)), observe.Labels("it"))
	printing := func(observer string) observe.Handler[*corev1.ConfigMap] {
		return func(_ context.Context, e observe.Event[*corev1.ConfigMap]) error {
			fmt.Println(recordPrefix+observer, textOf(e))
			if e.Object.Labels["it"] == slow {
				time.Sleep(50 * time.Millisecond) //nolint:forbidigo // it is slow
			}
			return nil
		}
	}
	observe.Register("leading", source, printing("leading"))
	observe.Register("everywhere", source, printing("everywhere"), observe.Options[*corev1.ConfigMap]{Scope: observe.EveryReplica})
	observe.Register("stuck", source, func(context.Context, observe.Event[*corev1.ConfigMap]) error { select {} },
		observe.Options[*corev1.ConfigMap]{Scope: observe.EveryReplica, Where: func(cm *corev1.ConfigMap) bool { return cm.Labels["it"] == stuck }})
}

const replicaComponent = "replica"

// recordPrefix begins the lines in which a replica prints the events that its observers receive.
const recordPrefix = "received by "

// runReplica is the main function of a replica.
func runReplica() {
	var settings process.Settings
	process.MustLoad(replicaComponent, "has observers", &settings)
	process.Run(signals.NewContext(), process.Process{
		Component: replicaComponent, Settings: settings, Parsers: process.NewParsers(nil, replicaComponent),
	})
}

// replica is a running replica.
type replica struct {
	group *procgroup.Group

	mu    sync.Mutex
	lines []string
}

// startReplica starts a replica that observes a namespace. Its ConfigMaps and leases are in another.
func startReplica(t *testing.T, env *harness.Env, system, observed, name string) *replica {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := &replica{}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), replicaVariable+"="+observed, "KUBECONFIG="+env.Kubeconfig, "SYSTEM_NAMESPACE="+system, "POD_NAME="+name)
	for _, variable := range []string{"HEALTH_PORT", "PROFILING_PORT", "METRICS_PROMETHEUS_PORT"} {
		cmd.Env = append(cmd.Env, variable+"="+freePort(t))
	}
	output, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	if r.group, err = procgroup.Start(cmd); err != nil {
		t.Fatal(err)
	}
	go func() {
		<-r.group.Done()
		_ = w.Close()
	}()
	go func() {
		for scanner := bufio.NewScanner(output); scanner.Scan(); {
			r.mu.Lock()
			r.lines = append(r.lines, scanner.Text())
			r.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		_ = r.group.Kill()
		<-r.group.Done()
		if t.Failed() {
			t.Logf("replica %s:\n%s", name, strings.Join(r.output(), "\n"))
		}
	})
	return r
}

func freePort(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func (r *replica) output() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.lines)
}

// received returns the events that an observer has received so far.
func (r *replica) received(observer string) (events []string) {
	for _, line := range r.output() {
		if event, ok := strings.CutPrefix(line, recordPrefix+observer+" "); ok {
			events = append(events, event)
		}
	}
	return events
}

// await waits until an observer has received these events, those of each object in this order, and no others.
func (r *replica) await(t *testing.T, observer string, want ...string) {
	t.Helper()
	harness.EventuallyWithin(t, 2*harness.Deadline, fmt.Sprintf("observer %s receives %q", observer, want), func(context.Context) error {
		if got := r.received(observer); !slices.Equal(byObject(got), byObject(want)) {
			return fmt.Errorf("it has received %q", got)
		}
		return nil
	})
}

// replicas is a namespace with the ConfigMaps of replicas, and one that they observe.
func replicas(t *testing.T) (env *harness.Env, system, observed string) {
	t.Helper()
	env = harness.Shared(t)
	system, observed = env.Namespace(t), env.Namespace(t)
	for name, data := range map[string]map[string]string{
		"config-logging": {}, "config-observability": {},
		"config-leader-election": {"lease-duration": "10s", "renew-deadline": "6s", "retry-period": "250ms"},
	} {
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}
		if _, err := env.Kube.CoreV1().ConfigMaps(system).Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return env, system, observed
}

func TestReplicas_LeaderIsKilled_TheNextReceivesEachObjectOnce(t *testing.T) {
	env, system, observed := replicas(t)
	s := &scene{Env: env, ns: observed, kube: env.Kube, near: env.Kube}
	var listed, updated []string
	for i := range 10 {
		s.create(t, strconv.Itoa(i), "1")
		listed = append(listed, fmt.Sprintf("Added %d listed", i))
		updated = append(updated, fmt.Sprintf("Updated %d 1→2", i))
	}
	s.settle(t, 10)
	first := startReplica(t, env, system, observed, "first")
	first.await(t, "leading", listed...)
	first.await(t, "everywhere", listed...)
	second := startReplica(t, env, system, observed, "second")
	second.await(t, "everywhere", listed...)
	for i := range 10 {
		s.update(t, strconv.Itoa(i), "2")
	}
	everywhere := slices.Concat(listed, updated)
	first.await(t, "leading", everywhere...)
	for _, r := range []*replica{first, second} {
		r.await(t, "everywhere", everywhere...)
	}

	if err := first.group.Kill(); err != nil {
		t.Fatal(err)
	}
	<-first.group.Done()
	if got := second.received("leading"); len(got) != 0 {
		t.Errorf("while the other replica led, the second received %q", got)
	}
	// Between two leaders, one object is deleted and one is created.
	s.delete(t, "0")
	s.create(t, "new", "1")
	second.await(t, "leading", append(slices.Clone(listed[1:]), "Added new listed")...)
	s.update(t, "1", "3")
	second.await(t, "leading", append(slices.Clone(listed[1:]), "Added new listed", "Updated 1 2→3")...)
	second.await(t, "everywhere", append(everywhere, "Deleted 0", "Added new", "Updated 1 2→3")...)
}

func TestReplica_Terminated_DrainsWhatIsPendingAndNamesTheObserverThatIsStuck(t *testing.T) {
	const objects = 100
	env, system, observed := replicas(t)
	s := &scene{Env: env, ns: observed, kube: env.Kube, near: env.Kube}
	s.create(t, stuck, stuck)
	s.settle(t, 1)
	r := startReplica(t, env, system, observed, "only")
	r.await(t, "everywhere", "Added stuck listed")
	r.await(t, "leading", "Added stuck listed")
	want := []string{"Added stuck listed"}
	for i := range objects {
		s.create(t, strconv.Itoa(i), slow)
		want = append(want, fmt.Sprintf("Added %d", i))
	}
	harness.Eventually(t, "the events arrive", func(context.Context) error {
		if len(r.received("everywhere")) < 2 || len(r.received("leading")) < 2 {
			return errors.New("none has")
		}
		return nil
	})
	if err := r.group.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-r.group.Done():
	case <-time.After(harness.Deadline):
		t.Fatal("the process does not end")
	}
	for _, observer := range []string{"everywhere", "leading"} {
		r.await(t, observer, want...)
	}
	lease, err := env.Kube.CoordinationV1().Leases(system).Get(t.Context(), leader.LeaseNames(replicaComponent, 1)[0], metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if holder := ptr.Deref(lease.Spec.HolderIdentity, ""); holder != "" {
		t.Errorf("the lease is held by %q after the end, want nobody", holder)
	}
	last := r.output()[len(r.output())-1]
	if reason := `observer "stuck": the events of 1 objects were not delivered`; !strings.Contains(last, reason) || strings.Contains(last, `"leading"`) {
		t.Errorf("the process ends with %q, want %q and no other observer", last, reason)
	}
	if exit, ok := errors.AsType[*exec.ExitError](r.group.Err()); !ok || exit.ExitCode() != 1 {
		t.Errorf("the process ends with %v, want exit code 1", r.group.Err())
	}
}
