/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// replace replaces an object as a user does who has all of it in a file.
func (w *world) replace(t *testing.T, manifest string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "manifest.yaml")
	if err := os.WriteFile(path, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	w.Kubectl(t, "replace", "-n", w.ns, "-f", path)
}

// TestMark_IsInThePatchOfTheVariable shows that there is no moment at which one exists without the other.
func TestMark_IsInThePatchOfTheVariable(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Shared(t))
	d := w.Apply(t, w.ns, deployment("d", "bound: to-it"))[0]
	mark := w.Mark(t)
	ab := w.bind(t, "b", byLabel)
	w.Await(t, ab, harness.Ready)
	w.Await(t, d, has(address), isMarked(true))
	w.exactlyOnce(t, mark, 1)
	w.AwaitAdmission(t, w.ns, deployment("late", "bound: to-it"), has(address), isMarked(true))
	mark = w.Mark(t)
	w.Delete(t, ab)
	w.Await(t, ab, harness.Deleted)
	w.Await(t, d, has(""), isMarked(false))
	w.exactlyOnce(t, mark, 1)
}

// TestUnmarkedVariable_IsNeverChanged has bindings want exactly what Deployments have that they do not choose, or that have not opted in.
func TestUnmarkedVariable_IsNeverChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Shared(t))
	own := fmt.Sprintf("- {name: K_ADDRESS, value: %q}", address)
	var refs []harness.Ref
	for name, labels := range map[string]string{"victim": "", "excluded": `bindings.knative.dev/exclude: "true"`, "chosen": "bound: to-it"} {
		refs = append(refs, w.Apply(t, w.ns, deployment(name, labels, own))...)
	}
	before := map[string]*unstructured.Unstructured{}
	for _, ref := range refs {
		before[ref.Name] = w.get(t, ref)
	}
	mark := w.Mark(t)
	hostile := w.bind(t, "hostile", "{apiVersion: apps/v1, kind: Deployment, name: nothing-of-this-name}")
	w.Await(t, hostile, notBound("SubjectNotFound"), counts(0, 0))
	innocent := w.bind(t, "innocent", byLabel)
	w.Await(t, innocent, notBound("VariableTaken"), counts(1, 0))
	w.setAddress(t, otherAddress)
	w.Await(t, innocent, hasValue(otherAddress))
	w.setAddress(t, "")
	w.Await(t, innocent, harness.HasCondition("AddressResolved", "False", "AddressNotReady"))
	for _, ref := range []harness.Ref{hostile, innocent} {
		w.Delete(t, ref)
		w.Await(t, ref, harness.Deleted)
	}
	for _, ref := range refs {
		after := w.get(t, ref)
		main := strings.Join(environments(after, podTemplate...)["main"], ",")
		if !strings.Contains(main, "K_ADDRESS="+address) {
			t.Errorf("%s has lost its variable: %s", ref.Name, main)
		}
		if ref.Name != "chosen" && after.GetResourceVersion() != before[ref.Name].GetResourceVersion() {
			t.Errorf("%s was changed", ref.Name)
		}
	}
	for _, e := range w.patches(t, mark, "deployments") {
		if e.Name != "chosen" {
			t.Errorf("the controller made a %s of %s", e.Verb, e.Name)
		}
	}
}

func TestAddressBinding_SubjectReplacedWithoutAnnotations_IsBoundAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Shared(t))
	d := w.Apply(t, w.ns, deployment("d", ""))[0]
	ab := w.bind(t, "b", byName)
	w.Await(t, ab, harness.Ready)
	// The user's manifest has neither the variable nor the mark: both are added again.
	w.replace(t, deployment("d", ""))
	w.Await(t, d, has(address), isMarked(true))
	w.Await(t, ab, harness.Ready)
	// What has the variable but no mark is the user's own from now on, and the address is not forced upon it.
	w.replace(t, strings.ReplaceAll(deployment("d", "", fmt.Sprintf("- {name: K_ADDRESS, value: %q}", address)), "of: the user", "of: another"))
	w.Await(t, ab, notBound("VariableTaken"))
	w.setAddress(t, otherAddress)
	w.Await(t, ab, hasValue(otherAddress))
	if got := environments(w.get(t, d), podTemplate...)["main"]; !strings.Contains(strings.Join(got, ","), "K_ADDRESS="+address) {
		t.Errorf("container main has %q", got)
	}
}

func TestRestoredBackup_GetsThePresentAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Shared(t))
	refs := w.Apply(t, w.ns, deployment("d", ""))
	refs = append(refs, w.bind(t, "b", byName))
	w.Await(t, refs[1], harness.Ready)
	w.Await(t, refs[0], has(address))
	var backups []*unstructured.Unstructured
	for _, ref := range refs {
		backup := w.get(t, ref)
		for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "finalizers"} {
			unstructured.RemoveNestedField(backup.Object, "metadata", field)
		}
		// Backups have no status.
		unstructured.RemoveNestedField(backup.Object, "status")
		backups = append(backups, backup)
		w.Delete(t, ref)
		w.Await(t, ref, harness.Deleted)
	}
	w.setAddress(t, otherAddress)
	for i, ref := range refs {
		if _, err := w.Dynamic.Resource(ref.Resource).Namespace(w.ns).Create(t.Context(), backups[i], metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	w.Await(t, refs[1], harness.Ready)
	w.Await(t, refs[0], has(otherAddress), isMarked(true))
}

// revision is the object by which a Deployment or StatefulSet remembers a revision, as Kubernetes' controllers make it; this control plane
// does not run them.
func (w *world) revision(t *testing.T, ref harness.Ref, number int64) {
	t.Helper()
	meta := func(o *unstructured.Unstructured) metav1.ObjectMeta {
		return metav1.ObjectMeta{
			Name: fmt.Sprintf("%s-%d", o.GetName(), number), Labels: map[string]string{"app": o.GetName()}, Annotations: map[string]string{},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(o, o.GroupVersionKind())},
		}
	}
	o := w.get(t, ref)
	var err error
	if o.GetKind() == "Deployment" {
		typed := &appsv1.Deployment{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, typed); err != nil {
			t.Fatal(err)
		}
		rs := &appsv1.ReplicaSet{ObjectMeta: meta(o), Spec: appsv1.ReplicaSetSpec{Replicas: new(int32), Selector: typed.Spec.Selector, Template: typed.Spec.Template}}
		maps.Copy(rs.Annotations, o.GetAnnotations())
		rs.Annotations["deployment.kubernetes.io/revision"] = strconv.FormatInt(number, 10)
		_, err = w.Kube.AppsV1().ReplicaSets(w.ns).Create(t.Context(), rs, metav1.CreateOptions{})
	} else {
		template, _, _ := unstructured.NestedMap(o.Object, "spec", "template")
		template["$patch"] = "replace"
		raw, encodeErr := json.Marshal(map[string]any{"spec": map[string]any{"template": template}})
		if encodeErr != nil {
			t.Fatal(encodeErr)
		}
		_, err = w.Kube.AppsV1().ControllerRevisions(w.ns).Create(t.Context(),
			&appsv1.ControllerRevision{ObjectMeta: meta(o), Data: runtime.RawExtension{Raw: raw}, Revision: number}, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatalf("creating revision %d of %s: %v", number, ref, err)
	}
}

// TestRolloutUndo_VariableStaysOurs rolls back to a revision from before the address changed. That of a Deployment brings back its
// annotations, that of a StatefulSet the Pod template alone.
func TestRolloutUndo_VariableStaysOurs(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	statefulSet := strings.NewReplacer("kind: Deployment", "kind: StatefulSet", "spec:\n  replicas: 2", "spec:\n  serviceName: d\n  replicas: 2").Replace(deployment("d", ""))
	for kind, manifest := range map[string]string{"Deployment": deployment("d", ""), "StatefulSet": statefulSet} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, env)
			d := w.Apply(t, w.ns, manifest)[0]
			ab := w.bind(t, "b", "{apiVersion: apps/v1, kind: "+kind+", name: d}")
			w.Await(t, d, has(address))
			w.Await(t, ab, harness.Ready)
			w.revision(t, d, 1)
			w.setAddress(t, otherAddress)
			w.Await(t, d, has(otherAddress))
			w.Await(t, ab, harness.Ready, hasValue(otherAddress))
			w.revision(t, d, 2)
			w.Patch(t, d, `{"metadata": {"annotations": {"deployment.kubernetes.io/revision": "2"}}}`)

			out := w.Kubectl(t, "rollout", "undo", "-n", w.ns, strings.ToLower(kind)+"/d")
			if !strings.Contains(out, "rolled back") {
				t.Errorf("kubectl says %q", out)
			}
			w.Await(t, d, has(otherAddress), isMarked(true))
			w.Await(t, ab, harness.Ready)

			// The controller alone does it, too.
			w.patchAsOurs(t, d, fmt.Sprintf(`{"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "main",
				"env": [{"name": "K_ADDRESS", "value": %q}]}], "initContainers": null}}}}`, address))
			w.Await(t, d, has(otherAddress))
			w.Await(t, ab, harness.Ready)
			w.Delete(t, ab)
			w.Await(t, ab, harness.Deleted)
			w.Await(t, d, has(""), isMarked(false))
		})
	}
}

// TestReplicaSets_WebhookHasNoRule is about a binding whose variable would make the Deployment controller create ReplicaSets endlessly.
func TestReplicaSets_WebhookHasNoRule(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Shared(t))
	ab := w.bind(t, "b", "{apiVersion: apps/v1, kind: ReplicaSet, selector: {matchLabels: {}}}")
	w.Await(t, ab, notBound("SubjectKindNotBindable"), harness.HasCondition("Intercepted", "Unknown", "SubjectKindNotBindable"))
	d := w.Apply(t, w.ns, deployment("d", ""))[0]
	w.revision(t, d, 1)
	harness.Eventually(t, "the ReplicaSet as it was created", func(ctx context.Context) error {
		rs, err := w.Kube.AppsV1().ReplicaSets(w.ns).Get(ctx, "d-1", metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("reading it: %w", err)
		}
		for _, c := range rs.Spec.Template.Spec.Containers {
			for _, v := range c.Env {
				if v.Name == "K_ADDRESS" {
					t.Errorf("container %s has the variable", c.Name)
				}
			}
		}
		return nil
	})
}
