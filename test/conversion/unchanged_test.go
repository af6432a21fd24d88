/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// kubectl's ways to write back what it has read, unchanged.
var waysBack = map[string]func(t *testing.T, env *harness.Env, ref harness.Ref, shown, file string){
	"apply": func(t *testing.T, env *harness.Env, _ harness.Ref, _, file string) {
		t.Helper()
		env.Kubectl(t, "apply", "--filename", file)
	},
	"apply --server-side": func(t *testing.T, env *harness.Env, _ harness.Ref, _, file string) {
		t.Helper()
		env.Kubectl(t, "apply", "--server-side", "--filename", file)
	},
	"replace": func(t *testing.T, env *harness.Env, _ harness.Ref, _, file string) {
		t.Helper()
		env.Kubectl(t, "replace", "--filename", file)
	},
	"patch": func(t *testing.T, env *harness.Env, ref harness.Ref, shown, _ string) {
		t.Helper()
		whole := parse(t, shown)
		patch, err := json.Marshal(map[string]any{"spec": whole["spec"], "metadata": whole["metadata"]})
		if err != nil {
			t.Fatal(err)
		}
		env.Kubectl(t, "patch", kubectlName(ref), ref.Name, "--namespace", ref.Namespace, "--type", "merge", "--patch", string(patch))
	},
	"edit": func(t *testing.T, env *harness.Env, ref harness.Ref, _, _ string) {
		t.Helper()
		// The editor leaves a comment, which is all that changes.
		env.Kubectl(t, "edit", kubectlName(ref), ref.Name, "--namespace", ref.Namespace)
	},
}

// kubectlName is the resource with its version, as kubectl takes it.
func kubectlName(ref harness.Ref) string {
	return ref.Resource.Resource + "." + ref.Resource.Version + "." + ref.Resource.Group
}

// The first write changes only the annotation of kubectl. Later writes change nothing.
func TestKubectl_WriteBackUnchanged_IsByteIdenticalInEtcd(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	env.Apply(t, ns, target)
	for way, write := range waysBack {
		for _, version := range writtenBack {
			t.Run(way+" at "+version, func(t *testing.T) {
				t.Parallel()
				ref := at(version, ns, "subject-"+strings.ReplaceAll(strings.ReplaceAll(way, " ", ""), "--", "-")+"-"+version)
				env.Apply(t, ns, strings.Replace(full(ns, ref.Name), "kind: Service,", "kind: Service, namespace: "+ns+",", 1))
				settled := env.Await(t, at(hub, ns, ref.Name), harness.Ready, harness.HasCondition("Published", "True", ""))
				before := env.Stored(t, ref)

				noted := strings.HasPrefix(way, "apply")
				shown, file := read(t, env, ref, noted)
				write(t, env, ref, shown, file)
				first := env.Stored(t, ref)
				if noted {
					expectEqual(t, "after the first time", withoutTraces(t, before), withoutTraces(t, first))
				} else if diff := cmp.Diff(before, first); diff != "" {
					t.Errorf("not byte-identical (-before +after):\n%s", diff)
				}
				if got := stored(t, first).GetGeneration(); got != settled.GetGeneration() {
					t.Errorf("the generation was %d and is %d", settled.GetGeneration(), got)
				}

				shown, file = read(t, env, ref, noted)
				write(t, env, ref, shown, file)
				if diff := cmp.Diff(first, env.Stored(t, ref)); diff != "" {
					t.Errorf("not byte-identical the second time (-before +after):\n%s", diff)
				}
				env.Delete(t, ref)
				env.Await(t, ref, harness.Deleted)
			})
		}
	}
}

// read has kubectl show an object, and writes that into a file.
func read(t *testing.T, env *harness.Env, ref harness.Ref, noted bool) (shown, file string) {
	t.Helper()
	shown = env.Kubectl(t, "get", kubectlName(ref), ref.Name, "--namespace", ref.Namespace, "--output", "json")
	if noted {
		// It would be in the manifest that kubectl records, and differ each time.
		shown = regexp.MustCompile(`"resourceVersion": "\d+",`).ReplaceAllString(shown, "")
	}
	file = filepath.Join(t.TempDir(), "subject.json")
	if err := os.WriteFile(file, []byte(shown), 0o600); err != nil {
		t.Fatal(err)
	}
	return shown, file
}
