/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/operations"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// program is the path of the program, which is built once, into a folder that the go command's cache makes cheap.
var program = sync.OnceValues(func() (string, error) {
	path, err := filepath.Abs("../../.cache/crud/crud")
	if err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-o", path, "../../crud/cmd/crud").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building the program: %w: %s", err, out)
	}
	return path, nil
})

// running is the program while it runs.
type running struct {
	*exec.Cmd
	out, errs output
}

// output holds the output of a program so far.
type output struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buffer.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buffer.String()
}

// kubeconfig returns the path of a kubeconfig with which requests pass the proxy.
func (s *scene) kubeconfig() string {
	s.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["proxy"] = &clientcmdapi.Cluster{Server: s.config.Host, CertificateAuthorityData: s.config.CAData}
	config.Contexts["proxy"] = &clientcmdapi.Context{Cluster: "proxy"}
	config.CurrentContext = "proxy"
	path := filepath.Join(s.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		s.Fatal(err)
	}
	return path
}

// start starts the program with a file of YAML as its standard input.
func (s *scene) start(file string, args ...string) *running {
	s.Helper()
	r := s.command(file, args...)
	if err := r.Start(); err != nil {
		s.Fatal(err)
	}
	return r
}

// command returns the program before it is started.
func (s *scene) command(file string, args ...string) *running {
	s.Helper()
	path, err := program()
	if err != nil {
		s.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(s.Context(), 2*harness.Deadline)
	s.Cleanup(cancel)
	r := &running{Cmd: exec.CommandContext(ctx, path, args...)}
	home := s.TempDir()
	harness.SearchFolder(s, home)
	harness.Search(fmt.Sprint("the output of crud ", args), func() string { return r.out.String() + r.errs.String() })
	r.Env = []string{"KUBECONFIG=" + s.kubeconfig(), "HOME=" + home}
	r.Stdin, r.Stdout, r.Stderr = strings.NewReader("---\n"+strings.ReplaceAll(file, "$NS", s.ns)), &r.out, &r.errs
	return r
}

// ends checks the exit code and that the output contains texts.
func (s *scene) ends(r *running, code int, texts ...string) {
	s.Helper()
	err := r.Wait()
	output := r.out.String() + r.errs.String()
	if got := r.ProcessState.ExitCode(); got != code {
		s.Errorf("%s ends with %d, want %d (%v):\n%s", r.Args[1:], got, code, err, output)
	}
	for _, text := range texts {
		if text = strings.ReplaceAll(text, "$NS", s.ns); !strings.Contains(output, text) {
			s.Errorf("%s: the output lacks %q:\n%s", r.Args[1:], text, output)
		}
	}
}

const (
	writeA     = "operationType: CreateOrUpdate\nspec: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: \"1\"}}\n---\n"
	unchecked  = "file: {preflight: off}\n---\n"
	continuing = "file: {preflight: off, onFailure: continue}\n---\n"
	patchB     = "{operationType: MergePatch, kind: cm, name: b, spec: {data: {k: \"1\"}}}\n---\n"
)

func TestProgram_Apply_ExecutesAndReports(t *testing.T) {
	s := newScene(t)
	in := []string{"-", "--namespace", s.ns}
	apply := append([]string{"apply"}, in...)
	s.ends(s.start(writeA, apply...), 0, "operation 1: CreateOrUpdate ConfigMap $NS/a: Created\n")
	s.ends(s.start(writeA, apply...), 0, "operation 1: CreateOrUpdate ConfigMap $NS/a: Unchanged\n")
	const list = "operationType: CreateOrUpdate\nspec:\n  apiVersion: v1\n  kind: List\n  items:\n" +
		"  - {apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {k: \"1\"}}\n  - {apiVersion: v1, kind: ServiceAccount, metadata: {name: d}}\n"
	s.ends(s.start(list, apply...), 0, "operation 1: CreateOrUpdate ConfigMap $NS/c: Created\n", "operation 2: CreateOrUpdate ServiceAccount $NS/d: Created\n")
	s.ends(s.start(list, apply...), 0, "operation 1: CreateOrUpdate ConfigMap $NS/c: Unchanged\n", "operation 2: CreateOrUpdate ServiceAccount $NS/d: Unchanged\n")
	printed := s.start(writeA, append(apply, "--output", "json")...)
	s.ends(printed, 0)
	var report operations.Report
	if err := json.Unmarshal([]byte(printed.out.String()), &report); err != nil || report.State != operations.Done ||
		report.Operations[0].Outcome != crud.Unchanged || report.Operations[0].Namespace != s.ns {
		t.Errorf("the results are %s, %v", &printed.out, err)
	}
	s.ends(s.start(writeA+patchB+writeA, apply...), 1,
		"operation 1: CreateOrUpdate ConfigMap a: NotRun\n", "crud: standard input: operation 2: MergePatch ConfigMap $NS/b: NotFound: ")
	s.ends(s.start(unchecked+writeA+patchB+writeA, apply...), 1,
		"operation 1: CreateOrUpdate ConfigMap $NS/a: Unchanged\n", "operation 2: MergePatch cm b: Failed\n", "operation 3: CreateOrUpdate ConfigMap a: NotRun\n")
	s.ends(s.start(continuing+writeA+patchB+writeA, append(apply, "--output=json")...), 1,
		`"state": "Failed"`, `"outcome": "Unchanged"`, `"errorClass": "NotFound"`)
	s.ends(s.start("{operationType: Delete, kind: ConfigMap, name: a}", append([]string{"preview"}, in...)...), 0, "operation 1: EnsureDeleted ConfigMap $NS/a: Deleting\n")
	s.get(configMaps, "a")

	const generate = "operationType: Create\nspec: {apiVersion: v1, kind: ConfigMap, metadata: {generateName: made-}}"
	s.ends(s.start(generate, append(apply, "--task", "t")...), 0, "Create ConfigMap $NS/made-", ": Created\n")
	s.ends(s.start(generate, append(apply, "--task", "t")...), 0, "Create ConfigMap $NS/made-", ": Replayed\n")
}

func TestProgram_Apply_ShowsHowFarItIs(t *testing.T) {
	s := newScene(t)
	held := s.proxy.Hold(harness.Matching("get", "configmaps").And(harness.InNamespace(s.ns)))
	applying := s.start(strings.Repeat(writeA, 12), "apply", "-", "--output", "json", "--namespace", s.ns)
	held.Wait(t)
	harness.Eventually(t, "the program shows what it is doing", func(context.Context) error {
		if shown := applying.errs.String(); !strings.Contains(shown, "crud: standard input: checking operation 1 of 12: CreateOrUpdate\n") {
			return fmt.Errorf("it shows %q", shown)
		}
		return nil
	})
	held.Release()
	s.ends(applying, 0, `"state": "Done"`)
}

func TestProgram_Apply_MayBeRepeated_EndsWith3(t *testing.T) {
	s := newScene(t)
	held := s.configMap("held", nil)
	held.Finalizers = []string{"example.com/held"}
	s.run(crud.Create(held), crud.Created)
	s.Cleanup(func() { s.patch(configMaps, "held", `{"metadata":{"finalizers":null}}`) })
	const remove = "{operationType: EnsureDeleted, kind: ConfigMap, namespace: $NS, name: held}\n---\n"
	s.ends(s.start(remove, "apply", "-"), 3, "ConfigMap $NS/held: Deleting, it waits for the finalizers ", "example.com/held")
	s.ends(s.start(strings.ReplaceAll(writeA, "name: a", "name: held, namespace: $NS"), "apply", "-"), 3, "Terminating: ")
}

func TestProgram_Apply_TheAPIServerFailsOnce_IsTriedAgainOrEndsWith3(t *testing.T) {
	s := newScene(t)
	in := []string{"apply", "-", "--namespace", s.ns}
	here := harness.InNamespace(s.ns)
	failed := s.proxy.FailOnce(harness.Matching("get", "configmaps").And(here), http.StatusServiceUnavailable)
	s.ends(s.start(writeA+strings.ReplaceAll(writeA, "name: a", "name: b"), in...), 0,
		"operation 1: CreateOrUpdate ConfigMap $NS/a: Created\n", "operation 2: CreateOrUpdate ConfigMap $NS/b: Created\n")
	select {
	case <-failed:
	default:
		t.Error("no request of the preflight failed")
	}

	// With a resourceVersion, it is not known whether another attempt would find the state of this one.
	patch := fmt.Sprintf("{operationType: MergePatch, kind: cm, name: a, preconditions: {resourceVersion: %q}, spec: {data: {k: \"2\"}}}",
		s.get(configMaps, "a").GetResourceVersion())
	s.proxy.Lose(harness.Matching("patch", "configmaps").And(here))
	s.ends(s.start(patch, in...), 3, "operation 1: MergePatch cm a: Failed\n", "Uncertain: ")
}

func TestProgram_Interrupt_CompletesTheRequestAndExecutesNoOther(t *testing.T) {
	s := newScene(t)
	held := s.proxy.Hold(harness.Matching("create", "configmaps").And(harness.InNamespace(s.ns)))
	apply := []string{"apply", "-", "--namespace", s.ns}
	creating := s.start(continuing+writeA+patchB, apply...)
	held.Wait(t)
	s.interrupt(creating)
	held.Release()
	s.ends(creating, 130, "operation 1: CreateOrUpdate ConfigMap $NS/a: Created\n", "operation 2: MergePatch cm b: NotRun\n", "crud: standard input: ")

	s.patch(configMaps, "a", `{"metadata":{"finalizers":["example.com/held"]}}`)
	s.Cleanup(func() { s.patch(configMaps, "a", `{"metadata":{"finalizers":null}}`) })
	watches := s.proxy.Count(harness.Matching("watch", "configmaps").And(harness.InNamespace(s.ns)))
	waiting := s.start(continuing+"{operationType: EnsureDeleted, kind: cm, name: a, wait: 10m}\n---\n"+patchB, apply...)
	harness.Eventually(t, "the program waits for the deletion", func(context.Context) error {
		if watches() == 0 {
			return errors.New("it does not watch the object")
		}
		return nil
	})
	s.interrupt(waiting)
	s.ends(waiting, 130, "operation 1: EnsureDeleted ConfigMap $NS/a: Failed\n", "operation 2: MergePatch cm b: NotRun\n", "Canceled: ")
}

// interrupt sends the signal, and waits until the program knows.
func (s *scene) interrupt(r *running) {
	s.Helper()
	if err := r.Process.Signal(os.Interrupt); err != nil {
		s.Fatal(err)
	}
	harness.Eventually(s.T, "the program is interrupted", func(context.Context) error {
		if !strings.Contains(r.errs.String(), "interrupted") {
			return fmt.Errorf("%s does not say so: %s%s", r.Args[1:], &r.out, &r.errs)
		}
		return nil
	})
}

func TestProgram_Kind_IsNotKnown_IsExplained(t *testing.T) {
	s := newScene(t)
	s.ends(s.start("{operationType: EnsureDeleted, kind: Deploymnet, namespace: $NS, name: a}", "apply", "-"), 1, "KindUnknown: ", "did you mean Deployment?")
	s.ends(s.start("{operationType: EnsureDeleted, kind: Event, namespace: $NS, name: a}", "apply", "-"), 1,
		"KindAmbiguous: kind Event exists in the groups core, events.k8s.io: set apiVersion to one of ")
}

func TestProgram_Preview_ShowsChangesWithoutSecrets(t *testing.T) {
	s := newScene(t)
	before, after := harness.Canary(t), harness.Canary(t)
	s.run(crud.Create(s.object(fmt.Sprintf(`{apiVersion: v1, kind: Secret, metadata: {name: a}, stringData: {password: %q}}`, before))), crud.Created)
	file := fmt.Sprintf(`
operationType: CreateOrUpdate
spec: {apiVersion: v1, kind: Secret, metadata: {name: a}, stringData: {password: %q}}
---
`, after) + writeA + `
{operationType: JQPatch, kind: ConfigMap, name: a, spec: '.data.k = "2"'}
`
	preview := s.start(file, "preview", "--namespace", s.ns, "-")
	s.ends(preview, 0, "operation 1: CreateOrUpdate Secret $NS/a: Updated\n--- v1 Secret $NS/a\n+++ v1 Secret $NS/a\n",
		"-  password: '*** (before)'\n+  password: '*** (after)'\n", "operation 2: CreateOrUpdate ConfigMap $NS/a: Created\n--- /dev/null\n",
		"operation 3: JQPatch ConfigMap a: deferred")
	if output := preview.out.String() + preview.errs.String(); harness.Leaked(output, before)+harness.Leaked(output, after) != "" {
		t.Errorf("the output contains a value of the Secret:\n%s", output)
	}
	s.ends(s.start(patchB, "preview", "--namespace", s.ns, "-"), 1, "operation 1: MergePatch cm b: Failed\n", "crud: standard input: operation 1: ", "NotFound")
}

func TestProgram_Mistakes_EndWith2(t *testing.T) {
	s := newScene(t)
	path := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(path, []byte("operationType: Nothing\nkind: Pod\nnome: a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		args []string
		want []string
	}{
		{nil, []string{"a command is missing: see crud --help"}},
		{[]string{"aply"}, []string{`unknown command "aply"`, "apply"}},
		{[]string{"apply"}, []string{"a FILE is missing"}},
		{[]string{"apply", "-", "--nothing"}, []string{"-nothing"}},
		{[]string{"apply", "-", "--output", "go"}, []string{"-output", "use text or json"}},
		{[]string{"apply", "-", "--kubeconfig", "/nowhere"}, []string{"--kubeconfig", "/nowhere"}},
		{[]string{"apply", "-", "--context", "nowhere"}, []string{"nowhere"}},
		{[]string{"apply", path, "/nowhere"}, []string{"crud: " + path + ":1:16 (operation 1): ", "crud: " + path + ":3:1 (operation 1): field nome does not exist: did you mean name?\n", "open /nowhere"}},
		{[]string{"lint", path}, []string{"crud: " + path + ":1:16 (operation 1): operation \"Nothing\" does not exist"}},
		{[]string{"schema", "a"}, []string{`unknown command "a" for "crud schema"`}},
	} {
		s.ends(s.start(writeA, tc.args...), 2, tc.want...)
	}
}

func TestProgram_WithoutCluster_Helps(t *testing.T) {
	s := newScene(t)
	s.ends(s.start("", "--help"), 0, "Exit codes:")
	s.ends(s.start("", "apply", "--help"), 0, "crud apply FILE... [flags]", "-output")
	s.ends(s.start("", "schema"), 0, "http://json-schema.org/draft-07/schema#")
	s.ends(s.start(writeA+patchB, "lint", "-"), 0)
}
