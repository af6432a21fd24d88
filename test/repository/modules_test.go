/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package repository

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// modules returns the folders that hold a go.mod file.
func modules(t *testing.T) []string {
	t.Helper()
	var folders []string
	for _, path := range files(t, "go.mod", "**/go.mod") {
		folders = append(folders, filepath.Dir(path))
	}
	slices.Sort(folders)
	return folders
}

func TestModules_Dependabot_HasEach(t *testing.T) {
	var config struct {
		Updates []struct {
			Ecosystem   string   `json:"package-ecosystem"`
			Directories []string `json:"directories"`
		} `json:"updates"`
	}
	if err := yaml.Unmarshal([]byte(read(t, ".github/dependabot.yml")), &config); err != nil {
		t.Fatal(err)
	}
	for _, module := range modules(t) {
		known := false
		for _, update := range config.Updates {
			for _, pattern := range update.Directories {
				match, err := filepath.Match(pattern, filepath.Join("/", module))
				if err != nil {
					t.Fatal(err)
				}
				known = known || (match && update.Ecosystem == "gomod")
			}
		}
		if !known {
			t.Errorf("dependabot does not look after the module in %s", module)
		}
	}
}

// Generated code has to fit the modules that it is compiled with.
func TestModules_SharedDependencies_HaveOneVersion(t *testing.T) {
	operator := versions(t, ".")
	for _, folder := range []string{"hack/tools", "conversion/example"} {
		other := versions(t, folder)
		for _, path := range []string{"k8s.io/apimachinery", "knative.dev/pkg"} {
			if operator[path] != other[path] {
				t.Errorf("%s is %s in go.mod and %s in %s/go.mod", path, operator[path], other[path], folder)
			}
		}
		if operator["k8s.io/client-go"] != other["k8s.io/code-generator"] {
			t.Errorf("client-go is %s and its generators in %s are %s", operator["k8s.io/client-go"], folder, other["k8s.io/code-generator"])
		}
	}
	for _, folder := range modules(t) {
		if got, want := versions(t, folder)["go"], operator["go"]; got != want {
			t.Errorf("the module in %s requires Go %s, the root %s", folder, got, want)
		}
	}
}

var requirement = regexp.MustCompile(`(?m)^\s*(?:require )?([\w./~-]+) (v?\d\S*)`)

// versions returns the requirements of a go.mod file, and the Go version under "go".
func versions(t *testing.T, folder string) map[string]string {
	t.Helper()
	required := make(map[string]string)
	for _, match := range requirement.FindAllStringSubmatch(read(t, filepath.Join(folder, "go.mod")), -1) {
		required[match[1]] = match[2]
	}
	return required
}

// A requirement of the root module sets the lowest version that forks, and users of its libraries, can have.
func TestModules_ControllerRuntime_IsRequiredWhereItIsUsed(t *testing.T) {
	const controllerRuntime = "sigs.k8s.io/controller-runtime"
	for _, folder := range modules(t) {
		isUser := isBelow(folder, "conversion/controllerruntime") || folder == "conversion/e2e" || folder == "test/costs/testdata/controllerruntime"
		if version := versions(t, folder)[controllerRuntime]; version != "" && !isUser {
			t.Errorf("the module in %s requires %s %s", folder, controllerRuntime, version)
		}
	}
}

// TestModules_ThoseForOthers_DependOnNothingOfOurs keeps the modules that other projects use free of everything else in this repository.
func TestModules_ThoseForOthers_DependOnNothingOfOurs(t *testing.T) {
	for folder, allowed := range map[string]string{
		"conversion": "conversion", "conversion/knative": "conversion", "conversion/controllerruntime": "conversion",
		"conversion/cmd/assign-gen": "conversion/cmd/assign-gen",
		"hardening":                 "hardening", "localcluster": "localcluster", "localcluster/env": "localcluster/env",
	} {
		for required := range versions(t, folder) {
			if isBelow(required, module) && !isBelow(required, whole(allowed)) {
				t.Errorf("%s/go.mod must not require %s: the module is used without the operator", folder, required)
			}
		}
		for path, dependencies := range dependencies(t, folder) {
			for _, dependency := range dependencies {
				if isBelow(dependency, module) && !isBelow(dependency, whole(allowed)) {
					t.Errorf("%s must not depend on %s: the module is used without the operator", path, dependency)
				}
			}
		}
	}
}

// After the reconciliations, the process releases its leases and sends its last metrics.
func TestHardening_DrainLimit_EndsBeforeTheGracePeriodOfEachDeployment(t *testing.T) {
	limit := regexp.MustCompile(`drainLimit = (\d+) \* time.Second`).FindStringSubmatch(read(t, "hardening/stopping.go"))
	if limit == nil {
		t.Fatal("hardening/stopping.go has no drainLimit")
	}
	seconds, err := strconv.ParseInt(limit[1], 10, 64)
	deployments := 0
	for _, object := range configObjects(t) {
		if object.GetKind() != "Deployment" {
			continue
		}
		deployments++
		period, found, periodErr := unstructured.NestedInt64(object.Object, "spec", "template", "spec", "terminationGracePeriodSeconds")
		if err := errors.Join(err, periodErr); err != nil || !found || seconds+5 >= period {
			t.Errorf("Deployment %s: the grace period is %d s, the limit %d s: %v", object.GetName(), period, seconds, err)
		}
	}
	if deployments == 0 {
		t.Error("config/ has no Deployment")
	}
}

// Packages of types import the library, those of other projects too, whatever their operator is made with.
func TestConversion_Library_DependsOnApimachineryAlone(t *testing.T) {
	const apimachinery = "k8s.io/apimachinery"
	gomod, err := os.ReadFile(strings.TrimSpace(output(t, "go", "-C", "conversion", "list", "-m", "-f", "{{.GoMod}}", apimachinery)))
	if err != nil {
		t.Fatal(err)
	}
	allowed := []string{whole("conversion"), apimachinery}
	for _, match := range requirement.FindAllStringSubmatch(string(gomod), -1) {
		allowed = append(allowed, match[1])
	}
	for path, dependencies := range dependencies(t, "conversion") {
		for _, dependency := range dependencies {
			isStandard := !strings.Contains(strings.Split(dependency, "/")[0], ".")
			if !isStandard && !slices.ContainsFunc(allowed, func(module string) bool { return isBelow(dependency, module) }) {
				t.Errorf("%s depends on %s, which neither is k8s.io/apimachinery nor a module that it requires", path, dependency)
			}
		}
	}
}

func TestConversion_Adapters_LinkNoWebhook(t *testing.T) {
	for folder, forbidden := range map[string][]string{
		"conversion/knative": {"k8s.io/client-go", "knative.dev/pkg/controller", "knative.dev/pkg/injection", "knative.dev/pkg/webhook"},
	} {
		imports := dependencies(t, folder)
		for _, each := range forbidden {
			expectNoDependency(t, imports, []string{whole(folder)}, each, "packages of types call it")
		}
	}
}

// The environment runs the control plane as a process.
func TestEnvironment_DoesNotLinkKubernetes(t *testing.T) {
	imports := dependencies(t, "localcluster/env")
	expectNoDependency(t, imports, below(imports, whole("localcluster/env")), "k8s.io/kubernetes", "linking it takes minutes")
}
