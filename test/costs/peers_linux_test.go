//go:build nightly && peers

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package costs

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/mallard-dev/mallard/localcluster/env/controlplane"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/fixtures"
)

var (
	peerObjects = flag.Int("objects", 20, "the number of objects that each operator reconciles")
	peerRuns    = flag.Int("runs", 1, "how often each operator is measured")
	peerIdle    = flag.Duration("idle", time.Second, "how long each operator is measured while nothing changes")
	peerPage    = flag.String("page", "", "the document that gets the figures")
	peerWithout = flag.String("without", "", "the names of the operators that are left out, separated by commas")
)

// An idle operator of the shared environment would disturb the measurements.
func TestMain(m *testing.M) { os.Exit(harness.MainWithoutEnvironment(m)) }

// simple is the AddressableService of Knative's sample-controller.
var simple = kind{
	resource: schema.GroupVersionResource{Group: "samples.knative.dev", Version: "v1alpha1", Resource: "addressableservices"},
	spec:     map[string]any{"serviceName": "target"},
}

// operators are those that are compared, in the order in which each run measures them.
var operators = []operator{
	ours,
	{
		name: ours.name + " with all versions", folder: ours.folder, processes: ours.processes, kind: ours.kind,
		options: []harness.Option{harness.AllVersions()},
	},
	{
		name: ours.name + " at v1alpha1", folder: ours.folder, processes: ours.processes, kind: simple,
		options: []harness.Option{harness.AllVersions()},
	},
	{
		name: ours.name + " without webhooks", folder: ours.folder, processes: []string{controllerName}, kind: ours.kind,
		prepare: func(t testing.TB) []harness.Option {
			return []harness.Option{harness.WithConfig(fixtures.NoWebhooks(t))}
		},
	},
	{
		name: "sample-controller", folder: sampleController, processes: []string{controllerName, webhookName}, kind: simple, logsErrors: true,
	},
	{
		name: "sample-controller without client limits", folder: sampleController, processes: []string{controllerName, webhookName}, kind: simple, logsErrors: true,
		options: []harness.Option{harness.WithEnv(controllerName, "KUBE_API_QPS", "100000"), harness.WithEnv(controllerName, "KUBE_API_BURST", "100000")},
	},
	{
		name: "controller-runtime", folder: controllerRuntime, processes: []string{controllerName}, kind: simple, logsErrors: true,
	},
}

// TestPeers_SameObjects_AllBecomeReady measures each operator on a separate control plane, one after the other. make bench-peer runs it with more objects,
// and has it write the figures into docs/reference/benchmarks.md.
func TestPeers_SameObjects_AllBecomeReady(t *testing.T) {
	operators := chosen(t)
	// results are the figures by operator and run.
	results := make([][][]figure, len(operators))
	for run := range *peerRuns {
		for i, o := range operators {
			t.Run(fmt.Sprintf("%s/%d", o.name, run+1), func(t *testing.T) {
				results[i] = append(results[i], o.measure(t, *peerObjects, *peerIdle))
			})
			if t.Failed() {
				t.FailNow()
			}
		}
	}
	text := report(operators, results)
	t.Logf("%d objects:\n%s", *peerObjects, text)
	if *peerPage == "" {
		return
	}
	if err := update(*peerPage, *peerObjects, text); err != nil {
		t.Fatal(err)
	}
}

// chosen returns the operators that the flag without does not name. Mallard, by whose figures the others are judged, stays.
func chosen(t *testing.T) []operator {
	t.Helper()
	left := slices.Clone(operators)
	for name := range strings.SplitSeq(*peerWithout, ",") {
		i := slices.IndexFunc(left[1:], func(o operator) bool { return o.name == name })
		switch {
		case i >= 0:
			left = slices.Delete(left, i+1, i+2)
		case name != "":
			t.Fatalf("-without: there is no operator %q to leave out; docs/reference/benchmarks.md has their names", name)
		}
	}
	return left
}

// env begins the environment variables of a container.
const env = "        env:\n"

// changes are those of sample-controller by file. Pods have their own addresses, whereas processes of one machine need different ports: those of the
// environment, and no probes of knative.dev/pkg, whose port is fixed. The local control plane has the admission plugin
// OwnerReferencesPermissionEnforcement, which requires more permissions.
var changes = []struct{ file, from, to string }{
	{"config/200-clusterrole.yaml", "    resourceNames: [\"knative-samples\"]\n", "    resourceNames: [\"knative-samples\"]\n" + ownerPermissions},
	{"config/controller.yaml", "          containerPort: 9090\n" + env, "          containerPort: 8008\n" + env + profilingPort},
	{"config/webhook.yaml", env, "        ports: [{containerPort: 8008}, {containerPort: 8443}]\n" + env + profilingPort + webhookPort},
	{"cmd/controller/main.go", "import (", "import (\n\t\"knative.dev/pkg/signals\""},
	{"cmd/controller/main.go", "sharedmain.Main(", "sharedmain.MainWithContext(sharedmain.WithHealthProbesDisabled(signals.NewContext()), "},
	{"cmd/webhook/main.go", "signals.NewContext()", "sharedmain.WithHealthProbesDisabled(signals.NewContext())"},
	{"cmd/webhook/main.go", " 8443,", " webhook.PortFromEnv(8443),"},
}

const (
	profilingPort    = "        - {name: PROFILING_PORT, value: \"8008\"}\n"
	ownerPermissions = `  - {apiGroups: [""], resources: [namespaces/finalizers], verbs: [update]}
  - {apiGroups: [admissionregistration.k8s.io], resources: [mutatingwebhookconfigurations, validatingwebhookconfigurations], verbs: [delete]}
`
	webhookPort = "        - {name: WEBHOOK_PORT, value: \"8443\"}\n"
)

// sampleController returns a changed copy of the checkout that SAMPLE_CONTROLLER names.
func sampleController(t testing.TB) string {
	t.Helper()
	from := os.Getenv("SAMPLE_CONTROLLER")
	if from == "" {
		t.Fatal("environment variable SAMPLE_CONTROLLER is not set: it must be the folder of github.com/knative-extensions/sample-controller at commit b1d0d02")
	}
	dir := copied(t, from)
	for _, c := range changes {
		path := filepath.Join(dir, c.file)
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(content), c.from); n != 1 {
			t.Fatalf("%s contains %q %d times, want once", c.file, c.from, n)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(content), c.from, c.to, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// controllerRuntime returns a copy of the module in testdata, so that the built program is not left in the checkout.
func controllerRuntime(t testing.TB) string {
	t.Helper()
	return copied(t, "testdata/controllerruntime")
}

// copied copies a folder to one within the repository, so that the control plane is found.
func copied(t testing.TB, from string) string {
	t.Helper()
	repository, err := controlplane.Repository()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(repository, ".cache", "bench", filepath.Base(from))
	if err := errors.Join(os.RemoveAll(dir), os.CopyFS(dir, os.DirFS(from))); err != nil {
		t.Fatal(err)
	}
	return dir
}
