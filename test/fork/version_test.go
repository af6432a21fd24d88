//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

import (
	"context"
	"fmt"
	"maps"
	"math/rand"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/checkout"
)

// commandsOfVersion are the commands of the guide, a block for each.
var commandsOfVersion = regexp.MustCompile("(?s)```sh shown-by=test/fork:TestMakeVersion_\\w+\n(.*?)```")

// An operator without conversions stores an object. Then its kind gets a version with another field, and the operator is installed again. Images run on
// Linux only.
func TestMakeVersion_ObjectWrittenBefore_KeepsItsProperties(t *testing.T) {
	if runtime.GOOS != "linux" {
		return
	}
	template, variables := newTemplate(t), randomNames(rand.New(testrand.SourceFor(t, 1)))
	maps.Copy(variables, map[string]string{"KINDS": "SimpleDeployment", "MODULES": template.Dir})
	fork := template.fork(t, variables)
	fork.Run(t, "make", "kind", "KIND=Cache")
	fork.Commit(t, "Add a kind", checkout.Committed)

	env := harness.Own(t, harness.Bare(), harness.WithImages())
	fork.install(t, env, variables["NAMESPACE"])
	ns, group := env.Namespace(t), variables["GROUP"]
	object := env.Apply(t, ns, "{apiVersion: "+group+"/v1alpha1, kind: Cache, metadata: {name: it}, spec: {message: before}}")[0]
	before := env.Await(t, object, harness.Ready)

	blocks := commandsOfVersion.FindAllStringSubmatch(template.Read(t, "docs/how-to/add-a-version.md"), -1)
	if len(blocks) != 2 {
		t.Fatalf("the guide has %d blocks of commands, want one before and one after the change of the types", len(blocks))
	}
	fork.Run(t, "bash", "-e", "-c", blocks[0][1])
	types, err := filepath.Glob(filepath.Join(fork.Dir, "pkg/apis/*/v1beta1/cache_types.go"))
	if err != nil || len(types) != 1 {
		t.Fatalf("the version has the types %q: %v", types, err)
	}
	path, err := filepath.Rel(fork.Dir, types[0])
	if err != nil {
		t.Fatal(err)
	}
	fork.replace(t, path, "type CacheSpec struct {\n", "type CacheSpec struct {\n\t// Remark of the user.\n\t// +optional\n\t// +kubebuilder:validation:MaxLength=64\n\tNote string `json:\"note,omitempty\"`\n\n")
	fork.Run(t, "bash", "-e", "-c", blocks[1][1])
	fork.Commit(t, "Add a version", checkout.Committed+1)
	fork.Run(t, "make", "verify", "ARGS=modules format codegen")
	fork.install(t, env, variables["NAMESPACE"])

	get := func(version, path string) (string, error) {
		return env.TryKubectl(t, "", "get", "--namespace", ns, "caches."+version+"."+group+"/it", "--output", "jsonpath="+path)
	}
	expect := func(version, path, want string) {
		t.Helper()
		harness.Eventually(t, fmt.Sprintf("%s at %s is %s", path, version, want), func(context.Context) error {
			got, err := get(version, path)
			if err == nil && got != want {
				err = fmt.Errorf("it is %s", got)
			}
			return err
		})
	}
	patch := func(version, spec string) (string, error) {
		return env.TryKubectl(t, "", "patch", "--namespace", ns, "caches."+version+"."+group+"/it", "--type=merge", "--patch", `{"spec":`+spec+`}`)
	}
	for _, version := range []string{"v1alpha1", "v1beta1"} {
		expect(version, "{.metadata.uid} {.spec}", string(before.GetUID())+` {"message":"before"}`)
	}
	for _, p := range [][2]string{{"v1beta1", `{"note":"kept"}`}, {"v1alpha1", `{"message":"after"}`}} {
		if out, err := patch(p[0], p[1]); err != nil {
			t.Fatalf("writing %s at %s: %v\n%s", p[1], p[0], err, out)
		}
	}
	expect("v1alpha1", "{.spec}", `{"message":"after"}`)
	expect("v1beta1", "{.spec}", `{"message":"after","note":"kept"}`)
	harness.Eventually(t, "the child has the message", func(context.Context) error {
		got, err := env.TryKubectl(t, "", "get", "--namespace", ns, "configmap/it-cache", "--output", "jsonpath={.data.message}")
		if err == nil && got != "after" {
			err = fmt.Errorf("it is %s", got)
		}
		return err
	})
	env.Await(t, object, harness.Ready)
	if _, err := patch("v1alpha1", `{"message":"two\nlines"}`); err == nil || !strings.Contains(err.Error(), "spec.message") {
		t.Errorf("an invalid value was written at the older version: %v", err)
	}
}

// install applies the manifests, and waits until the processes are ready.
func (r repository) install(t *testing.T, env *harness.Env, namespace string) {
	t.Helper()
	env.Ko(t, r.Dir, "apply", "--platform=linux/"+runtime.GOARCH, "--sbom=none", "--filename", "config/")
	for _, deployment := range []string{"webhook", "controller"} {
		env.Kubectl(t, "--namespace", namespace, "rollout", "status", "deployment/"+deployment, "--timeout=2m")
	}
}
