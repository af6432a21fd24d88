/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
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

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/operations"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// killEnv is set in a child process that runs the plan and is killed: kubeconfig, namespace, number of the request, and when.
const killEnv = "CRUD_TEST_KILL"

// everyOperation is a file with each operation of files; the others are added to it.
const everyOperation = `
operationType: Create
spec: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: $NS, name: created}}
---
operationType: Create
spec: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: $NS, generateName: generated-}}
---
operationType: CreateOrUpdate
spec: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: $NS, name: present}, data: {k: "2"}}
---
operationType: CreateOrUpdate
spec: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: $NS, name: absent}, data: {k: "1"}}
---
operationType: CreateIfNotExists
spec: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: $NS, name: other}}
---
{operationType: MergePatch, kind: Widget, namespace: $NS, name: w, spec: {spec: {size: 2}}}
---
{operationType: JSONPatch, kind: Widget, namespace: $NS, name: w, spec: [{op: add, path: /spec/list/-, value: json}]}
---
{operationType: JSONPatch, kind: Widget, namespace: $NS, name: w, spec: [{op: remove, path: /spec/list/0}]}
---
{operationType: JSONPatch, kind: Widget, namespace: $NS, name: w, spec: [{op: move, from: /spec/list/0, path: /spec/list/1}]}
---
{operationType: JSONPatch, kind: Widget, namespace: $NS, name: w, spec: [{op: replace, path: /spec/size, value: 3}]}
---
{operationType: JSONPatch, statusPatch: true, kind: Widget, namespace: $NS, name: w, spec: [{op: add, path: /status, value: {phase: patched}}]}
---
{operationType: JQPatch, kind: Widget, namespace: $NS, name: w, spec: '.spec.list += ["jq"]'}
---
{operationType: EnsureDeleted, kind: ConfigMap, namespace: $NS, name: deleted-0}
---
{operationType: EnsureDeletedInBackground, kind: ConfigMap, namespace: $NS, name: deleted-1}
---
{operationType: EnsureDeletedOrphaning, kind: ConfigMap, namespace: $NS, name: deleted-2}
`

// everyPlan returns the plan of the task for a namespace.
func everyPlan(ctx context.Context, config *rest.Config, namespace string) (crud.Plan, error) {
	parsed, err := operations.Parse([]byte(strings.ReplaceAll(everyOperation, "$NS", namespace)))
	if err != nil {
		return crud.Plan{}, err
	}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return crud.Plan{}, err
	}
	snapshot, err := kube.CoreV1().ConfigMaps(namespace).Get(ctx, "snapshot", metav1.GetOptions{})
	if err != nil {
		return crud.Plan{}, err
	}
	return crud.Plan{Task: "task", Operations: append(parsed.Operations,
		crud.FilterPatch(crud.Ref{Kind: "Widget", Namespace: namespace, Name: "w"}, func(widget *unstructured.Unstructured) error {
			list, _, err := unstructured.NestedStringSlice(widget.Object, "spec", "list")
			if err != nil {
				return err
			}
			return unstructured.SetNestedStringSlice(widget.Object, append(list, "go"), "spec", "list")
		}),
		crud.FilterPatchOptimistic(snapshot, func(configMap *corev1.ConfigMap) error {
			configMap.Data = map[string]string{"k": "optimistic"}
			return nil
		}),
	)}, nil
}

// counting counts the requests for the objects of a namespace, and calls at before and after the request of a number.
type counting struct {
	next          http.RoundTripper
	namespace     string
	n             *atomic.Int64
	before, after func(n int64)
}

func (c counting) RoundTrip(request *http.Request) (*http.Response, error) {
	if !strings.Contains(request.URL.Path, "/namespaces/"+c.namespace+"/") {
		return c.next.RoundTrip(request)
	}
	n := c.n.Add(1)
	c.before(n)
	response, err := c.next.RoundTrip(request)
	c.after(n)
	return response, err
}

// runEvery runs the plan with a new client.
func runEvery(ctx context.Context, config *rest.Config, namespace string, skipPreflight bool, before, after func(int64)) (requests int64, _ error) {
	plan, err := everyPlan(ctx, config, namespace)
	if err != nil {
		return 0, err
	}
	var n atomic.Int64
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return counting{next, namespace, &n, before, after} })
	client, err := crud.New(config, crud.Options{FieldManager: "crud-test"})
	if err != nil {
		return 0, err
	}
	plan.SkipPreflight = skipPreflight
	_, err = client.RunPlan(ctx, plan)
	return n.Load(), err
}

// runAndKill is the child process.
func runAndKill() {
	fields := strings.Fields(os.Getenv(killEnv))
	config, err := clientcmd.BuildConfigFromFlags("", fields[0])
	if err != nil {
		panic(err)
	}
	at, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil {
		panic(err)
	}
	kill := func(when string) func(int64) {
		return func(n int64) {
			if n == at && when == fields[3] {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
		}
	}
	if _, err := runEvery(context.Background(), config, fields[1], true, kill("before"), kill("after")); err != nil {
		panic(err)
	}
	os.Exit(0)
}

// Whenever a process is killed that runs a plan with every operation, the next one completes it, and executes nothing twice.
func TestPlan_KilledAtEachRequest_TheNextRunConverges(t *testing.T) {
	s := newScene(t)
	nothing := func(int64) {}
	s.prepareEvery(s.ns)
	total, err := runEvery(t.Context(), s.env.Config, s.ns, true, nothing, nothing)
	if err != nil {
		t.Fatal(err)
	}
	want := s.stateOf(s.ns)
	t.Logf("%d requests, the state is %s", total, strings.Join(want, "\n"))
	for n := int64(1); n <= total; n += killedEach {
		for _, when := range []string{"before", "after"} {
			t.Run(fmt.Sprintf("%s-%d", when, n), func(t *testing.T) {
				t.Parallel()
				s := &scene{T: t, env: s.env}
				s.ns = s.env.Namespace(t)
				s.prepareEvery(s.ns)
				child := exec.CommandContext(t.Context(), os.Args[0])
				child.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %d %s", killEnv, s.env.Kubeconfig, s.ns, n, when))
				output, err := child.CombinedOutput()
				if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != -1 {
					t.Fatalf("the process was not killed: %v: %.1000s", err, output)
				}
				if _, err := runEvery(t.Context(), s.env.Config, s.ns, false, nothing, nothing); err != nil {
					t.Error(err)
				}
				if diff := cmp.Diff(want, s.stateOf(s.ns)); diff != "" {
					t.Errorf("another state than after a run that was not disturbed (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// prepareEvery creates the objects that the plan changes.
func (s *scene) prepareEvery(namespace string) {
	s.Helper()
	s.env.Apply(s.T, namespace, `
{apiVersion: v1, kind: ConfigMap, metadata: {name: present}, data: {k: "1"}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: snapshot}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: deleted-0}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: deleted-1}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: deleted-2}}
---
{apiVersion: `+group+`/v1, kind: Widget, metadata: {name: w}, spec: {size: 1, list: [first, second]}}
`)
}

// stateOf returns the objects of a namespace without what differs in each, once all deletions are complete.
func (s *scene) stateOf(namespace string) (state []string) {
	s.Helper()
	harness.Eventually(s.T, "the deletions are complete", func(ctx context.Context) error {
		state = nil
		for _, resource := range []string{"configmaps", "widgets"} {
			gvr := configMaps
			if resource == "widgets" {
				gvr = widgets
			}
			list, err := s.env.Dynamic.Resource(gvr).Namespace(namespace).List(ctx, metav1.ListOptions{FieldSelector: "metadata.name!=kube-root-ca.crt"})
			if err != nil {
				return err
			}
			for _, object := range list.Items {
				if object.GetDeletionTimestamp() != nil {
					return fmt.Errorf("%s is being deleted", object.GetName())
				}
				name := object.GetName()
				if base := object.GetGenerateName(); base != "" {
					name = base
				}
				ids := strings.Fields(object.GetAnnotations()["crud.mallard.dev/operations"])
				delete(object.Object, "metadata")
				content, err := json.Marshal(object.Object)
				if err != nil {
					return err
				}
				state = append(state, fmt.Sprintf("%s %d %s", name, len(ids), content))
			}
		}
		slices.Sort(state)
		return nil
	})
	return state
}
