//go:build nightly && peers

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening_test

import (
	stdcmp "cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/template"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/mallard-dev/mallard/localcluster/env/controlplane"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/localcluster/env/processes"
)

// sampleVariable is the environment variable with the folder of github.com/knative-extensions/sample-controller at commit b1d0d02, which is not on the
// module proxy.
const sampleVariable = "SAMPLE_CONTROLLER"

// change is an expression in a main, and the same with hardening. The last occurrence counts.
type change struct{ from, to string }

// peer is a controller of others.
type peer struct {
	module string
	// version is that of the module on the proxy, empty for the one in sampleVariable.
	version string
	// mains are the changes of the mains, by the name of the command.
	mains map[string][]change
	// disturbed is the constructor that is disturbed, of the kind of object.
	disturbed string
	// missing are modules that only tools require, and that are not on the proxy.
	missing []string
	// configs are patterns of the manifests in the module, or of a module that it requires.
	configs []string
	args    string
	// object is a manifest with the name %s, and children what the controller creates for it.
	object   string
	children string
	count    int
	// limit is that of the client's requests, none by default.
	limit string
	// later reports whether a reconciler makes controllers.
	later bool
}

// call returns the changes of a call whose last arguments are constructors.
func call(function string) []change {
	return []change{{function, function + " hardening.Constructors("}, {"\n\t)\n}", "\n\t)...)\n}"}}
}

var sample = peer{
	module: "knative.dev/sample-controller",
	mains: map[string][]change{
		"controller": call(`sharedmain.Main("controller",`),
		"webhook":    call(`sharedmain.WebhookMainWithContext(ctx, "webhook",`),
	},
	disturbed: "simpledeployment.NewController",
	configs:   []string{"config/300-*.yaml", "config/config-[lo]*.yaml"},
	object: `{apiVersion: samples.knative.dev/v1alpha1, kind: SimpleDeployment, metadata: {name: %s},
		spec: {image: example.com/image, replicas: 2}}`,
	children: "pods", count: 2,
}

var published = []peer{
	{
		module: "knative.dev/serving", version: "v0.50.0",
		mains:     map[string][]change{"controller": {{"cfg, ctors...", "cfg, hardening.Constructors(ctors...)..."}}},
		disturbed: "configuration.NewController",
		configs: []string{
			"config/core/300-resources/*.yaml", "config/core/configmaps/*.yaml", "knative.dev/networking:config/*.yaml", "knative.dev/caching:config/*.yaml",
		},
		object: `{apiVersion: serving.knative.dev/v1, kind: Configuration, metadata: {name: %s}, spec: {template: {spec: {
			containerConcurrency: 0, timeoutSeconds: 300, containers: [{name: user-container, readinessProbe: {successThreshold: 1, tcpSocket: {port: 0}},
			image: "example.com/image@sha256:0000000000000000000000000000000000000000000000000000000000000000"}]}}}}`,
		children: "deployments", count: 1,
	},
	{
		module: "github.com/tektoncd/pipeline", version: "v1.12.0",
		mains:     map[string][]change{"controller": call("sharedmain.MainWithConfig(ctx, ControllerLogKey, cfg,")},
		missing:   []string{"github.com/ahmetb/gen-crd-api-reference-docs"},
		disturbed: "taskrun.NewController(opts, clock.RealClock{})",
		configs:   []string{"config/300-crds/*.yaml", "config/config-*.yaml"},
		args:      `["-entrypoint-image=a", "-nop-image=b", "-sidecarlogresults-image=c", "-workingdirinit-image=d", "-shell-image=e", "-shell-image-win=f"]`,
		object: `{apiVersion: tekton.dev/v1, kind: TaskRun, metadata: {name: %s},
			spec: {taskSpec: {steps: [{name: step, image: example.com/image, command: [run]}]}}}`,
		children: "pods", count: 1,
		limit: "20", // chosen by the main
	},
	{
		module: "knative.dev/eventing", version: "v0.50.0",
		mains: map[string][]change{
			"controller": call(`sharedmain.MainWithContext(ctx, "controller",`),
			"webhook":    call("sharedmain.WebhookMainWithContext(ctx, webhook.NameFromEnv(),"),
		},
		disturbed: "containersource.NewController",
		configs:   []string{"config/core/resources/*.yaml", "config/core/configmaps/*.yaml"},
		object: `{apiVersion: sources.knative.dev/v1, kind: ContainerSource, metadata: {name: %s},
			spec: {sink: {uri: "http://example.com"}, template: {spec: {containers: [{name: source, image: example.com/image}]}}}}`,
		children: "deployments", count: 1,
		later: true, // one for each kind of source
	},
}

func TestPeers_OneExpressionInMain_SameWatchesAndFaultsContained(t *testing.T) {
	for _, p := range published {
		t.Run(path.Base(p.module), func(t *testing.T) {
			env := p.start(t)
			p.test(t, env)
			if len(p.mains["webhook"]) > 0 {
				testWebhook(t, env)
			}
		})
	}
}

// test runs a peer as its authors wrote it, and then hardened.
func (p peer) test(t *testing.T, env *harness.Env) {
	t.Helper()
	ns := env.Namespace(t)
	upstream := operator{env, "controller", env.Process(t, "controller"), ns}
	hardened := operator{env, "controller-hardened", env.Process(t, "controller-hardened"), ns}

	mark := env.Mark(t)
	upstream.process.Start(t)
	p.apply(t, upstream, "healthy")
	p.awaitChildren(t, upstream, "healthy")
	upstream.settle(t)
	panics := p.apply(t, upstream, "panics")
	if exit := upstream.awaitExit(t); !strings.HasSuffix(exit.Error(), "exit status 2") {
		t.Errorf("without hardening: %v", exit)
	}
	want := watched(t, upstream, mark, time.Now())
	env.ExpireLeases(t, upstream.process)

	mark = env.Mark(t)
	hardened.process.Start(t)
	hardened.awaitLine(t, "panic while reconciling "+ns+"/panics: boom")
	p.apply(t, hardened, "later")
	p.awaitChildren(t, hardened, "later")
	hardened.settle(t)
	cut := time.Now()
	p.miss(t, hardened, "healthy")
	p.awaitChildren(t, hardened, "healthy")
	healthy := p.apply(t, hardened, "healthy")
	env.Patch(t, healthy, `{"metadata":{"annotations":{"peer":"panic"}}}`)
	hardened.awaitLine(t, "An event handler panicked")
	p.apply(t, hardened, "last")
	p.awaitChildren(t, hardened, "last")
	hardened.process.Stop(t)
	for _, disturbing := range []harness.Ref{panics, healthy} {
		env.Delete(t, disturbing) // the next process may run without hardening
	}

	if diff := cmp.Diff(want, watched(t, hardened, mark, cut)); diff != "" {
		t.Errorf("collections that are watched (-upstream +hardened):\n%s", diff)
	}
	numbers := regexp.MustCompile(`peer: (?:registered|informers): .*`)
	if diff := cmp.Diff(numbers.FindAllString(upstream.process.Log(t), -1), numbers.FindAllString(hardened.process.Log(t), -1)); diff != "" {
		t.Errorf("what was set up (-upstream +hardened):\n%s", diff)
	}
	ducks := func(o operator) int {
		n, err := strconv.Atoi(regexp.MustCompile(`peer: ducks: (\d+)`).FindStringSubmatch(o.process.Log(t))[1])
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	// One of the hardened ones makes no factory of a duck type: it rehearses the injectors.
	if got, want := ducks(hardened), ducks(upstream)+1; got != want {
		t.Errorf("%d injectors of duck types are registered, want %d", got, want)
	}
	log := hardened.process.Log(t)
	shared := regexp.MustCompile(`shared (\d+)`).FindStringSubmatch(log)[1]
	for _, line := range []string{"peer: hardened: " + shared + "\n", "peer: limit: " + stdcmp.Or(p.limit, "-1") + "\n"} {
		if !strings.Contains(log, line) {
			t.Errorf("the log lacks %q", line)
		}
	}
	if reported := strings.Contains(log, "A controller that is made now is not hardened"); reported != p.later {
		t.Errorf("a controller that is made while the process runs is reported: %t, want %t", reported, p.later)
	}
	t.Logf("%s; %d collections are watched", numbers.FindAllString(log, -1), len(want))
}

func TestPeers_SampleController_FaultsAndRemedies(t *testing.T) {
	env := sample.start(t)
	t.Run("as the others", func(t *testing.T) { sample.test(t, env) })
	for _, hardened := range []bool{false, true} {
		suffix := ""
		if hardened {
			suffix = "-hardened"
		}
		o := operator{env, "controller" + suffix, env.Process(t, "controller"+suffix), ""}
		t.Run(o.name, func(t *testing.T) {
			o.ns = env.Namespace(t)
			o.process.Start(t)
			testSampleTombstones(t, o, hardened)
			testSampleTracker(t, o, hardened)
			sample.apply(t, o, "slow")
			o.awaitLine(t, "peer: begin "+o.ns+"/slow")
			o.stop(t, hardened)
			o.awaitLine(t, "peer: end "+o.ns+"/slow")
		})
		webhook := operator{env, "webhook" + suffix, env.Process(t, "webhook"+suffix), ""}
		t.Run(webhook.name, func(t *testing.T) { testSamplePort(t, webhook, hardened) })
	}
}

func testSampleTombstones(t *testing.T, o operator, hardened bool) {
	t.Helper()
	sample.apply(t, o, "family")
	sample.awaitChildren(t, o, "family")
	// A reconciliation that other events have enqueued would create the children again.
	steady(t, func() int { return o.reconciled(t, "family") })
	sample.miss(t, o, "family")
	if hardened {
		sample.awaitChildren(t, o, "family")
		return
	}
	sample.apply(t, o, "marker")
	sample.awaitChildren(t, o, "marker")
	if found := sample.childrenOf(t, o, "family"); len(found) > 0 {
		t.Errorf("without hardening the children are created again: knative.dev/pkg may have repaired its filters")
	}
}

func testSampleTracker(t *testing.T, o operator, hardened bool) {
	t.Helper()
	service := `{apiVersion: v1, kind: Service, metadata: {name: %s}, spec: {ports: [{port: 80}]}}`
	first, second := o.Apply(t, o.ns, fmt.Sprintf(service, "first"))[0], o.Apply(t, o.ns, fmt.Sprintf(service, "second"))[0]
	refers := func(name, service string) harness.Ref {
		return o.Apply(t, o.ns, fmt.Sprintf("{apiVersion: samples.knative.dev/v1alpha1, kind: AddressableService, metadata: {name: %s}, spec: {serviceName: %s}}",
			name, service))[0]
	}
	address := func(service string) harness.Condition {
		return func(u *unstructured.Unstructured) error {
			url, _, _ := unstructured.NestedString(u.Object, "status", "address", "url")
			if !strings.Contains(url, service+".") {
				return fmt.Errorf("the address is %q", url)
			}
			return nil
		}
	}
	more := func(than int) {
		harness.Eventually(t, "the reference has the object reconciled", func(context.Context) error {
			if got := o.reconciled(t, "refers"); got <= than {
				return fmt.Errorf("%d reconciliations, as before", got)
			}
			return nil
		})
	}
	o.Await(t, refers("refers", "first"), address("first"))
	o.Await(t, refers("refers", "second"), address("second"))
	before := steady(t, func() int { return o.reconciled(t, "refers") })
	o.Patch(t, first, `{"metadata":{"annotations":{"touched":"1"}}}`)
	if !hardened {
		more(before) // although the object has dropped the reference
		return
	}
	// The watch delivers the change of the first one before that of the second one.
	o.Patch(t, second, `{"metadata":{"annotations":{"touched":"1"}}}`)
	more(before)
	if got := steady(t, func() int { return o.reconciled(t, "refers") }) - before; got != 1 {
		t.Errorf("%d reconciliations because of the two references, want that of the present one", got)
	}
}

func testSamplePort(t *testing.T, o operator, hardened bool) {
	t.Helper()
	// If another process has taken the port, that is as good.
	if listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", ":8443"); err == nil {
		defer func() { _ = listener.Close() }()
	}
	err := o.process.TryStart(t)
	if !hardened {
		o.awaitLine(t, "Started workers") // it works on
		if exits := o.TakeExits(); err != nil || len(exits) > 0 {
			t.Errorf("without hardening the webhook ends: %v, %v", err, exits)
		}
		o.process.Stop(t)
		return
	}
	if exit := (*processes.ExitError)(nil); !errors.As(err, &exit) {
		err = o.awaitExit(t)
	}
	if !strings.Contains(err.Error(), "exit status 1") || !strings.Contains(o.process.Log(t), "=8443: listen tcp") {
		t.Errorf("the webhook has ended: %v, log:\n%s", err, o.process.Log(t))
	}
	o.TakeExits()
}

// testWebhook compares the watches of a process with webhooks, among them those of bindings and conversions.
func testWebhook(t *testing.T, env *harness.Env) {
	t.Helper()
	paths := map[string][]string{}
	for _, name := range []string{"webhook", "webhook-hardened"} {
		o := operator{env, name, env.Process(t, name), ""}
		mark := env.Mark(t)
		o.process.Start(t)
		o.settle(t)
		settled := time.Now()
		o.process.Kill(t) // it would wait for requests for 45 s
		env.ExpireLeases(t, o.process)
		paths[name] = watched(t, o, mark, settled)
	}
	if diff := cmp.Diff(paths["webhook"], paths["webhook-hardened"]); diff != "" || len(paths["webhook"]) == 0 {
		t.Errorf("collections that the webhook watches (-upstream +hardened):\n%s", diff)
	}
	t.Logf("the webhook watches %d collections", len(paths["webhook"]))
}

// goCommand runs the go command in a folder.
func goCommand(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PWD="+dir)
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, exit.Stderr)
	}
	return strings.TrimSpace(string(out))
}

// start starts a control plane with the manifests of a peer, and its processes without hardening.
func (p peer) start(t *testing.T) *harness.Env {
	t.Helper()
	repository, err := controlplane.Repository()
	if err != nil {
		t.Fatal(err)
	}
	// Within the repository, so that the control plane is found.
	dir := filepath.Join(repository, ".cache", "peers", filepath.Base(p.module))
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS(p.source(t, repository))); err != nil {
		t.Fatal(err)
	}
	const hardening = "github.com/mallard-dev/mallard/hardening"
	goCommand(t, dir, "mod", "edit", "-require="+hardening+"@v0.0.0", "-replace="+hardening+"="+filepath.Join(repository, "hardening"))
	for _, module := range p.missing {
		goCommand(t, dir, "mod", "edit", "-dropreplace="+module, "-droprequire="+module)
	}
	commands := make([]string, 0, 2*len(p.mains))
	for command, changes := range p.mains {
		p.harden(t, dir, command, changes)
		commands = append(commands, command, command+"-hardened")
	}
	for _, command := range commands {
		// As go mod tidy does, which downloads the modules of tests, too.
		goCommand(t, dir, "list", "-mod=mod", "-deps", "./cmd/"+command)
	}
	options := []harness.Option{harness.WithConfig(p.config(t, dir, commands))}
	for _, command := range commands {
		options = append(options, harness.WithProxy(command), harness.Without(command))
	}
	t.Chdir(dir) // the module from which processes are built
	env := harness.Own(t, options...)
	env.ExpectErrors(t, "") // it is disturbed, and lacks much of its environment
	return env
}

// source returns the folder with the sources of a peer.
func (p peer) source(t *testing.T, repository string) string {
	t.Helper()
	if p.version == "" {
		dir := os.Getenv(sampleVariable)
		if dir == "" {
			t.Fatalf("environment variable %s is not set: it must be the folder of github.com/knative-extensions/sample-controller at commit b1d0d02", sampleVariable)
		}
		return dir
	}
	out := goCommand(t, filepath.Dir(repository), "mod", "download", "-json", p.module+"@"+p.version)
	dir := regexp.MustCompile(`"Dir": "(.*)"`).FindStringSubmatch(out)
	if dir == nil {
		t.Fatalf("%s: %s", p.module, out)
	}
	return dir[1]
}

// harden adds a copy of a command with hardening, and to both the file that disturbs them.
func (p peer) harden(t *testing.T, dir, command string, changes []change) {
	t.Helper()
	upstream, hardened := filepath.Join(dir, "cmd", command), filepath.Join(dir, "cmd", command+"-hardened")
	replace := func(path string, changes ...change) {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := string(content)
		for _, c := range changes {
			at := strings.LastIndex(text, c.from)
			if at < 0 {
				t.Fatalf("%s does not contain %q", path, c.from)
			}
			text = text[:at] + c.to + text[at+len(c.from):]
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if command == "controller" {
		replace(filepath.Join(upstream, "main.go"), change{"\t" + p.disturbed + ",", "\tdisturbed(" + p.disturbed + "),"})
		content, err := os.ReadFile("testdata/peers/peer.go")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(upstream, "peer.go"), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(hardened, os.DirFS(upstream)); err != nil {
		t.Fatal(err)
	}
	replace(filepath.Join(hardened, "main.go"), append(changes, change{"import (", "import (\n\t\"github.com/mallard-dev/mallard/hardening\""})...)
}

// config returns the folder of the manifests: those of a peer that define its kinds and its settings, and our Deployments.
func (p peer) config(t *testing.T, dir string, commands []string) string {
	t.Helper()
	config := filepath.Join(dir, ".peer")
	if err := os.Mkdir(config, 0o700); err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(filepath.Join(config, "000-peer.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	data := struct {
		Module, Args string
		Commands     []string
	}{p.module, "[" + strings.Trim(p.args, "[]") + "]", commands}
	if err := errors.Join(template.Must(template.ParseFiles("testdata/peers/peer.yaml")).Execute(file, data), file.Close()); err != nil {
		t.Fatal(err)
	}
	namespace := regexp.MustCompile(`(?m)^  namespace: .*`)
	for n, pattern := range p.configs {
		from := dir
		if module, rest, ok := strings.Cut(pattern, ":"); ok {
			from, pattern = goCommand(t, dir, "list", "-m", "-f", "{{.Dir}}", module), rest
		}
		paths, err := filepath.Glob(filepath.Join(from, pattern))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %v, %v", pattern, paths, err)
		}
		for _, path := range paths {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			content = namespace.ReplaceAll(content, []byte("  namespace: peer"))
			if err := os.WriteFile(filepath.Join(config, fmt.Sprintf("%03d-%s", n+1, filepath.Base(path))), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return config
}

// apply creates an object of the peer.
func (p peer) apply(t *testing.T, o operator, name string) harness.Ref {
	t.Helper()
	return o.Apply(t, o.ns, fmt.Sprintf(p.object, name))[0]
}

// awaitChildren waits until the controller has created all children of an object.
func (p peer) awaitChildren(t *testing.T, o operator, name string) {
	t.Helper()
	harness.Eventually(t, "the children of "+name+" are created", func(context.Context) error {
		if found := p.childrenOf(t, o, name); len(found) != p.count {
			return fmt.Errorf("%d %s, want %d", len(found), p.children, p.count)
		}
		return nil
	})
}

func (p peer) resource() schema.GroupVersionResource {
	if p.children == "pods" {
		return corev1.SchemeGroupVersion.WithResource(p.children)
	}
	return appsv1.SchemeGroupVersion.WithResource(p.children)
}

// childrenOf returns the names of the children, which begin with that of the object.
func (p peer) childrenOf(t *testing.T, o operator, name string) (found []string) {
	t.Helper()
	list, err := o.Dynamic.Resource(p.resource()).Namespace(o.ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range list.Items {
		if strings.HasPrefix(item.GetName(), name+"-") && item.GetDeletionTimestamp() == nil {
			found = append(found, item.GetName())
		}
	}
	return found
}

// miss deletes all children of an object while their watch, and no other, is cut, and returns when it runs again.
func (p peer) miss(t *testing.T, o operator, name string) {
	t.Helper()
	o.miss(t, p.children, func() {
		for _, child := range p.childrenOf(t, o, name) {
			o.Delete(t, harness.Ref{Resource: p.resource(), Namespace: o.ns, Name: child})
		}
		harness.Eventually(t, "the children are deleted", func(context.Context) error {
			if left := p.childrenOf(t, o, name); len(left) > 0 {
				return fmt.Errorf("%v exist", left)
			}
			return nil
		})
	})
}

// reconciled counts the successful reconciliations of an object.
func (o operator) reconciled(t *testing.T, name string) (count int) {
	t.Helper()
	for line := range strings.Lines(o.process.Log(t)) {
		if strings.Contains(line, "Reconcile succeeded") && strings.Contains(line, `"`+o.ns+"/"+name+`"`) {
			count++
		}
	}
	return count
}

// steady waits until a number does not change anymore, and returns it.
func steady(t *testing.T, count func() int) int {
	t.Helper()
	last, since := 0, time.Now()
	harness.Eventually(t, "a number is steady", func(context.Context) error {
		if now := count(); now != last {
			last, since = now, time.Now()
		}
		if same := time.Since(since); same < 4*time.Second || last == 0 {
			return fmt.Errorf("%d, since %v", last, same)
		}
		return nil
	})
	return last
}

// settle waits until the process opens no more watches: controllers that look for kinds open some while they run.
func (o operator) settle(t *testing.T) {
	t.Helper()
	steady(t, func() int { return o.Proxy(t, o.name).Watches(harness.Matching("watch", "*")) })
}

// watched returns the collections that a process has begun to watch before a time, each as often as an informer has. A hardened informer of a duck type
// lists first.
func watched(t *testing.T, o operator, mark harness.Mark, before time.Time) (paths []string) {
	t.Helper()
	for _, e := range mark.Entries(t, harness.ByProcess(o.name), harness.ByVerb("watch")) {
		query, err := url.ParseQuery(e.Query)
		if err != nil {
			t.Fatal(err)
		}
		if e.Code == http.StatusOK && e.Time.Before(before) {
			paths = append(paths, strings.TrimSpace(e.Path+" "+query.Get("labelSelector")))
		}
	}
	slices.Sort(paths)
	return paths
}
