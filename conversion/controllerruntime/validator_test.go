/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllerruntime_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/mallard-dev/mallard/conversion"
	"github.com/mallard-dev/mallard/conversion/controllerruntime"
)

func validated[T controllerruntime.Object](t *testing.T, validator admission.Validator[T], request admission.Request) admission.Response {
	t.Helper()
	return admission.WithValidator(newScheme(), validator).Handle(t.Context(), request)
}

// atHub validates hub objects and their representations.
func atHub(next admission.Validator[*hub]) *controllerruntime.Validator[*hub] {
	return &controllerruntime.Validator[*hub]{
		Next: next, Spokes: map[string]func() controllerruntime.Spoke{"v1beta1": func() controllerruntime.Spoke { return &spoke{} }},
	}
}

// sized is a hub object whose representation needs an annotation of about this size.
func sized(bytes int) *hub {
	return &hub{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Text: strings.Repeat("x", bytes)}
}

func TestValidator_TruncatedRepresentation_IsRejected(t *testing.T) {
	var truncated spoke
	if err := truncated.ConvertFrom(sized(conversion.HardLimit)); err != nil {
		t.Fatal(err)
	}
	unmarked := &spoke{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	validator := &controllerruntime.Validator[*spoke]{}
	for name, request := range map[string]admission.Request{
		"create": request(t, &truncated, nil), "update": request(t, &truncated, &truncated), "without the label": request(t, unmarked, &truncated),
	} {
		t.Run(name, func(t *testing.T) {
			expectRejected(t, validated(t, validator, request), metav1.StatusReasonInvalid,
				`Widget.example.com "a" is invalid`, "metadata.annotations: Forbidden: this version cannot represent the object without losing data")
		})
	}
}

func TestValidator_RepresentationWouldBeTruncated_IsRejectedUnlessItWasBefore(t *testing.T) {
	large := sized(conversion.HardLimit)
	expectRejected(t, validated(t, atHub(nil), request(t, large, nil)), metav1.StatusReasonInvalid, "v1beta1 cannot represent the object")
	expectRejected(t, validated(t, atHub(nil), request(t, large, sized(1))), metav1.StatusReasonInvalid, "v1beta1 cannot represent the object")

	status := request(t, large, sized(1))
	status.SubResource = "status"
	deleted := sized(conversion.HardLimit)
	deleted.DeletionTimestamp, deleted.Finalizers = new(metav1.Now()), []string{"example.com/a"}
	for name, request := range map[string]admission.Request{
		"it was before": request(t, large, large), "status": status, "being deleted": request(t, deleted, sized(1)), "small": request(t, sized(1), large),
	} {
		if response := validated(t, atHub(nil), request); !response.Allowed {
			t.Errorf("%s: %s", name, response.Result.Message)
		}
	}
}

func TestValidator_Warnings_ReachTheClient(t *testing.T) {
	copied := validated(t, &controllerruntime.Validator[*spoke]{}, request(t, annotated("{}"), nil))
	large := validated(t, atHub(nil), request(t, sized(conversion.SoftLimit), nil))
	for want, response := range map[string]admission.Response{
		"metadata.annotations: the annotation sets properties of other versions: ": copied,
		"metadata.annotations: v1beta1 needs 164":                                  large,
	} {
		if !response.Allowed || len(response.Warnings) != 1 || !strings.HasPrefix(response.Warnings[0], want) {
			t.Errorf("allowed %v with the warnings %q, want %q", response.Allowed, response.Warnings, want)
		}
	}
}

// noted notes which methods are called, and warns and fails.
type noted struct{ calls []string }

var errNoted = errors.New("no such text")

func (n *noted) note(method, text string) (admission.Warnings, error) {
	n.calls = append(n.calls, method+" "+text)
	return admission.Warnings{"noted"}, errNoted
}

func (n *noted) ValidateCreate(_ context.Context, object *hub) (admission.Warnings, error) {
	return n.note("create", object.Text)
}

func (n *noted) ValidateUpdate(_ context.Context, live, object *hub) (admission.Warnings, error) {
	return n.note("update "+live.Text, object.Text)
}

func (n *noted) ValidateDelete(_ context.Context, object *hub) (admission.Warnings, error) {
	return n.note("delete", object.Text)
}

func deletion(made admission.Request) admission.Request {
	made.Operation, made.OldObject, made.Object.Raw = admissionv1.Delete, made.Object, nil
	return made
}

// The rules of the hub see the same at a version that shows nothing of it.
func TestValidator_Next_ValidatesTheHubObject(t *testing.T) {
	one, two := &hub{Text: "one"}, &hub{Text: "two"}
	var older, oldest spoke
	if err := errors.Join(older.ConvertFrom(two), oldest.ConvertFrom(one)); err != nil {
		t.Fatal(err)
	}
	var atHubVersion, atSpoke noted
	atOlder := &controllerruntime.Validator[*spoke]{Next: controllerruntime.AtHub[*spoke](&atSpoke)}
	for _, response := range []admission.Response{
		validated(t, atHub(&atHubVersion), request(t, one, nil)), validated(t, atHub(&atHubVersion), request(t, two, one)),
		validated(t, atHub(&atHubVersion), deletion(request(t, two, nil))),
		validated(t, atOlder, request(t, &oldest, nil)), validated(t, atOlder, request(t, &older, &oldest)), validated(t, atOlder, deletion(request(t, &older, nil))),
	} {
		expectRejected(t, response, metav1.StatusReasonForbidden, "no such text")
		if last := response.Warnings[len(response.Warnings)-1]; last != "noted" {
			t.Errorf("warnings are %q", response.Warnings)
		}
	}
	want := []string{"create one", "update one two", "delete two"}
	if diff := cmp.Diff([][]string{want, want}, [][]string{atHubVersion.calls, atSpoke.calls}); diff != "" {
		t.Errorf("calls at the hub and at the older version (-want +got):\n%s", diff)
	}
}

func TestValidator_ConversionFails_IsRejected(t *testing.T) {
	damaged := &hub{Text: broken}
	expectRejected(t, validated(t, atHub(nil), request(t, damaged, nil)), metav1.StatusReasonForbidden, "converting the object to v1beta1: the text cannot be converted")
	expectRejected(t, validated(t, atHub(nil), request(t, sized(conversion.HardLimit), damaged)), metav1.StatusReasonForbidden, "the text cannot be converted")

	text := annotated(`{"e":{"v1/text":{"d":"broken"}},"f":1}`)
	older := &controllerruntime.Validator[*spoke]{Next: controllerruntime.AtHub[*spoke](&noted{})}
	for _, request := range []admission.Request{
		request(t, text, nil), request(t, text, annotated("")), request(t, annotated(""), text), deletion(request(t, text, nil)),
	} {
		expectRejected(t, validated(t, older, request), metav1.StatusReasonForbidden, "converting the object to *controllerruntime_test.hub: the text cannot be converted")
	}
}

func TestValidator_SpokesOfAnOlderVersion_AreReported(t *testing.T) {
	older := &controllerruntime.Validator[*spoke]{
		Spokes: map[string]func() controllerruntime.Spoke{"v1beta1": func() controllerruntime.Spoke { return &spoke{} }},
	}
	expectRejected(t, validated(t, older, request(t, &spoke{}, nil)), metav1.StatusReasonForbidden, "is not the hub, so its Validator must have no Spokes")
}

func TestValidator_ObjectConvertedForTheWebhook_IsRejected(t *testing.T) {
	converted := request(t, &spoke{}, nil)
	converted.RequestKind.Version = "v1"
	expectRejected(t, validated(t, &controllerruntime.Validator[*spoke]{}, converted), metav1.StatusReasonForbidden, "matchPolicy: Exact")
}

func TestValidator_Delete_IsAdmitted(t *testing.T) {
	if response := validated(t, atHub(nil), deletion(request(t, sized(conversion.HardLimit), nil))); !response.Allowed {
		t.Error(response.Result.Message)
	}
}
