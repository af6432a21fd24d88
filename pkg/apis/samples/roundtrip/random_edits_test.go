/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package roundtrip

import (
	"maps"
	"math/rand"
	"reflect"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	duckv1 "knative.dev/pkg/apis/duck/v1"

	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1beta1"
)

// Each field of an older version is set to what it is in another random object. What becomes of v1 is worked out on the object
// of v1 itself, by a rule for each field that knows nothing of conversions.

func TestEdits_RandomAtV1alpha1_KeepHiddenFields(t *testing.T) {
	edits := map[string]edit[v1alpha1.AddressableService]{
		"serviceName": {
			edit: func(shown, other *v1alpha1.AddressableService) { shown.Spec.ServiceName = other.Spec.ServiceName },
			rule: func(was *v1.AddressableService, shown, edited *v1alpha1.AddressableService) {
				switch name := edited.Spec.ServiceName; name {
				case shown.Spec.ServiceName:
				case "":
					was.Spec.Ref = v1.TargetReference{}
				default:
					was.Spec.Ref = v1.TargetReference{APIVersion: "v1", Kind: "Service", Name: name}
				}
			},
		},
	}
	maps.Copy(edits, editsAnywhere(
		func(as *v1alpha1.AddressableService) *duckv1.Status { return &as.Status.Status },
		func(as *v1alpha1.AddressableService) **duckv1.Addressable { return &as.Status.Address },
	))
	testRandomEdits(t, "v1alpha1", edits)
}

func TestEdits_RandomAtV1beta1_KeepHiddenFields(t *testing.T) {
	edits := map[string]edit[v1beta1.AddressableService]{
		"ref": {
			edit: func(shown, other *v1beta1.AddressableService) { shown.Spec.Ref = other.Spec.Ref },
			rule: func(was *v1.AddressableService, _, edited *v1beta1.AddressableService) {
				was.Spec.Ref = v1.TargetReference(edited.Spec.Ref)
			},
		},
		"port": {
			edit: func(shown, other *v1beta1.AddressableService) { shown.Spec.Port = other.Spec.Port },
			rule: func(was *v1.AddressableService, _, edited *v1beta1.AddressableService) {
				setPort(was, edited.Spec.Port)
			},
		},
		"path": {
			edit: func(shown, other *v1beta1.AddressableService) { shown.Spec.Path = other.Spec.Path },
			rule: func(was *v1.AddressableService, shown, edited *v1beta1.AddressableService) {
				switch path := edited.Spec.Path; path {
				case shown.Spec.Path:
				case "":
					was.Spec.Path = nil
				default:
					was.Spec.Path = &path
				}
			},
		},
		"exposure": {
			edit: func(shown, other *v1beta1.AddressableService) { shown.Spec.Exposure = other.Spec.Exposure },
			rule: func(was *v1.AddressableService, shown, edited *v1beta1.AddressableService) {
				switch exposure := edited.Spec.Exposure; exposure {
				case shown.Spec.Exposure:
				case v1beta1.ExposureInternal:
					was.Spec.Visibility = v1.VisibilityClusterLocal
				case v1beta1.ExposureExternal:
					was.Spec.Visibility = v1.VisibilityPublic
				default:
					was.Spec.Visibility = v1.Visibility(exposure)
				}
			},
		},
	}
	maps.Copy(edits, editsAnywhere(
		func(as *v1beta1.AddressableService) *duckv1.Status { return &as.Status.Status },
		func(as *v1beta1.AddressableService) **duckv1.Addressable { return &as.Status.Address },
	))
	testRandomEdits(t, "v1beta1", edits)
}

// edit is a change that a client makes to one field.
type edit[T any] struct {
	// edit gives the object that is shown the field of another one.
	edit func(shown, other *T)
	// rule gives v1 what the client meant.
	rule func(was *v1.AddressableService, shown, edited *T)
}

// editsAnywhere are the edits of what every version has.
func editsAnywhere[T any, P interface {
	*T
	metav1.Object
}](status func(*T) *duckv1.Status, address func(*T) **duckv1.Addressable) map[string]edit[T] {
	return map[string]edit[T]{
		"status.address": {
			edit: func(shown, other *T) { *address(shown) = *address(other) },
			rule: func(was *v1.AddressableService, _, edited *T) { setAddress(was, *address(edited)) },
		},
		"status": {
			edit: func(shown, other *T) { *status(shown) = *status(other) },
			rule: func(was *v1.AddressableService, _, edited *T) { was.Status.Status = *status(edited) },
		},
		"metadata.labels": {
			edit: func(shown, other *T) { P(shown).SetLabels(P(other).GetLabels()) },
			rule: func(was *v1.AddressableService, _, edited *T) { was.Labels = P(edited).GetLabels() },
		},
	}
}

func testRandomEdits[T any](t *testing.T, version string, edits map[string]edit[T]) {
	t.Helper()
	for field, edit := range edits {
		t.Run(field, func(t *testing.T) {
			random := randomly(t)
			r := rand.New(testrand.Source(t))
			for range testrand.Inputs(t) {
				was, other := random("v1").(*v1.AddressableService), any(random(version)).(*T)
				makeUsual(was, r)
				before := encode(t, was)
				var shown, edited T
				text := converted(t, before, "v1", version)
				decode(t, text, &shown)
				decode(t, text, &edited)

				edit.edit(&edited, other)
				edit.rule(was, &shown, &edited)
				written := encode(t, &edited)
				after := converted(t, written, version, "v1")
				expectSamef(t, encode(t, was), visible(t, after), "%s, which %s shows as %s, edited to %s", before, version, text, written)

				again := converted(t, after, "v1", version)
				expectSamef(t, visible(t, written), visible(t, again), "who edited %s does not see what was written", text)
			}
		})
	}
}

// makeUsual makes an object often one that there are many of.
func makeUsual(as *v1.AddressableService, r *rand.Rand) {
	if r.Intn(2) == 0 {
		as.Spec.Ref = v1.TargetReference{APIVersion: "v1", Kind: "Service", Name: "web"}
	}
	if r.Intn(4) == 0 {
		as.Spec.Ports = []v1.AddressPort{{Name: "port", Port: 80}}
	}
}

func setAddress(as *v1.AddressableService, address *duckv1.Addressable) {
	if !reflect.DeepEqual(as.Status.Address, address) {
		as.Status.Address, as.Status.Addresses = address, nil
	}
}

func setPort(as *v1.AddressableService, port int32) {
	ports := as.Spec.Ports
	switch {
	case len(ports) == 0 && port == 0:
	case len(ports) == 0 || (len(ports) == 1 && ports[0] == v1.AddressPort{Name: "port", Port: ports[0].Port} && ports[0].Port != 0):
		as.Spec.Ports = nil
		if port != 0 {
			as.Spec.Ports = []v1.AddressPort{{Name: "port", Port: port}}
		}
	default:
		ports[0].Port = port
	}
}
