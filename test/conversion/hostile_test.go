/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"encoding/json"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// One object that cannot be converted would break all lists of its kind. So whatever the schema of a version
// accepts, conversion has to be able to read.
func TestConversion_ObjectsThatTheSchemaAccepts_Succeed(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	env.ExpectErrors(t, "unable to unmarshal input")
	for name, c := range map[string]struct {
		status   string
		rejected bool
	}{
		"annotations that are no texts":             {`{"annotations": {"a": 1}}`, true},
		"annotations that are a list":               {`{"annotations": ["a"]}`, true},
		"a URL that cannot be parsed":               {`{"address": {"url": "%zz"}}`, true},
		"a URL that cannot be parsed after a slash": {`{"address": {"url": "/%zz"}}`, true},
		"a URL with a bad port":                     {`{"address": {"url": "http://a:b/"}}`, true},
		"a URL with a bad host":                     {`{"address": {"url": "http://[::1"}}`, true},
		"a URL with a space":                        {`{"address": {"url": "http://a b/"}}`, true},
		"a URL with a control character":            {`{"address": {"url": "http://a/\u0001"}}`, true},
		"a URL with a bad fragment":                 {`{"address": {"url": "http://a/#%zz"}}`, true},
		"a URL among the addresses":                 {`{"addresses": [{"url": "%zz"}]}`, true},
		"no URL at all":                             {`{"address": {}}`, false},
		"a URL of an unknown scheme":                {`{"address": {"url": "x://a"}}`, false},
		"a time in lower case":                      {`{"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01t00:00:00z"}]}`, true},
		"a time with a leap second":                 {`{"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-12-31T23:59:60Z"}]}`, true},
		"a day that does not exist":                 {`{"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-02-30T00:00:00Z"}]}`, true},
		"a time without a zone":                     {`{"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00"}]}`, true},
		"a time with a space":                       {`{"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01 00:00:00Z"}]}`, true},
		"a time with a comma":                       {`{"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00,5Z"}]}`, true},
		"a time beyond a zone's hours":              {`{"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00+99:99"}]}`, true},
		"a time with fractions":                     {`{"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00.123456789Z"}]}`, true},
		"a time far away":                           {`{"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "9999-12-31T23:59:59-12:00"}]}`, true},
		"the zero time":                             {`{"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "0001-01-01T00:00:00Z"}]}`, true},
		"the last time":                             {`{"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "9999-12-31T23:59:59Z"}]}`, false},
		"no time":                                   {`{"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": null}]}`, false},
		"a generation beyond all":                   {`{"observedGeneration": 1e30}`, true},
		"a generation just beyond":                  {`{"observedGeneration": 9223372036854775808}`, true},
		"the last generation":                       {`{"observedGeneration": 9007199254740991}`, false},
		"a generation written as a fraction":        {`{"observedGeneration": 3.0}`, false},
		"a fraction of a generation":                {`{"observedGeneration": 3.5}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			object := &unstructured.Unstructured{}
			object.SetGroupVersionKind(at(hub, ns, "").Resource.GroupVersion().WithKind("AddressableService"))
			object.SetGenerateName("subject-")
			// Only the test writes to an object of another class.
			object.SetAnnotations(map[string]string{"samples.knative.dev/addressableservice.class": "other"})
			set(t, object, map[string]any{"apiVersion": "v1", "kind": "Service", "name": "target"}, "spec", "ref")
			made, err := client(env, at(hub, ns, "")).Create(t.Context(), object, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, version := range versions {
				ref := at(version, ns, made.GetName())
				patch, err := json.Marshal(map[string]json.RawMessage{"status": json.RawMessage(c.status)})
				if err != nil {
					t.Fatal(err)
				}
				_, err = client(env, ref).Patch(t.Context(), ref.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
				// Older versions have no addresses; the API server prunes them there.
				want := c.rejected && (version == hub || !strings.Contains(c.status, `"addresses"`))
				if rejected := apierrors.IsInvalid(err) || apierrors.IsBadRequest(err); rejected != want || err != nil && !rejected {
					t.Errorf("at %s: %v, want rejected to be %t", version, err, want)
				}
			}
			for _, version := range versions {
				get(t, env, at(version, ns, made.GetName()))
			}
		})
	}
	for _, version := range versions {
		if _, err := client(env, at(version, ns, "")).List(t.Context(), metav1.ListOptions{}); err != nil {
			t.Errorf("listing at %s: %v", version, err)
		}
	}
}
