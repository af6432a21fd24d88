/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// request is the admission request for a new Deployment. Its object is made of these labels and variables.
func request(labels, env string, changes ...func(*admissionv1.AdmissionRequest)) *admissionv1.AdmissionRequest {
	r := &admissionv1.AdmissionRequest{
		Operation: admissionv1.Create,
		Kind:      metav1.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"},
		Resource:  metav1.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"},
		Namespace: "ns", Name: "it",
		Object:  deployment(labels, env),
		Options: runtime.RawExtension{Raw: []byte(`{"kind":"CreateOptions","fieldManager":"kubectl"}`)},
	}
	for _, change := range changes {
		change(r)
	}
	return r
}

// deployment has the mark if its variables are those of a binding.
func deployment(labels, env string) runtime.RawExtension {
	annotations := ""
	if env == bound {
		annotations = fmt.Sprintf(`"annotations":{"bindings.samples.knative.dev/variables":%q},`, markOfC)
	}
	return raw(fmt.Sprintf(`{"metadata":{"name":"it",%s"labels":{%s}},"spec":{"template":{"spec":{"containers":[{"name":"c"%s}]}}}}`, annotations, labels, env))
}

func raw(object string) runtime.RawExtension { return runtime.RawExtension{Raw: []byte(object)} }

// updating makes the request one of an update, of what had these labels and variables.
func updating(labels, env string) func(*admissionv1.AdmissionRequest) {
	return func(r *admissionv1.AdmissionRequest) {
		r.Operation, r.OldObject = admissionv1.Update, deployment(labels, env)
	}
}

func ofKind(group, kind, resource, object string) func(*admissionv1.AdmissionRequest) {
	return func(r *admissionv1.AdmissionRequest) {
		r.Kind = metav1.GroupVersionKind{Group: group, Version: "v1", Kind: kind}
		r.Resource = metav1.GroupVersionResource{Group: group, Version: "v1", Resource: resource}
		r.Object = raw(object)
	}
}

const (
	a     = `"app":"a"`
	bound = `,"env":[{"name":"K_ADDRESS","value":"http://a.example"}]`
	// markOfC is the mark of an object whose container c has the variable.
	markOfC = `{"c":{"K_ADDRESS":["aee7dad94e9de386 to-Deployment"]}}`
	// adds and removes are the patches of a container without variables, and with that one alone.
	adds    = `[{"op":"add","path":"/spec/template/spec/containers/0/env","value":[{"name":"K_ADDRESS","value":"http://a.example"}]},` + marks
	removes = `[{"op":"remove","path":"/spec/template/spec/containers/0/env"},{"op":"remove","path":"/metadata/annotations/bindings.samples.knative.dev~1variables"}]`
	marks   = `{"op":"add","path":"/metadata/annotations","value":{"bindings.samples.knative.dev/variables":"{\"c\":{\"K_ADDRESS\":[\"aee7dad94e9de386 to-Deployment\"]}}"}}]`
)

func TestAdmit_Subjects(t *testing.T) {
	configurable := crd("Runner", "runners", func(d *apiextensionsv1.CustomResourceDefinition) {
		d.Labels = map[string]string{"duck.samples.knative.dev/configurable": "true"}
	})
	objects := []runtime.Object{
		bindingTo("apps/v1", "Deployment"), bindingTo("batch/v1", "Job"), bindingTo("batch/v1", "CronJob"),
		bindingTo("example.com/v1", "Runner"), bindingTo("example.com/v1", "Radius"), configurable, crd("Radius", "radii"),
	}
	const job = `{"metadata":{"labels":{"app":"a"}},"spec":{"template":{"spec":{"containers":[{"name":"c"}]}}}}`
	for name, tc := range map[string]struct {
		reason  string
		request *admissionv1.AdmissionRequest
		want    string
	}{
		"a new subject":                    {reason: "It starts with its address.", request: request(a, ""), want: adds},
		"one that has it":                  {reason: "There is nothing to do.", request: request(a, bound)},
		"one that sets the address itself": {reason: "It has no mark.", request: request(a, bound+" ")},
		"one that is controlled": {reason: "Its owner would revert it.", request: request(a, "", func(r *admissionv1.AdmissionRequest) {
			r.Object = raw(strings.Replace(string(r.Object.Raw), `"name":"it"`, `"name":"it","ownerReferences":[{"controller":true}]`, 1))
		})},
		"a controlled one with a copy of the mark": {reason: "Its owner would revert it.", request: request(`"app":"b"`, bound, func(r *admissionv1.AdmissionRequest) {
			r.Object = raw(strings.Replace(string(r.Object.Raw), `"name":"it"`, `"name":"it","ownerReferences":[{"controller":true}]`, 1))
		})},
		"one without room for the mark": {reason: "The API server would reject it.", request: request(a, "", func(r *admissionv1.AdmissionRequest) {
			annotations := fmt.Sprintf(`"name":"it","annotations":{"full":%q}`, strings.Repeat("x", validation.TotalAnnotationSizeLimitB-len("full")))
			r.Object = raw(strings.Replace(string(r.Object.Raw), `"name":"it"`, annotations, 1))
		})},
		"one that has its own":      {reason: "It is never taken.", request: request(a, `,"env":[{"name":"K_ADDRESS","value":"mine"}]`)},
		"one that is not chosen":    {reason: "It is no subject.", request: request(`"app":"b"`, "")},
		"a copy that is not chosen": {reason: "The variable is that of a binding which is not for it.", request: request(`"app":"b"`, bound), want: removes},
		"one in another namespace":  {reason: "Bindings are for their own.", request: request(a, "", func(r *admissionv1.AdmissionRequest) { r.Namespace = "other" })},
		"one that opts out":         {reason: "Both may.", request: request(a+`,"bindings.knative.dev/exclude":"true"`, "")},
		"one that opts in":          {reason: "One of both is enough.", request: request(a+`,"bindings.knative.dev/include":"true"`, ""), want: adds},

		"an update that loses the mark alone": {reason: "It is its own now.", request: request(a, bound+" ", updating(a, bound))},
		"an update that loses it":             {reason: "Who replaces the whole object does not know of it.", request: request(a, "", updating(a, bound)), want: adds},
		"an update that enters":               {reason: "It is chosen now.", request: request(a, "", updating("", "")), want: adds},
		"an update that leaves":               {reason: "It is not chosen any more.", request: request("", bound, updating(a, bound)), want: removes},
		"an update that opts out":             {reason: "It should not have it any more.", request: request(a+`,"bindings.knative.dev/exclude":"true"`, bound, updating(a, bound)), want: removes},
		"an update that ceases to opt in":     {reason: "Its namespace may opt in, which is not known here.", request: request(a, bound, updating(a+`,"bindings.knative.dev/include":"true"`, bound))},
		"an update of something else":         {reason: "Pods are not restarted for it.", request: request(a, "", updating(a, ""))},
		"an update of what was no such": {reason: "All of it is new.", request: request(a, "", func(r *admissionv1.AdmissionRequest) {
			r.Operation, r.OldObject = admissionv1.Update, raw(`{"spec":1}`)
		}), want: adds},

		"a new Job": {reason: "It is the only chance.", request: request("", "", ofKind("batch", "Job", "jobs", job)), want: adds},
		"a Job that changes": {
			reason: "The API server would reject the whole change.", request: request("", "", updating("", ""), ofKind("batch", "Job", "jobs", job)),
		},
		"a CronJob": {
			reason:  "Its template is further down.",
			request: request("", "", ofKind("batch", "CronJob", "cronjobs", `{"metadata":{"labels":{"app":"a"}},"spec":{"jobTemplate":{"spec":{"template":{"spec":{"containers":[{"name":"c"}]}}}}}}`)),
			want:    strings.Replace(adds, "/spec/template", "/spec/jobTemplate/spec/template", 1),
		},
		"a kind with a Pod template": {reason: "Its CRD has no label.", request: request("", "", ofKind("example.com", "Radius", "radii", job)), want: adds},
		"a kind that is Configurable": {
			reason: "Its CRD has the label.", request: request("", "", ofKind("example.com", "Runner", "runners", `{"metadata":{"labels":{"app":"a"}},"spec":{}}`)),
			want: `[{"op":"add","path":"/spec/configurable","value":{"env":[{"name":"K_ADDRESS","value":"http://a.example"}]}},` + strings.Replace(marks, `{\"c\"`, `{\"\"`, 1),
		},
		"a malformed object":      {reason: "Its schema has to reject it.", request: request("", "", ofKind("example.com", "Radius", "radii", `{"metadata":{"labels":{"app":"a"}},"spec":{"template":"none"}}`))},
		"what has no template":    {reason: "It has no container.", request: request("", "", ofKind("example.com", "Radius", "radii", `{"metadata":{"labels":{"app":"a"}},"spec":{}}`))},
		"what has no spec":        {reason: "A patch of it would fail the request.", request: request("", "", ofKind("example.com", "Runner", "runners", `{"metadata":{"labels":{"app":"a"}}}`))},
		"what is no object":       {reason: "The API server says so better.", request: request("", "", ofKind("example.com", "Runner", "runners", `[]`))},
		"a kind without bindings": {reason: "No binding is for it.", request: request("", "", ofKind("apps", "StatefulSet", "statefulsets", job))},
	} {
		t.Run(name, func(t *testing.T) {
			b, _ := newBindingAdmission(t, objects...)
			response := b.Admit(t.Context(), tc.request)
			if !response.Allowed {
				t.Fatalf("rejected: %v\nReason: %s", response.Result, tc.reason)
			}
			// The mark names the binding, which is the one of the kind.
			want := strings.ReplaceAll(tc.want, " to-Deployment", " to-"+tc.request.Kind.Kind)
			if diff := cmp.Diff(want, string(response.Patch)); diff != "" {
				t.Errorf("patch (-want +got):\n%s\nReason: %s", diff, tc.reason)
			}
			if (response.PatchType != nil) != (tc.want != "") {
				t.Errorf("the type of the patch is %v", response.PatchType)
			}
		})
	}
}

func TestAdmit_BindingDoesNotApply_ObjectIsAdmittedUnchanged(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*v1.AddressBinding)
		env    string
	}{
		"kind not recorded":             {func(b *v1.AddressBinding) { b.Status.Kinds = nil }, ""},
		"kind not recorded, has it":     {func(b *v1.AddressBinding) { b.Status.Kinds = nil }, bound},
		"other kind recorded":           {func(b *v1.AddressBinding) { b.Status.Kinds[0].Kind = "StatefulSet" }, ""},
		"address not known yet":         {func(b *v1.AddressBinding) { b.Status.Value = "" }, ""},
		"address not known yet, has it": {func(b *v1.AddressBinding) { b.Status.Value = "" }, bound},
		"being deleted":                 {goingBinding, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b, _ := newBindingAdmission(t, bindingTo("apps/v1", "Deployment", tc.change))
			if response := b.Admit(t.Context(), request(a, tc.env)); !response.Allowed || response.Patch != nil {
				t.Errorf("got patch %s", response.Patch)
			}
		})
	}
}

// TestAdmit_OlderBindingCannotBind_YoungerBinds has an older binding of the same variable next to the one that the mark of a bound object names.
func TestAdmit_OlderBindingCannotBind_YoungerBinds(t *testing.T) {
	for name, older := range map[string]func(*v1.AddressBinding){
		"kind not recorded":        func(b *v1.AddressBinding) { b.Status.Kinds = nil },
		"address not known":        func(b *v1.AddressBinding) { b.Status.Value = "" },
		"version not served":       func(b *v1.AddressBinding) { b.Status.MarkSubjectsNotBound(v1.ReasonSubjectKindNotFound, "not served") },
		"known to lack an address": func(b *v1.AddressBinding) { b.Status.MarkAddressNotResolved(v1.ReasonAddressNotFound, "not found") },
	} {
		t.Run(name, func(t *testing.T) {
			first := func(b *v1.AddressBinding) { b.Name, b.Status.Value = "a", "http://older.example" }
			b, _ := newBindingAdmission(t, bindingTo("apps/v1", "Deployment", first, older), bindingTo("apps/v1", "Deployment"))
			if got := string(b.Admit(t.Context(), request(a, "")).Patch); got != adds {
				t.Errorf("a new object gets %s, want %s", got, adds)
			}
			if got := string(b.Admit(t.Context(), request(a, bound)).Patch); got != "" {
				t.Errorf("an object that the younger one has bound gets %s", got)
			}
		})
	}
}
