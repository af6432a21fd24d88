/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllerruntime_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrlconversion "sigs.k8s.io/controller-runtime/pkg/conversion"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/mallard-dev/mallard/conversion"
)

const annotation = "conversion.example.com/properties"

// properties of the versions other than the hub.
var properties = conversion.Annotation{Name: annotation}

// hub is a kind at its hub version. Its conversions are written by hand: older versions keep the text in the annotation.
type hub struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Text string `json:"text,omitempty"`
}

func (*hub) Hub() {}

func (*hub) ConversionAnnotation() conversion.Annotation {
	return conversion.Annotation{Name: annotation, Hub: true}
}

func (h *hub) DeepCopyObject() runtime.Object {
	copied := *h
	h.DeepCopyInto(&copied.ObjectMeta)
	return &copied
}

type spoke struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

func (*spoke) ConversionAnnotation() conversion.Annotation { return properties }

func (s *spoke) DeepCopyObject() runtime.Object {
	copied := *s
	s.DeepCopyInto(&copied.ObjectMeta)
	return &copied
}

// broken is the text of an object that cannot be converted.
const broken = "broken"

var errBroken = errors.New("the text cannot be converted")

func (s *spoke) ConvertFrom(from ctrlconversion.Hub) error {
	source := from.(*hub)
	if source.Text == broken {
		return errBroken
	}
	to := conversion.NewWriter()
	var bag conversion.PropertyBag
	if err := bag.Put("v1/text", source.Text); err != nil {
		return err
	}
	to.SetBag(bag)
	properties.Store(&s.ObjectMeta, &source.ObjectMeta, to)
	return nil
}

func (s *spoke) ConvertTo(to ctrlconversion.Hub) error {
	target := to.(*hub)
	bag := properties.Load(&target.ObjectMeta, &s.ObjectMeta).Bag()
	bag.Take("v1/text", &target.Text)
	if target.Text == broken {
		return errBroken
	}
	return nil
}

var groupVersion = schema.GroupVersion{Group: "example.com", Version: "v1"}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypeWithName(groupVersion.WithKind("Widget"), &hub{})
	scheme.AddKnownTypeWithName(schema.GroupVersion{Group: "example.com", Version: "v1beta1"}.WithKind("Widget"), &spoke{})
	return scheme
}

// request is an admission request for an object, which has the kind Widget, and for the live one, if any.
func request(t *testing.T, object, live runtime.Object) admission.Request {
	t.Helper()
	made := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Operation: admissionv1.Create}}
	made.Object.Raw = raw(t, object, &made.Kind)
	if live != nil {
		made.Operation = admissionv1.Update
		made.OldObject.Raw = raw(t, live, &made.Kind)
	}
	made.RequestKind = made.Kind.DeepCopy()
	return made
}

func raw(t *testing.T, object runtime.Object, kind *metav1.GroupVersionKind) []byte {
	t.Helper()
	*kind = metav1.GroupVersionKind{Group: "example.com", Version: "v1beta1", Kind: "Widget"}
	if _, isHub := object.(*hub); isHub {
		kind.Version = "v1"
	}
	copied := object.DeepCopyObject()
	copied.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind(*kind))
	text, err := json.Marshal(copied)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// expectRejected checks that a response rejects a request with texts in its message.
func expectRejected(t *testing.T, response admission.Response, reason metav1.StatusReason, texts ...string) {
	t.Helper()
	if response.Allowed || response.Result.Reason != reason {
		t.Errorf("allowed %v with the reason %q, want a rejection with %q", response.Allowed, response.Result.Reason, reason)
	}
	for _, text := range texts {
		if !strings.Contains(response.Result.Message, text) {
			t.Errorf("the message is %q, want one with %q", response.Result.Message, text)
		}
	}
}
