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
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/injection/sharedmain"

	"github.com/mallard-dev/mallard/hardening"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/localcluster/env/procgroup"
	"github.com/mallard-dev/mallard/observe"
)

// replicaVariable is the environment variable with which the test binary is a replica of an operator that has observers and no controllers.
const replicaVariable = "MALLARD_TEST_REPLICA"

// Values of the label it, for the replicas' observers.
const (
	pending = "pending"
	stuck   = "stuck"
)

func init() {
	if os.Getenv(replicaVariable) == "" {
		return
	}
	source := observe.Selected[*corev1.ConfigMap](kubeclient.Get, coreinformers.NewFilteredConfigMapInformer,
		observe.InNamespace(os.Getenv(replicaVariable)), observe.Labels("it"))
	terminated, _ := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	printing := func(observer string) observe.Handler[*corev1.ConfigMap] {
		return func(_ context.Context, e observe.Event[*corev1.ConfigMap]) error {
			fmt.Println(recordPrefix+observer, textOf(e))
			if e.Object.Labels["it"] == pending {
				<-terminated.Done()
			}
			return nil
		}
	}
	makeMistake(source)
	observe.Register("leading", source, printing("leading"), observe.Options[*corev1.ConfigMap]{Where: arrivingAt("leading")})
	observe.Register("everywhere", source, printing("everywhere"),
		observe.Options[*corev1.ConfigMap]{Scope: observe.EveryReplica, Where: arrivingAt("everywhere")})
	observe.Register("stuck", source, func(context.Context, observe.Event[*corev1.ConfigMap]) error { select {} },
		observe.Options[*corev1.ConfigMap]{Scope: observe.EveryReplica, Where: func(cm *corev1.ConfigMap) bool { return cm.Labels["it"] == stuck }})
}

// arrivingAt prints which objects arrive in the queue of an observer.
func arrivingAt(observer string) func(*corev1.ConfigMap) bool {
	return func(cm *corev1.ConfigMap) bool {
		fmt.Println(arrivalPrefix+observer, cm.Name)
		return true
	}
}

// arrivalPrefix begins the lines in which a replica prints the objects that arrive in the queues of its observers.
const arrivalPrefix = "arrived at "

// recordPrefix begins the lines in which a replica prints the events that its observers receive.
const recordPrefix = "received by "

// runReplica is the main function of a replica.
func runReplica() {
	sharedmain.Main("replica", hardening.Constructors(observe.Constructors()...)...)
	hardening.Exit()
}

// operator is an operator of which replicas are started.
type operator struct {
	*scene

	// system is the namespace of its ConfigMaps and leases. It observes that of the scene.
	system string
	// kubeconfig and variables are those of its replicas.
	kubeconfig string
	variables  []string
}

// eachOperator runs a case with replicas whose lists are streamed, and with replicas whose lists are not.
func eachOperator(t *testing.T, test func(*testing.T, *operator)) {
	t.Helper()
	for name, streamed := range modes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOperator(t)
			o.variables = append(o.variables, fmt.Sprint("KUBE_FEATURE_WatchListClient=", streamed))
			test(t, o)
		})
	}
}

func newOperator(t *testing.T) *operator {
	t.Helper()
	env := harness.Shared(t)
	o := &operator{scene: &scene{Env: env, ns: env.Namespace(t), kube: env.Kube, near: env.Kube}, system: env.Namespace(t), kubeconfig: env.Kubeconfig}
	for name, data := range map[string]map[string]string{
		"config-logging": {}, "config-observability": {},
		"config-leader-election": {"lease-duration": "10s", "renew-deadline": "6s", "retry-period": "250ms"},
	} {
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}
		if _, err := env.Kube.CoreV1().ConfigMaps(o.system).Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

// connect has replicas use a changed kubeconfig.
func (o *operator) connect(t *testing.T, change func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo)) {
	t.Helper()
	config, err := clientcmd.LoadFromFile(o.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	current := config.Contexts[config.CurrentContext]
	change(config.Clusters[current.Cluster], config.AuthInfos[current.AuthInfo])
	o.kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, o.kubeconfig); err != nil {
		t.Fatal(err)
	}
}

// replica is a running replica.
type replica struct {
	group *procgroup.Group
	// readiness is the address of its probe.
	readiness string

	mu    sync.Mutex
	lines []string
}

// start starts a replica.
func (o *operator) start(t *testing.T, name string) *replica {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return o.startProgram(t, name, self)
}

func (o *operator) startProgram(t *testing.T, name, program string) *replica {
	t.Helper()
	probes := freePort(t)
	r := &replica{readiness: "http://127.0.0.1:" + probes + "/readiness"}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), replicaVariable+"="+o.ns, "KUBECONFIG="+o.kubeconfig, "SYSTEM_NAMESPACE="+o.system, "POD_NAME="+name,
		"HEALTH_PORT="+probes, "PROFILING_PORT="+freePort(t), "METRICS_PROMETHEUS_PORT="+freePort(t))
	cmd.Env = append(cmd.Env, o.variables...)
	output, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	group, err := procgroup.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	r.group = group
	go func() {
		<-r.group.Done()
		_ = w.Close()
	}()
	go func() {
		reader := bufio.NewReader(output)
		for {
			// Some lines are longer than a scanner accepts.
			line, err := reader.ReadString('\n')
			if err != nil {
				return
			}
			r.mu.Lock()
			r.lines = append(r.lines, strings.TrimSuffix(line, "\n"))
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

// awaitLine waits until the replica has printed a line with these parts.
func (r *replica) awaitLine(t *testing.T, parts ...string) {
	t.Helper()
	harness.Eventually(t, fmt.Sprintf("a line with %q", parts), func(context.Context) error {
		for _, line := range r.output() {
			if !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(line, part) }) {
				return nil
			}
		}
		return errors.New("no replica leads")
	})
}

// awaitEnd waits until the process has ended by itself.
func (r *replica) awaitEnd(t *testing.T) {
	t.Helper()
	select {
	case <-r.group.Done():
	case <-time.After(harness.Deadline):
		t.Fatal("the process does not end")
	}
}

// ready returns an error unless the replica is ready.
func (r *replica) ready(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.readiness, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if reason, _ := io.ReadAll(response.Body); response.StatusCode != http.StatusOK {
		return fmt.Errorf("it is not ready: %s", reason)
	}
	return nil
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
