/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hooks

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/injection/sharedmain"
	"knative.dev/pkg/logging"

	"github.com/mallard-dev/mallard/crud/hook"
	"github.com/mallard-dev/mallard/crud/operations"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// killEnv is set in a child process that runs a hook with a plan: kubeconfig, namespace, number of the plan, and of the request before which the
// process kills itself, and the name of the object because of which the hook has a plan.
const killEnv = "HOOKS_TEST_KILL"

const (
	createGenerated = `{operationType: Create, spec: {apiVersion: v1, kind: ConfigMap, metadata: {generateName: generated-}}}`
	createNamed     = `{operationType: Create, spec: {apiVersion: v1, kind: ConfigMap, metadata: {name: named}}}`
	createRole      = `{operationType: Create, spec: {apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {generateName: r-}}}`
	mergePresent    = `{operationType: MergePatch, kind: ConfigMap, name: present, spec: {data: {merged: "1"}}}`
	increment       = `{operationType: JQPatch, kind: ConfigMap, name: present, spec: '.data.count |= (tonumber + 1 | tostring)'}`
	moveValue       = `{operationType: JSONPatch, kind: ConfigMap, name: present, spec: [{op: move, from: /data/a, path: /data/b}]}`
	appendRule      = `{operationType: JSONPatch, kind: Role, name: rules, spec: [{op: add, path: /rules/-, value: {apiGroups: [""], resources: [pods], verbs: [get]}}]}`
	removeRule      = `{operationType: JSONPatch, kind: Role, name: rules, spec: [{op: remove, path: /rules/0}]}`
	upsertPresent   = `{operationType: CreateOrUpdate, spec: {apiVersion: v1, kind: ConfigMap, metadata: {name: present}, data: {upserted: "1"}}}`
	createAbsent    = `{operationType: CreateIfNotExists, spec: {apiVersion: v1, kind: ConfigMap, metadata: {name: absent}}}`
	deleteFirst     = `{operationType: EnsureDeleted, kind: ConfigMap, name: first}`
	deleteSecond    = `{operationType: EnsureDeletedInBackground, kind: ConfigMap, name: second}`
	// done is the end of each plan. Nothing may follow the mark, which causes a run with another task.
	done = `{operationType: CreateOrUpdate, spec: {apiVersion: v1, kind: ConfigMap, metadata: {name: done}}}`
	mark = `{operationType: MergePatch, kind: ConfigMap, name: trigger, spec: {metadata: {annotations: {done: "true"}}}}`
)

// killedPlans are the plans during which processes are killed. The first one is for each commit.
var killedPlans = [][]string{
	{createGenerated, createNamed, mergePresent, done},
	{createGenerated, createGenerated, done},
	{appendRule, appendRule, done},
	{removeRule, appendRule, removeRule, done},
	{increment, increment, done},
	{increment, createNamed, increment, done, mark},
	{deleteFirst, createGenerated, deleteSecond, done},
	{moveValue, createRole, upsertPresent, done},
	{createAbsent, increment, mergePresent, moveValue, done},
	{createRole, createRole, appendRule, done, mark},
	{upsertPresent, createNamed, removeRule, done},
	{deleteSecond, moveValue, createNamed, increment, appendRule, createGenerated, done},
}

// counting calls at before each request of a plan.
type counting struct {
	next http.RoundTripper
	n    atomic.Int64
	at   func(n int64)
}

func (c *counting) RoundTrip(request *http.Request) (*http.Response, error) {
	path := request.URL.Path
	if strings.Contains(path, "/namespaces/") && !strings.HasSuffix(path, "/events") && (request.Method != http.MethodGet || !strings.HasSuffix(path, "/configmaps")) {
		c.at(c.n.Add(1))
	}
	return c.next.RoundTrip(request)
}

// runAndKill is the child process. It prints a line for each request.
func runAndKill() error {
	fields := strings.Fields(os.Getenv(killEnv))
	namespace := fields[1]
	plan, err := strconv.Atoi(fields[2])
	if err != nil {
		return err
	}
	killed, err := strconv.ParseInt(fields[3], 10, 64)
	if err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", fields[0])
	if err != nil {
		return err
	}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &counting{next: next, at: func(n int64) {
			fmt.Println(n)
			if n == killed {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
		}}
	})
	bindings := hook.Bindings{Kubernetes: []hook.Kubernetes{{
		Kind: "ConfigMap", NameSelector: &hook.NameSelector{MatchNames: []string{"trigger", "added"}},
		Namespace: &hook.NamespaceSelector{NameSelector: &hook.NameSelector{MatchNames: []string{namespace}}},
	}}}
	construct, err := hook.NewController(hook.Options{RetryDelay: 50 * time.Millisecond, MaxRetryDelay: time.Second},
		hook.Func(namespace+"-killed", bindings, func(_ context.Context, run *hook.Run) error {
			objects := slices.Collect(run.Objects())
			isCause := func(o *unstructured.Unstructured) bool {
				return o.GetName() == fields[4] && o.GetAnnotations()["done"] == ""
			}
			if !slices.ContainsFunc(objects, isCause) {
				fmt.Println("no plan")
				return nil
			}
			file, err := operations.Parse([]byte("---\n" + strings.Join(killedPlans[plan], "\n---\n")))
			for i, op := range file.Operations {
				if file.Operations[i].Namespace = namespace; op.Object != nil {
					op.Object.SetNamespace(namespace)
				}
			}
			run.Add(file.Operations...)
			run.Plan.SkipPreflight = killed != resuming
			return err
		}))
	if err != nil {
		return err
	}
	ctx := injection.WithConfig(logging.WithLogger(context.Background(), zap.Must(zap.NewDevelopment(zap.IncreaseLevel(zap.ErrorLevel))).Sugar()), config)
	ctx, informers := injection.Default.SetupInformers(ctx, config)
	controllers, _ := sharedmain.ControllersAndWebhooksFromCtors(ctx, nil, construct)
	if err := controller.StartInformers(ctx.Done(), informers...); err != nil {
		return err
	}
	return controller.StartAll(ctx, controllers...)
}

// killedScene is a namespace with the objects that a plan changes.
type killedScene struct {
	*testing.T

	env  *harness.Env
	ns   string
	plan int
	// cause is the name of the object because of which the hook has a plan.
	cause string
}

func newKilledScene(t *testing.T, plan int) *killedScene {
	t.Helper()
	env := harness.Shared(t)
	s := &killedScene{t, env, env.Namespace(t), plan, "trigger"}
	env.Apply(t, s.ns, `
{apiVersion: v1, kind: ConfigMap, metadata: {name: trigger}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: present}, data: {count: "1", a: "1"}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: first}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: second}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: rules}, rules: [{apiGroups: [""], resources: [nodes], verbs: [get]}, {apiGroups: [""], resources: [secrets], verbs: [get]}]}
`)
	return s
}

// start starts a process that kills itself before a request.
func (s *killedScene) start(request int) (*exec.Cmd, *bufio.Scanner) {
	s.Helper()
	child := exec.CommandContext(s.Context(), os.Args[0])
	child.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %d %d %s", killEnv, s.env.Kubeconfig, s.ns, s.plan, request, s.cause))
	child.Stderr = s.Output()
	output, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		s.Fatal(err)
	}
	return child, bufio.NewScanner(output)
}

// state returns the objects, without what differs in each namespace.
func (s *killedScene) state(ctx context.Context) (state []string, _ error) {
	for _, resource := range []schema.GroupVersionResource{corev1.SchemeGroupVersion.WithResource("configmaps"), rbacv1.SchemeGroupVersion.WithResource("roles")} {
		list, err := s.env.Dynamic.Resource(resource).Namespace(s.ns).List(ctx, metav1.ListOptions{FieldSelector: "metadata.name!=kube-root-ca.crt"})
		if err != nil {
			return nil, err
		}
		for _, object := range list.Items {
			name := object.GetName()
			if base := object.GetGenerateName(); base != "" {
				name = base
			}
			ids := strings.Fields(object.GetAnnotations()["crud.mallard.dev/operations"])
			mark := object.GetAnnotations()["done"]
			delete(object.Object, "metadata")
			content, err := json.Marshal(object.Object)
			if err != nil {
				return nil, err
			}
			state = append(state, fmt.Sprintf("%s %d %s %s", name, len(ids), mark, content))
		}
	}
	slices.Sort(state)
	return state, nil
}

// Processes that do not kill themselves. That which resumes begins with a preflight, whose requests change nothing.
const (
	resuming    = 0
	undisturbed = -1
)

// complete runs the plan in a process to its end, and returns the state and the number of requests.
func (s *killedScene) complete(how int) (state []string, requests int) {
	s.Helper()
	child, output := s.start(how)
	harness.Eventually(s, "the plan is complete", func(ctx context.Context) (err error) {
		state, err = s.state(ctx)
		isDone := func(line string) bool { return strings.HasPrefix(line, "done ") }
		isMarked := func(line string) bool { return strings.HasPrefix(line, "trigger 0 true") }
		if err == nil && (!slices.ContainsFunc(state, isDone) || slices.Contains(killedPlans[s.plan], mark) && !slices.ContainsFunc(state, isMarked)) {
			err = errors.New("it is not")
		}
		return err
	})
	if err := child.Process.Kill(); err != nil {
		s.Error(err)
	}
	for output.Scan() {
		if output.Text() != "no plan" {
			requests++
		}
	}
	_ = child.Wait() // it was killed
	return state, requests
}

// awaitKill waits until a process has killed itself.
func (s *killedScene) awaitKill(child *exec.Cmd, output *bufio.Scanner) {
	s.Helper()
	for output.Scan() { // until the process ends
	}
	if err := child.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		s.Fatalf("the process was not killed: %v", err)
	}
}

// addCause creates the object because of which the hook has a plan.
func (s *killedScene) addCause() {
	s.Helper()
	s.cause = "added"
	s.env.Apply(s, s.ns, "{apiVersion: v1, kind: ConfigMap, metadata: {name: added}}")
}

// Whenever a process of hooks is killed during a plan, the next one completes it, and executes nothing twice.
func TestHook_KilledAtEachRequest_TheNextProcessConverges(t *testing.T) {
	for plan := range killedPlans[:mostKilledPlans] {
		t.Run(fmt.Sprintf("plan-%d", plan+1), func(t *testing.T) {
			t.Parallel()
			want, total := newKilledScene(t, plan).complete(undisturbed)
			t.Logf("%d requests, the state is %s", total, strings.Join(want, "\n"))
			for request := 1; request <= total; request += killedEach {
				s := newKilledScene(t, plan)
				child, output := s.start(request)
				s.awaitKill(child, output)
				got, _ := s.complete(resuming)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("killed before request %d: another state than after a run that was not disturbed (-want +got):\n%s", request, diff)
				}
			}
		})
	}
}

// The Synchronization of the next process continues the plan of an Event, since the hook has then received the same objects in the same states.
func TestHook_KilledInTheRunOfAnEvent_TheSynchronizationContinuesIt(t *testing.T) {
	t.Parallel()
	undisturbedScene := newKilledScene(t, 0)
	undisturbedScene.addCause()
	want, total := undisturbedScene.complete(undisturbed)
	for request := 2; request <= total; request += killedEach {
		s := newKilledScene(t, 0)
		s.cause = "added"
		child, output := s.start(request)
		if !output.Scan() || output.Text() != "no plan" {
			t.Fatalf("the Synchronization is not the first run: %q", output.Text())
		}
		s.addCause()
		s.awaitKill(child, output)
		got, _ := s.complete(resuming)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("killed before request %d: another state than after a run that was not disturbed (-want +got):\n%s", request, diff)
		}
	}
}
