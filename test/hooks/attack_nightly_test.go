//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

const (
	// late is the time within which the hook that behaves well receives an event.
	late = 2 * time.Second
	// attackedEvents is the least number of events during the attack, and repeatedAttacks that of the attacks that run more than once.
	attackedEvents, repeatedAttacks = 40, 30
)

// The process of kustomize/overlays/hooks has more than 40 hooks that attack it, again and again, and one that behaves well.
func TestAttack_ManyHooks_OneThatBehavesWellReceivesEachEventInTime(t *testing.T) {
	s := attacked(t)
	rows := map[string]attack{}
	maps.Copy(rows, attacks)
	maps.Copy(rows, expensive)
	for name, of := range hostile {
		rows["hostile-"+name] = attack{settings: of.settings, body: of.body}
	}
	for i, filter := range []string{"last(repeat(.))", "[range(1e9)]", `[limit(1e6; repeat("x"))] | add`, "def f: [f]; f", "last(range(1e12))", "last(repeat(.a))"} {
		rows[fmt.Sprint("filter-", i)] = attack{filtered: "\n- kind: ConfigMap\n  name: filtered\n  queue: filtered\n  jqFilter: '" + filter + "'" +
			strings.ReplaceAll(selected, "$NS", s.ns), body: "exit 1"}
	}
	proxy := s.env.Proxy(t, "hooks")
	for _, code := range []int{400, 403, 404, 409, 410, 413, 422, 429, 500, 503} {
		name := fmt.Sprint("answer-", code)
		defer proxy.Fail(func(r harness.Request) bool { return r.Verb == "patch" && r.Name == name }, code)()
		rows[name] = attack{body: fmt.Sprintf(`
echo '{"file": {"onFailure": "continue", "preflight": "off"}}' >>"$KUBERNETES_OPERATION_PATH"
for type in Merge JSON; do
  patch='{"data": {"a": "b"}}'
  [[ $type == JSON ]] && patch='[{"op": "add", "path": "/data/b", "value": "c"}]'
  jq -cn --arg ns "$ns" --arg t "${type}Patch" --argjson p "$patch" '{operationType: $t, kind: "ConfigMap", namespace: $ns, name: "%s", spec: $p}' >>"$KUBERNETES_OPERATION_PATH"
done
`, name)}
		s.create(name, "1", nil)
	}
	if len(rows) < 40 {
		t.Fatalf("there are only %d attacks", len(rows))
	}
	for name, of := range rows {
		settings := ""
		if of.settings != "" {
			settings = "settings: {" + of.settings + "}\n"
		}
		s.script(name, "configVersion: v1\n"+settings+`
kubernetes:
- kind: Secret
  queue: `+name+`
  executeHookOnEvent: []
  namespace: {nameSelector: {matchNames: [$NS]}}`+of.filtered, `
secret=$(crud::context '.[0].objects[] | select(.object.metadata.name == "it").object.data.password | @base64d')
`+of.body)
	}
	// Its filter shares the children for jq programs with the attacks.
	s.script("good", "configVersion: v1\nkubernetes:\n- kind: ConfigMap\n  queue: good\n  executeHookOnEvent: [Added]\n  jqFilter: .metadata.name"+selected, "")
	s.create("before", "1", it)
	process := s.env.Process(t, "hooks")
	process.Start(t)
	t.Cleanup(func() {
		process.Stop(t)
		// It was killed, as the context of the test is done: the next process would end them.
		for _, left := range running(filepath.Join(s.temporary, "hook-run-")) {
			_ = syscall.Kill(left, syscall.SIGKILL) // it may have ended
		}
	})
	pid := process.PID()
	sum := sampleMemory(t, pid, filepath.Join(s.temporary, "hook-run-"))
	s.awaitRuns("good", 1)
	received := func(name string) bool {
		return slices.ContainsFunc(s.recordedOf("good"), func(r recorded) bool { return strings.Contains(fmt.Sprint(short(r.contexts)), name) })
	}
	harness.Eventually(t, "each attack has begun", func(context.Context) error {
		for name := range rows {
			if len(s.recordedOf(name)) == 0 {
				return errors.New(name + " has not run")
			}
		}
		return nil
	})
	var tooLate []string
	again := func() (n int) {
		for name := range rows {
			n += min(len(s.recordedOf(name))-1, 1)
		}
		return n
	}
	events := 0
	for end := time.Now().Add(harness.Deadline); events < attackedEvents || again() < repeatedAttacks; events++ {
		if time.Now().After(end) {
			t.Fatalf("only %d of %d attacks have run again", again(), len(rows))
		}
		name := fmt.Sprintf("event-%04d", events)
		s.create(name, "1", it)
		if wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, late, true, func(context.Context) (bool, error) { return received(name), nil }) != nil {
			tooLate = append(tooLate, name)
		}
		harness.Eventually(t, "the hook that behaves well receives "+name, func(context.Context) error {
			if process.PID() != pid || !received(name) {
				return errors.Join(append(s.env.TakeExits(), fmt.Errorf("it has not, and the process is %d, was %d", process.PID(), pid))...)
			}
			return nil
		})
	}
	if len(tooLate) > 0 {
		t.Errorf("%d of %d events are received later than after %v: %v", len(tooLate), events, late, tooLate)
	}
	used := sum()
	t.Logf("%d attacks, %d of them again, %d events, at most %d MiB, with all programs at most %d MiB",
		len(rows), again(), events, peak(t, pid)>>20, used>>20)
	if limit := limitOf(t, s); used > limit {
		t.Errorf("the process and its programs have used %d bytes of memory at a time, and the limit of their container is %d", used, limit)
	}
	if form := harness.Leaked(process.Log(t), s.secret(t)); form != "" {
		t.Errorf("the log has the value of a Secret, %s", form)
	}
}

// attacked starts an environment with one process of cmd/hooks, which has not started yet, and what it attacks.
func attacked(t *testing.T) *scene {
	t.Helper()
	data, temporary := t.TempDir(), t.TempDir()
	env := harness.Own(t, harness.WithOverlay("hooks"), harness.Without("hooks"), harness.WithProxy("hooks"),
		harness.WithEnv("hooks", "KO_DATA_PATH", data),
		harness.WithEnv("hooks", "TMPDIR", temporary), harness.Without("controller"), harness.WithoutWebhooks("webhook"))
	env.ExpectErrors(t, `"logger":"hooks`)
	s := &scene{T: t, env: env, ns: env.Namespace(t), hooks: filepath.Join(data, "hooks"), runs: t.TempDir(), temporary: temporary}
	if err := os.Mkdir(s.hooks, 0o700); err != nil {
		t.Fatal(err)
	}
	env.Apply(t, s.ns, `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: hooks}
rules: [{apiGroups: [""], resources: [configmaps, secrets], verbs: ["*"]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: hooks}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: hooks}
subjects: [{kind: ServiceAccount, name: hooks, namespace: `+env.SystemNamespace+`}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: target, finalizers: [example.com/held]}
data: {a: `+strings.Repeat("x", 1000)+`}
`)
	t.Cleanup(func() { s.patch("target", `{"metadata": {"finalizers": null}}`) })
	if _, err := env.Kube.CoreV1().Secrets(s.ns).Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "it"}, StringData: map[string]string{"password": harness.Canary(t)},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return s
}

// secret returns the value of the Secret.
func (s *scene) secret(t *testing.T) string {
	t.Helper()
	secret, err := s.env.Kube.CoreV1().Secrets(s.ns).Get(t.Context(), "it", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return string(secret.Data["password"])
}

// limitOf returns the memory limit of the container.
func limitOf(t *testing.T, s *scene) int64 {
	t.Helper()
	hooks, err := s.env.Kube.AppsV1().Deployments(s.env.SystemNamespace).Get(t.Context(), "hooks", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	limit := hooks.Spec.Template.Spec.Containers[0].Resources.Limits[corev1.ResourceMemory]
	if limit.Cmp(resource.MustParse("1Mi")) < 0 {
		t.Fatal("the container has no limit of memory")
	}
	return limit.Value()
}

// peak returns the most memory that a process has used.
func peak(t *testing.T, pid int) int64 {
	t.Helper()
	used, err := memoryOf(filepath.Join("/proc", strconv.Itoa(pid)), "VmHWM:")
	if err != nil {
		t.Fatal(err)
	}
	return used
}

// memoryOf returns a value in the status of a process.
func memoryOf(process, field string) (int64, error) {
	status, err := os.ReadFile(filepath.Join(process, "status"))
	_, rest, ok := strings.Cut(string(status), field)
	if err != nil || !ok {
		return 0, errors.Join(err, fmt.Errorf("%s has no %s", process, field)) // as that of a process that has ended
	}
	kilobytes, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	return kilobytes << 10, err
}

// sampleMemory begins to measure the memory of a process and of all that descend from it: its children for jq programs, the programs of the hooks, and the
// functions that these call. Those that have left it are found by the text ofRuns in their environment. Only the private memory of programs counts. The
// function that it returns ends that, and returns the most at a time.
func sampleMemory(t *testing.T, pid int, ofRuns string) (most func() int64) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan int64, 1)
	go func() {
		var highest int64
		wait.UntilWithContext(ctx, func(context.Context) {
			sum, _ := memoryOf(filepath.Join("/proc", strconv.Itoa(pid)), "VmRSS:")
			others := descendants(pid)
			for _, other := range running(ofRuns) {
				if !slices.Contains(others, other) {
					others = append(others, other)
				}
			}
			for _, other := range others {
				used, _ := memoryOf(filepath.Join("/proc", strconv.Itoa(other)), "RssAnon:") // none if it has ended
				sum += used
			}
			highest = max(highest, sum)
		}, 50*time.Millisecond)
		result <- highest
	}()
	return func() int64 {
		cancel()
		return <-result
	}
}

// running returns the processes that have a text in their environment.
func running(text string) (all []int) {
	processes, _ := os.ReadDir("/proc") // it fails where no process is found
	for _, process := range processes {
		content, _ := os.ReadFile(filepath.Join("/proc", process.Name(), "environ")) // of a process, or no file
		if pid, err := strconv.Atoi(process.Name()); err == nil && bytes.Contains(content, []byte(text)) {
			all = append(all, pid)
		}
	}
	return all
}

// descendants returns the processes that descend from a process.
func descendants(pid int) (all []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // it fails for a wrong pattern only
	for _, list := range lists {
		children, _ := os.ReadFile(list) //nolint:gosec // none if the thread has ended
		for _, field := range strings.Fields(string(children)) {
			if child, err := strconv.Atoi(field); err == nil {
				all = append(append(all, child), descendants(child)...)
			}
		}
	}
	return all
}
