/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package roundtrip

import (
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1beta1"
)

// An object of v1 is edited at an older version. At v1 the edit shows, and everything that could not be seen is as it was.
func TestEdits_AtAnOlderVersion_KeepHiddenFields(t *testing.T) {
	const (
		service = `"ref":{"apiVersion":"v1","kind":"Service","name":"web"}`
		duck    = `"ref":{"apiVersion":"example.com/v1","kind":"Duck","namespace":"there","name":"d"}`
		rest    = `"path":"/p","visibility":"Public","publish":{"alias":"alias"}`
		ports   = `"ports":[{"name":"plain","port":80,"appProtocol":"kubernetes.io/h2c"},{"name":"secure","port":443,"appProtocol":"https"}]`
	)
	atV1alpha1 := func(edit func(*v1alpha1.AddressableService)) func(*testing.T, string) string {
		return func(t *testing.T, object string) string { return edited(t, object, "v1alpha1", edit) }
	}
	atV1beta1 := func(edit func(*v1beta1.AddressableService)) func(*testing.T, string) string {
		return func(t *testing.T, object string) string { return edited(t, object, "v1beta1", edit) }
	}
	rename := atV1alpha1(func(as *v1alpha1.AddressableService) { as.Spec.ServiceName = "other" })
	setPort := func(port int32) func(*testing.T, string) string {
		return atV1beta1(func(as *v1beta1.AddressableService) { as.Spec.Port = port })
	}

	for name, test := range map[string]struct {
		reason     string
		spec       string
		edit       func(t *testing.T, object string) string
		want       string
		status     string
		wantStatus string
	}{
		"v1alpha1: another Service": {
			reason: "the name is what the reference is made of, and everything else has nothing to do with it",
			spec:   service + "," + ports + "," + rest, edit: rename,
			want: `"ref":{"apiVersion":"v1","kind":"Service","name":"other"},` + ports + "," + rest,
		},
		"v1alpha1: a Service instead of another target": {
			reason: "the target that was stashed is out of date",
			spec:   duck + "," + ports + "," + rest, edit: rename,
			want: `"ref":{"apiVersion":"v1","kind":"Service","name":"other"},` + ports + "," + rest,
		},
		"v1alpha1: a Service instead of another target, and back": {
			reason: "an empty name stands for nothing once it has been a name",
			spec:   duck + "," + rest,
			edit: func(t *testing.T, object string) string {
				t.Helper()
				return atV1alpha1(func(as *v1alpha1.AddressableService) { as.Spec.ServiceName = "" })(t, rename(t, object))
			},
			want: rest,
		},
		"v1alpha1: a label": {
			reason: "nothing else was edited",
			spec:   duck + "," + ports + "," + rest,
			edit:   atV1alpha1(func(as *v1alpha1.AddressableService) { as.Labels = nil }),
			want:   duck + "," + ports + "," + rest,
		},
		"v1alpha1: another address": {
			reason: "the further addresses belong to one that no longer exists",
			spec:   service,
			edit:   atV1alpha1(func(as *v1alpha1.AddressableService) { as.Status.Address.URL.Host = "b" }),
			want:   service,
			status: `"address":{"url":"http://a"},"addresses":[{"url":"http://a"},{"url":"https://a"}]`, wantStatus: `"address":{"url":"http://b"}`,
		},
		"v1alpha1: no address": {
			reason: "without the target there is no address",
			spec:   service,
			edit:   atV1alpha1(func(as *v1alpha1.AddressableService) { as.Status.Address = nil }),
			want:   service,
			status: `"address":{"url":"http://a"},"addresses":[{"url":"http://a"},{"url":"https://a"}]`, wantStatus: ``,
		},
		"v1beta1: another port": {
			reason: "it is the number of the first port that is shown, not its name and not its protocol",
			spec:   service + "," + ports + "," + rest, edit: setPort(8080),
			want: service + `,"ports":[{"name":"plain","port":8080,"appProtocol":"kubernetes.io/h2c"},{"name":"secure","port":443,"appProtocol":"https"}],` + rest,
		},
		"v1beta1: no port instead of the first": {
			reason: "the number is deleted, and only the name of the port at v1 identifies it",
			spec:   service + "," + ports, edit: setPort(0),
			want: service + `,"ports":[{"name":"plain","appProtocol":"kubernetes.io/h2c"},{"name":"secure","port":443,"appProtocol":"https"}]`,
		},
		"v1beta1: no port instead of one that was a number only": {
			reason: "it was derived from the number, and is deleted with it",
			spec:   service + `,"ports":[{"name":"port","port":80}]`, edit: setPort(0),
			want: service,
		},
		"v1beta1: a port is added": {
			spec: service + "," + rest, edit: setPort(80),
			want: service + `,"ports":[{"name":"port","port":80}],` + rest,
		},
		"v1beta1: a number for a port that had only a name": {
			reason: "the name stays: it is what the address is called",
			spec:   service + `,"ports":[{"name":"http"}]`, edit: setPort(80),
			want: service + `,"ports":[{"name":"http","port":80}]`,
		},
		"v1beta1: another path": {
			spec: service + "," + ports + "," + rest,
			edit: atV1beta1(func(as *v1beta1.AddressableService) { as.Spec.Path = "/q" }),
			want: service + "," + ports + `,"path":"/q","visibility":"Public","publish":{"alias":"alias"}`,
		},
		"v1beta1: another exposure": {
			spec: service + "," + ports + "," + rest,
			edit: atV1beta1(func(as *v1beta1.AddressableService) { as.Spec.Exposure = v1beta1.ExposureInternal }),
			want: service + "," + ports + `,"path":"/p","visibility":"ClusterLocal","publish":{"alias":"alias"}`,
		},
		"v1beta1: another target": {
			spec: service + "," + ports + "," + rest,
			edit: atV1beta1(func(as *v1beta1.AddressableService) {
				as.Spec.Ref = v1beta1.TargetReference{APIVersion: "example.com/v1", Kind: "Duck", Namespace: "there", Name: "d"}
			}),
			want: duck + "," + ports + "," + rest,
		},
		"v1beta1: another address": {
			spec:   service,
			edit:   atV1beta1(func(as *v1beta1.AddressableService) { as.Status.Address.URL.Host = "b" }),
			want:   service,
			status: `"address":{"url":"http://a"},"addresses":[{"url":"http://a"},{"url":"https://a"}]`, wantStatus: `"address":{"url":"http://b"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			object := `{"metadata":{"name":"a"},"spec":{` + test.spec + `},"status":{` + test.status + `}}`
			want := `{"metadata":{"name":"a"},"spec":{` + test.want + `},"status":{` + test.wantStatus + `}}`
			expectSamef(t, want, visible(t, test.edit(t, object)), "%s", test.reason)
		})
	}
}

// A stash in an annotation does not apply to a name other than its own.
func TestEdits_TargetStashedForAnotherName_IsDropped(t *testing.T) {
	for _, entry := range []string{`{"d":REF}`, `{"b":"AAAAAAAAAAA","d":REF}`} {
		entry = strings.Replace(entry, "REF", `{"apiVersion":"example.com/v1","kind":"Duck","name":"d"}`, 1)
		stash := encode(t, `{"f":1,"c":{"spec":{"e":{"v1beta1/ref":`+entry+`}}}}`)
		got := converted(t, `{"metadata":{"annotations":{"`+annotation+`":`+stash+`}},"spec":{"serviceName":""}}`, "v1alpha1", "v1")
		expectSamef(t, `{"metadata":{},"status":{}}`, visible(t, got), "%s", entry)
	}
}
