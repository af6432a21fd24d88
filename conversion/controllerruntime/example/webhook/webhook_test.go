/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook_test

import (
	"encoding/json"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/gizmo/apis/v1"
	"example.com/gizmo/apis/v1beta1"
)

const (
	annotation     = "conversion.gizmo.example.com/properties"
	truncatedLabel = annotation + "-truncated"
	// tooLong is the length of a script that does not fit into the annotation.
	tooLong = 64 << 10
)

func newGizmo(namespace, name string) *v1.Gizmo {
	return &v1.Gizmo{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1.GizmoSpec{
			Replicas: new(int32(2)), Strategy: v1.StrategyOnDelete, Script: "start",
			Ports: []v1.Port{{Name: "web", Port: 80, Protocol: "TCP"}, {Name: "dns", Port: 53, Protocol: "UDP"}},
		},
	}
}

func TestGizmo_EditedAtTheOldVersion_KeepsWhatItDoesNotShow(t *testing.T) {
	c := newCluster(t)
	gizmo := newGizmo(c.namespace, "edited")
	c.mustCreate(t, gizmo)
	want := gizmo.Spec.DeepCopy()

	var beta v1beta1.Gizmo
	c.mustGet(t, "edited", &beta)
	if beta.Spec.Strategy != v1beta1.StrategyRolling || len(beta.Spec.Ports) != 2 {
		t.Fatalf("v1beta1 shows %s", jsonOf(t, beta.Spec))
	}
	beta.Spec.Ports, beta.Spec.Replicas = beta.Spec.Ports[1:], new(int32(5))
	c.mustUpdate(t, &beta)
	want.Ports, want.Replicas = want.Ports[1:], new(int32(5))

	var got v1.Gizmo
	c.mustGet(t, "edited", &got)
	if jsonOf(t, got.Spec) != jsonOf(t, want) || got.Annotations[annotation] != "" {
		t.Errorf("v1 has %s and the annotation %q, want %s", jsonOf(t, got.Spec), got.Annotations[annotation], jsonOf(t, want))
	}
}

func TestGizmo_ReplacedByManifestWithoutAnnotation_KeepsWhatTheVersionDoesNotShow(t *testing.T) {
	c := newCluster(t)
	c.mustCreate(t, newGizmo(c.namespace, "replaced"))
	var live v1beta1.Gizmo
	c.mustGet(t, "replaced", &live)
	live.Spec.Replicas = new(int32(1))
	c.mustUpdate(t, &v1beta1.Gizmo{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: "replaced", ResourceVersion: live.ResourceVersion}, Spec: live.Spec,
	})
	want := newGizmo(c.namespace, "replaced").Spec
	want.Replicas = new(int32(1))
	var got v1.Gizmo
	c.mustGet(t, "replaced", &got)
	if jsonOf(t, got.Spec) != jsonOf(t, want) {
		t.Errorf("v1 has %s, want %s", jsonOf(t, got.Spec), jsonOf(t, want))
	}
}

func TestGizmo_CopiedWithAnnotation_IsAdmittedWithWarning(t *testing.T) {
	c := newCluster(t)
	c.mustCreate(t, newGizmo(c.namespace, "original"))
	var original v1beta1.Gizmo
	c.mustGet(t, "original", &original)
	copied := &v1beta1.Gizmo{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: "copied", Annotations: original.Annotations}, Spec: original.Spec,
	}
	c.mustCreate(t, copied)
	if warning := c.warnings.take(); !strings.Contains(warning, "metadata.annotations: the annotation sets properties of other versions: "+annotation) {
		t.Errorf("the warning is %q", warning)
	}
}

func TestGizmo_TooLargeForTheOldVersion_IsRejected(t *testing.T) {
	c := newCluster(t)
	large := newGizmo(c.namespace, "large")
	large.Spec.Script = strings.Repeat("x", tooLong)
	err := c.Create(t.Context(), large)
	for _, want := range []string{"v1beta1 cannot represent the object", "metadata.annotations: Forbidden"} {
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("creating it: %v; want that it is invalid with %q", err, want)
		}
	}
}

// An object can become too large while the webhook is off.
func TestGizmo_TruncatedRepresentation_IsReadableAndNotWritable(t *testing.T) {
	c := newCluster(t)
	large := newGizmo(c.namespace, "truncated")
	large.Labels = map[string]string{unvalidated: "yes"}
	large.Spec.Script = strings.Repeat("x", tooLong)
	c.mustCreate(t, large)

	var beta v1beta1.Gizmo
	c.mustGet(t, "truncated", &beta)
	if beta.Labels[truncatedLabel] == "" || beta.Annotations[annotation] != "" {
		t.Fatalf("v1beta1 shows the labels %v and an annotation of %d bytes", beta.Labels, len(beta.Annotations[annotation]))
	}
	for name, labels := range map[string]map[string]string{"with the label": {truncatedLabel: "1"}, "without it": nil} {
		beta.Labels = labels
		if err := c.Update(t.Context(), &beta); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "this version cannot represent the object") {
			t.Errorf("updating it %s: %v", name, err)
		}
	}

	var hub v1.Gizmo
	c.mustGet(t, "truncated", &hub)
	hub.Labels = nil
	hub.Spec.Replicas = new(int32(3))
	c.mustUpdate(t, &hub) // it was too large before
}

func TestGizmo_RuleOfTheHub_HoldsAtEveryVersion(t *testing.T) {
	c := newCluster(t)
	c.mustCreate(t, newGizmo(c.namespace, "ruled"))
	var beta v1beta1.Gizmo
	c.mustGet(t, "ruled", &beta)
	beta.Spec.Ports = nil
	if err := c.Update(t.Context(), &beta); err == nil || !strings.Contains(err.Error(), "a Gizmo with a script needs a port") {
		t.Errorf("removing the ports at v1beta1, which does not show the script: %v", err)
	}
}

func jsonOf(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (c *cluster) mustCreate(t *testing.T, object client.Object) {
	t.Helper()
	if err := c.Create(t.Context(), object); err != nil {
		t.Fatalf("creating %s: %v", object.GetName(), err)
	}
}

func (c *cluster) mustGet(t *testing.T, name string, object client.Object) {
	t.Helper()
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: c.namespace, Name: name}, object); err != nil {
		t.Fatalf("reading %s: %v", name, err)
	}
}

func (c *cluster) mustUpdate(t *testing.T, object client.Object) {
	t.Helper()
	if err := c.Update(t.Context(), object); err != nil {
		t.Fatalf("updating %s: %v", object.GetName(), err)
	}
}
