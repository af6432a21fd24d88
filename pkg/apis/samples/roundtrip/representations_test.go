/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package roundtrip

import "testing"

// Each object has the given representation at every version, and written back there unchanged it is again what it was.
func TestConversion_EachVersion_HasItsRepresentation(t *testing.T) {
	for name, test := range map[string]struct {
		reason string
		// at is the version that the object was written at.
		at     string
		object string
		// want is the object at the other versions, with what is in the annotation as JSON.
		want map[string]string
	}{
		"a Service's name": {
			reason: "everything that v1alpha1 has is something that the others have: nothing is stashed, and nothing appears",
			at:     "v1alpha1",
			object: `{"metadata":{"name":"a"},"spec":{"serviceName":"web"},"status":{}}`,
			want: map[string]string{
				"v1beta1": `{"metadata":{"name":"a"},"spec":{"ref":{"apiVersion":"v1","kind":"Service","name":"web"}}}`,
				"v1":      `{"metadata":{"name":"a"},"spec":{"ref":{"apiVersion":"v1","kind":"Service","name":"web"}},"status":{}}`,
			},
		},
		"everything of v1beta1": {
			reason: "v1 has a field for all of it",
			at:     "v1beta1",
			object: `{"metadata":{"name":"a"},"spec":{"ref":{"apiVersion":"v1","kind":"Service","name":"web"},"port":80,"path":"/p","exposure":"External"}}`,
			want: map[string]string{
				"v1alpha1": `{"metadata":{"name":"a","annotations":{"` + annotation + `":
					{"f":1,"c":{"spec":{"e":{"v1beta1/exposure":{"d":"External"},"v1beta1/path":{"d":"/p"},"v1beta1/port":{"d":80}}}}}}},
					"spec":{"serviceName":"web"},"status":{}}`,
				"v1": `{"metadata":{"name":"a"},"spec":{"ref":{"apiVersion":"v1","kind":"Service","name":"web"},
					"ports":[{"name":"port","port":80}],"path":"/p","visibility":"Public"},"status":{}}`,
			},
		},
		"what only v1 has": {
			reason: "of several ports and addresses the first is shown, and an alias nowhere",
			at:     "v1",
			object: `{"metadata":{"name":"a","annotations":{"x":"y"}},
				"spec":{"ref":{"apiVersion":"v1","kind":"Service","name":"web"},
				"ports":[{"name":"plain","port":80},{"name":"secure","port":443,"appProtocol":"https"}],"publish":{"alias":"web"}},
				"status":{"address":{"url":"http://a"},"addresses":[{"url":"http://a"},{"url":"https://a"}]}}`,
			want: map[string]string{
				"v1beta1": `{"metadata":{"name":"a","annotations":{"x":"y","` + annotation + `":
					{"f":1,"c":{"spec":{"e":{"v1/ports":{"d":[{"name":"plain"},{"name":"secure","port":443,"appProtocol":"https"}]},"v1/publish":{"d":{"alias":"web"}}}},
					"status":{"e":{"v1/AddressStatus":{"b":"UuhyaC2aKao","d":{"addresses":[{"url":"http://a"},{"url":"https://a"}]}}}}}}}},
					"spec":{"ref":{"apiVersion":"v1","kind":"Service","name":"web"},"port":80},"status":{"address":{"url":"http://a"}}}`,
				"v1alpha1": `{"metadata":{"name":"a","annotations":{"x":"y","` + annotation + `":
					{"f":1,"c":{"spec":{"e":{"v1beta1/port":{"d":80},"v1/ports":{"d":[{"name":"plain"},{"name":"secure","port":443,"appProtocol":"https"}]},"v1/publish":{"d":{"alias":"web"}}}},
					"status":{"e":{"v1/AddressStatus":{"b":"UuhyaC2aKao","d":{"addresses":[{"url":"http://a"},{"url":"https://a"}]}}}}}}}},
					"spec":{"serviceName":"web"},"status":{"address":{"url":"http://a"}}}`,
			},
		},
		"a port by its name": {
			reason: "v1beta1 has numbers only",
			at:     "v1",
			object: `{"metadata":{"name":"a"},"spec":{"ref":{"apiVersion":"v1","kind":"Service","name":"web"},"ports":[{"name":"http"}]},"status":{}}`,
			want: map[string]string{
				"v1beta1": `{"metadata":{"name":"a","annotations":{"` + annotation + `":{"f":1,"c":{"spec":{"e":{"v1/ports":{"d":[{"name":"http"}]}}}}}}},
					"spec":{"ref":{"apiVersion":"v1","kind":"Service","name":"web"}}}`,
			},
		},
		"a target that is no Service": {
			reason: "no name of a Service stands for it",
			at:     "v1beta1",
			object: `{"metadata":{"name":"a"},"spec":{"ref":{"apiVersion":"example.com/v1","kind":"Duck","name":"web"}}}`,
			want: map[string]string{
				"v1alpha1": `{"metadata":{"name":"a","annotations":{"` + annotation + `":
					{"f":1,"c":{"spec":{"e":{"v1beta1/ref":{"b":"Eq4yyx7ALQE","d":{"apiVersion":"example.com/v1","kind":"Duck","name":"web"}}}}}}}},
					"spec":{"serviceName":""},"status":{}}`,
				"v1": `{"metadata":{"name":"a"},"spec":{"ref":{"apiVersion":"example.com/v1","kind":"Duck","name":"web"}},"status":{}}`,
			},
		},
		"a Service elsewhere": {
			reason: "a name stands for a Service of the same namespace",
			at:     "v1",
			object: `{"metadata":{"name":"a"},"spec":{"ref":{"apiVersion":"v1","kind":"Service","namespace":"there","name":"web"}},"status":{}}`,
			want: map[string]string{
				"v1alpha1": `{"metadata":{"name":"a","annotations":{"` + annotation + `":
					{"f":1,"c":{"spec":{"e":{"v1beta1/ref":{"b":"Eq4yyx7ALQE","d":{"apiVersion":"v1","kind":"Service","namespace":"there","name":"web"}}}}}}}},
					"spec":{"serviceName":""},"status":{}}`,
				"v1beta1": `{"metadata":{"name":"a"},"spec":{"ref":{"apiVersion":"v1","kind":"Service","namespace":"there","name":"web"}}}`,
			},
		},
		"no spec": {
			reason: "absent fields stay absent, except those that v1alpha1 always writes",
			at:     "v1beta1",
			object: `{"metadata":{"name":"a"}}`,
			want: map[string]string{
				"v1alpha1": `{"metadata":{"name":"a"},"spec":{"serviceName":""},"status":{}}`,
				"v1":       `{"metadata":{"name":"a"},"status":{}}`,
			},
		},
		"a spec that is null": {
			at:     "v1alpha1",
			object: `{"metadata":{"name":"a"},"spec":null,"status":null}`,
			want: map[string]string{
				"v1beta1": `{"metadata":{"name":"a"}}`,
				"v1":      `{"metadata":{"name":"a"},"status":{}}`,
			},
		},
		"nothing": {
			reason: "the API server converts objects with whatever fields one manager has, and insists on metadata in what it gets",
			at:     "v1alpha1",
			object: `{}`,
			want: map[string]string{
				"v1beta1": `{"metadata":{}}`,
				"v1":      `{"metadata":{},"status":{}}`,
			},
		},
		"a path that is empty": {
			reason: "an empty path differs from an absent one, and v1beta1 cannot represent that",
			at:     "v1",
			object: `{"metadata":{},"spec":{"ref":{"apiVersion":"v1","kind":"Service","name":"web"},"path":""},"status":{}}`,
			want: map[string]string{
				"v1beta1": `{"metadata":{"annotations":{"` + annotation + `":{"f":1,"c":{"spec":{"z":["path"]}}}}},
					"spec":{"ref":{"apiVersion":"v1","kind":"Service","name":"web"}}}`,
			},
		},
		"an exposure that there is not": {
			reason: "it passes through: rejecting it is for validation, and reading an object must not fail",
			at:     "v1beta1",
			object: `{"metadata":{},"spec":{"ref":{"apiVersion":"v1","kind":"Service","name":"web"},"exposure":"Elsewhere"}}`,
			want: map[string]string{
				"v1": `{"metadata":{},"spec":{"ref":{"apiVersion":"v1","kind":"Service","name":"web"},"visibility":"Elsewhere"},"status":{}}`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			original := encodeAs(t, test.object, test.at)
			for version, want := range test.want {
				got := converted(t, test.object, test.at, version)
				expectSamef(t, want, encode(t, unfold(t, got)), "%s: at %s", test.reason, version)
				expectSamef(t, original, converted(t, got, version, test.at), "written back at %s", version)
			}
		})
	}
}

// encodeAs is an object as its version writes it.
func encodeAs(t *testing.T, text, version string) string {
	t.Helper()
	object := newObject(t, version)
	decode(t, text, object)
	return encode(t, object)
}

// unfold reads an object, with what is in the annotation as JSON instead of a text.
func unfold(t *testing.T, object string) map[string]any {
	t.Helper()
	var whole map[string]any
	decode(t, object, &whole)
	metadata, _ := whole["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	if text, ok := annotations[annotation].(string); ok {
		var content any
		decode(t, text, &content)
		annotations[annotation] = content
	}
	return whole
}
