/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"knative.dev/pkg/apis"
	_ "knative.dev/pkg/client/injection/kube/client/fake"
	_ "knative.dev/pkg/client/injection/kube/informers/admissionregistration/v1/mutatingwebhookconfiguration/fake"
	_ "knative.dev/pkg/client/injection/kube/informers/admissionregistration/v1/validatingwebhookconfiguration/fake"
	"knative.dev/pkg/controller"
	_ "knative.dev/pkg/injection/clients/namespacedkube/informers/core/v1/secret/fake"
	reconcilertesting "knative.dev/pkg/reconciler/testing"
	_ "knative.dev/pkg/system/testing"
	"knative.dev/pkg/webhook"
	"knative.dev/pkg/webhook/resourcesemantics"
	"knative.dev/pkg/webhook/resourcesemantics/defaulting"
	"knative.dev/pkg/webhook/resourcesemantics/validation"
)

// teal is a kind whose default is one color, and whose shape is kept on updates.
type teal struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Color string `json:"color"`
		Feet  []foot `json:"feet,omitempty"`
		Nest  *int   `json:"nest,omitempty"`
	} `json:"spec"`
}

type foot struct {
	Size int `json:"size"`
}

func (d *teal) DeepCopyObject() runtime.Object { c := *d; return &c }

func (d *teal) SetDefaults(ctx context.Context) {
	if d.Spec.Color == "" {
		d.Spec.Color = "green"
	}
	if old, ok := apis.GetBaseline(ctx).(*teal); ok && old.Labels != nil {
		d.Labels = old.Labels
	}
	d.Spec.Nest = nil
}

func (*teal) Validate(context.Context) *apis.FieldError { return nil }

var duckKind = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Duck"}

// admitted returns the response to an update, and the object that the API server stores then.
func admitted(t *testing.T, p *process, newController func(context.Context) *controller.Impl, old, sent string) (*admissionv1.AdmissionResponse, string) {
	t.Helper()
	ctx, _ := reconcilertesting.SetupFakeContext(t)
	impl := newController(webhook.WithOptions(ctx, webhook.Options{SecretName: "certs"}))
	h := &hardened{process: p, inner: impl.Reconciler}
	response := h.wrap().(webhook.AdmissionController).Admit(t.Context(), &admissionv1.AdmissionRequest{
		Operation: admissionv1.Update, Kind: metav1.GroupVersionKind(duckKind),
		Object: runtime.RawExtension{Raw: []byte(sent)}, OldObject: runtime.RawExtension{Raw: []byte(old)},
	})
	stored := []byte(sent)
	if len(response.Patch) > 0 {
		patch, err := jsonpatch.DecodePatch(response.Patch)
		if err != nil {
			t.Fatal(err)
		}
		if stored, err = patch.Apply(stored); err != nil {
			t.Fatalf("the API server could not apply %s: %v", response.Patch, err)
		}
	}
	return response, string(stored)
}

func ducksDefaulted(ctx context.Context) *controller.Impl {
	return defaulting.NewAdmissionController(ctx, "defaulting", "/defaulting", map[schema.GroupVersionKind]resourcesemantics.GenericCRD{duckKind: &teal{}}, nil, false)
}

func TestFields_Defaulting_PatchesOnlyWhatSetDefaultsChanges(t *testing.T) {
	p, _ := newProcess(t)
	for name, tc := range map[string]struct{ old, sent, want string }{
		"fields of a later release": {
			sent: `{"metadata":{"later":1},"spec":{"later":{"a":[1]},"feet":[{"size":1,"later":""}]},"status":{"later":null}}`,
			want: `{"metadata":{"later":1},"spec":{"later":{"a":[1]},"feet":[{"size":1,"later":""}],"color":"green"},"status":{"later":null}}`,
		},
		"nothing to default":   {sent: `{"spec":{"color":"red"}}`, want: `{"spec":{"color":"red"}}`},
		"everything left out":  {sent: `{}`, want: `{"spec":{"color":"green"}}`},
		"an empty value":       {sent: `{"spec":{"color":null}}`, want: `{"spec":{"color":"green"}}`},
		"a removed field":      {sent: `{"spec":{"color":"red","nest":1}}`, want: `{"spec":{"color":"red"}}`},
		"a wrong type":         {sent: `{"spec":{"feet":[{"size":"1"}]}}`, want: `{"spec":{"feet":[{"size":"1"}]}}`},
		"a wrong type, stored": {old: `{"metadata":{"labels":{"a":"b"}},"spec":{"feet":1}}`, sent: `{"metadata":{}}`, want: `{"metadata":{"labels":{"a":"b"}},"spec":{"color":"green"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			response, stored := admitted(t, p, ducksDefaulted, tc.old, tc.sent)
			if !response.Allowed || !equalJSON(t, stored, tc.want) {
				t.Errorf("allowed: %t, stored: %s, want %s", response.Allowed, stored, tc.want)
			}
			if (response.PatchType == nil) != (len(response.Patch) == 0) {
				t.Errorf("patch %q of type %v", response.Patch, response.PatchType)
			}
		})
	}
}

// The day that this fails, fields.go may be no longer needed.
func TestFields_Off_UpstreamRewritesObjects(t *testing.T) {
	p, _ := newProcess(t, fields)
	if _, stored := admitted(t, p, ducksDefaulted, "", `{"metadata":{"later":1}}`); strings.Contains(stored, "later") {
		t.Errorf("package defaulting keeps unknown fields: %s", stored)
	}
	if response, _ := admitted(t, p, ducksDefaulted, "", `{"spec":{"feet":1}}`); response.Allowed {
		t.Error("package defaulting leaves an object that cannot be decoded to the schema")
	}
}

func TestFields_Validation_StoredObjectOfAnotherType_CanBeRepaired(t *testing.T) {
	validated := func(ctx context.Context) *controller.Impl {
		return validation.NewAdmissionController(ctx, "validation", "/validation", map[schema.GroupVersionKind]resourcesemantics.GenericCRD{duckKind: &teal{}}, nil, false)
	}
	for name, tc := range map[string]struct {
		off       []concern
		old, sent string
		allowed   bool
	}{
		"repair":           {old: `{"spec":{"feet":1}}`, sent: `{"spec":{}}`, allowed: true},
		"repair, switched": {off: []concern{fields}, old: `{"spec":{"feet":1}}`, sent: `{"spec":{}}`},
		"damage":           {old: `{"spec":{}}`, sent: `{"spec":{"feet":1}}`},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := newProcess(t, tc.off...)
			if response, _ := admitted(t, p, validated, tc.old, tc.sent); response.Allowed != tc.allowed {
				t.Errorf("allowed: %t, want %t: %v", response.Allowed, tc.allowed, response.Result)
			}
		})
	}
}

func equalJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var decoded [2]any
	for i, text := range []string{a, b} {
		if err := json.Unmarshal([]byte(text), &decoded[i]); err != nil {
			t.Fatal(err)
		}
	}
	return reflect.DeepEqual(decoded[0], decoded[1])
}
