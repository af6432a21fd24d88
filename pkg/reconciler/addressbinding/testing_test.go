/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"knative.dev/pkg/apis"
	duckv1 "knative.dev/pkg/apis/duck/v1"
	"knative.dev/pkg/tracker"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/binding"
)

// defaultVariable is the variable of a binding that names none, by the schema.
const defaultVariable = "K_ADDRESS"

// The objects of these tests: AddressBinding ns/a gives the address of AddressableService hello to Deployment d.
const (
	ns    = "ns"
	url   = "http://first"
	other = "http://second"
)

// mod changes an AddressBinding that a test starts from.
type mod func(*v1.AddressBinding)

// object is an AddressBinding as admission lets it in. Each is younger than those whose names come before.
func object(name string, mods ...mod) *v1.AddressBinding {
	ab := &v1.AddressBinding{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: ns, Name: name, UID: types.UID("uid-" + name), Generation: 1, ResourceVersion: "1",
			Finalizers: []string{samples.AddressBindingFinalizerName},
		},
		Spec: v1.AddressBindingSpec{
			Subject:  tracker.Reference{APIVersion: "apps/v1", Kind: "Deployment", Namespace: ns, Name: "d"},
			Address:  v1.AddressReference{Name: "hello"},
			Variable: defaultVariable,
		},
	}
	for _, m := range mods {
		m(ab)
	}
	return ab
}

func withSubject(apiVersion, kind, name string) mod {
	return func(ab *v1.AddressBinding) {
		ab.Spec.Subject = tracker.Reference{APIVersion: apiVersion, Kind: kind, Namespace: ns, Name: name}
	}
}

// bySelector chooses what is labeled app=x.
func bySelector(ab *v1.AddressBinding) {
	ab.Spec.Subject.Name, ab.Spec.Subject.Selector = "", metav1.SetAsLabelSelector(map[string]string{"app": "x"})
}

func both(all ...mod) mod {
	return func(ab *v1.AddressBinding) {
		for _, m := range all {
			m(ab)
		}
	}
}

func withVariable(name string) mod { return func(ab *v1.AddressBinding) { ab.Spec.Variable = name } }

func beingDeleted(ab *v1.AddressBinding) {
	ab.DeletionTimestamp = &metav1.Time{Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
}

type mark = func(*v1.AddressBindingStatus)

// status returns the status after a reconciliation that makes these marks.
func status(marks ...mark) mod {
	return func(ab *v1.AddressBinding) {
		ab.Status = v1.AddressBindingStatus{}
		ab.GetConditionSet().Manage(&ab.Status).InitializeConditions()
		ab.Status.ObservedGeneration = ab.Generation
		for _, m := range marks {
			m(&ab.Status)
		}
	}
}

func resolvedTo(value string) mark {
	return func(s *v1.AddressBindingStatus) { s.MarkAddressResolved(value) }
}

func unresolved(reason, message string) mark {
	return func(s *v1.AddressBindingStatus) { s.MarkAddressNotResolved(reason, message) }
}

func notBoundBy(reason, message string) mark {
	return func(s *v1.AddressBindingStatus) { s.MarkSubjectsNotBound(reason, message) }
}

func counted(matched, bound int32) mark {
	return func(s *v1.AddressBindingStatus) { s.Subjects = &v1.SubjectCount{Matched: matched, Bound: bound} }
}

// records are the kinds whose objects may have marks.
func records(kinds ...v1.SubjectKind) mark {
	return func(s *v1.AddressBindingStatus) { s.Kinds = append(s.Kinds, kinds...) }
}

var (
	deploymentKind  = v1.SubjectKind{APIVersion: "apps/v1", Kind: "Deployment", Resource: "deployments"}
	statefulSetKind = v1.SubjectKind{APIVersion: "apps/v1", Kind: "StatefulSet", Resource: "statefulsets"}
	jobKind         = v1.SubjectKind{APIVersion: "batch/v1", Kind: "Job", Resource: "jobs"}
	duckKind        = v1.SubjectKind{APIVersion: "example.com/v1", Kind: "Duck", Resource: "ducks"}

	isBound     mark = (*v1.AddressBindingStatus).MarkSubjectsBound
	intercepted mark = (*v1.AddressBindingStatus).MarkIntercepted

	// well is the status of a binding with one bound subject.
	well = status(resolvedTo(url), records(deploymentKind), isBound, counted(1, 1), intercepted)
)

// hello is the AddressableService, without an address if the URL is empty.
func hello(rawURL string) *v1.AddressableService {
	as := &v1.AddressableService{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "hello", UID: "uid-hello"}}
	if rawURL == "" {
		as.GetConditionSet().Manage(&as.Status).InitializeConditions()
		as.Status.MarkTargetNotResolved(v1.ReasonTargetNotFound, "no target")
		return as
	}
	parsed, err := apis.ParseURL(rawURL)
	if err != nil {
		panic(err)
	}
	as.Status.Address = &duckv1.Addressable{URL: parsed}
	return as
}

// unresolvedHello is the AddressableService without a status, as before its operator has reconciled it.
func unresolvedHello() *v1.AddressableService {
	as := hello("")
	as.Status = v1.AddressableServiceStatus{}
	return as
}

// namespace opts in, except for these changes.
func namespace(mods ...func(*corev1.Namespace)) *corev1.Namespace {
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns, UID: "uid-ns", Labels: map[string]string{"bindings.knative.dev/include": "true"}}}
	for _, m := range mods {
		m(n)
	}
	return n
}

func optedOut(n *corev1.Namespace) {
	n.Labels = map[string]string{"bindings.knative.dev/exclude": "true"}
}

func withoutLabels(n *corev1.Namespace) { n.Labels = nil }

func withoutWebhooks(n *corev1.Namespace) { n.Labels["webhooks.knative.dev/exclude"] = "" }

// webhooks is the configuration with which the API server calls the webhook for these resources.
func webhooks(resources ...schema.GroupResource) *admissionregistrationv1.MutatingWebhookConfiguration {
	w := admissionregistrationv1.MutatingWebhook{Name: binding.WebhookName}
	w.ClientConfig.CABundle = []byte("ca")
	for _, r := range resources {
		w.Rules = append(w.Rules, admissionregistrationv1.RuleWithOperations{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
			Rule:       admissionregistrationv1.Rule{APIGroups: []string{r.Group}, APIVersions: []string{"v1"}, Resources: []string{r.Resource}},
		})
	}
	return &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: binding.WebhookName}, Webhooks: []admissionregistrationv1.MutatingWebhook{w},
	}
}

var everywhere = webhooks(
	schema.GroupResource{Group: "apps", Resource: "deployments"}, schema.GroupResource{Group: "apps", Resource: "statefulsets"},
	schema.GroupResource{Group: "batch", Resource: "jobs"}, schema.GroupResource{Group: "batch", Resource: "cronjobs"},
	schema.GroupResource{Group: "example.com", Resource: "ducks"})

// subjectMod changes a subject that a test starts from.
type subjectMod func(*unstructured.Unstructured)

func subjectOf(apiVersion, kind, name string, mods ...subjectMod) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiVersion, "kind": kind,
		"metadata": map[string]any{
			"namespace": ns, "name": name, "uid": "uid-" + name, "resourceVersion": "1", "generation": int64(1),
			"labels": map[string]any{"app": "x"},
		},
	}}
	podSpec([]string{"spec", "template", "spec"})(u)
	for _, m := range mods {
		m(u)
	}
	return u
}

// deployment has one container.
func deployment(name string, mods ...subjectMod) *unstructured.Unstructured {
	return subjectOf("apps/v1", "Deployment", name, mods...)
}

// podSpec gives a subject a container main with these variables.
func podSpec(path []string, variables ...any) subjectMod {
	return func(u *unstructured.Unstructured) {
		container := map[string]any{"name": "main"}
		if len(variables) > 0 {
			container["env"] = variables
		}
		if err := unstructured.SetNestedSlice(u.Object, []any{container}, append(path, "containers")...); err != nil {
			panic(err)
		}
	}
}

func variable(name, value string) any { return map[string]any{"name": name, "value": value} }

func withEnv(variables ...any) subjectMod {
	return podSpec([]string{"spec", "template", "spec"}, variables...)
}

// has gives a subject its own value of the variable.
func has(value string) subjectMod { return withEnv(variable(defaultVariable, value)) }

// bound gives a subject the variable and the mark, as if binding a had written these values, the newest first. It has the first one.
func bound(values ...string) subjectMod { return boundBy("a", values...) }

func boundBy(writer string, values ...string) subjectMod {
	return func(u *unstructured.Unstructured) {
		has(values[0])(u)
		var hashes []string
		for _, value := range values {
			sum := sha256.Sum256([]byte(value))
			hashes = append(hashes, hex.EncodeToString(sum[:8])+" "+writer)
		}
		text, err := json.Marshal(map[string]any{"main": map[string]any{defaultVariable: hashes}})
		if err != nil {
			panic(err)
		}
		u.SetAnnotations(map[string]string{samples.BoundVariablesAnnotationKey: string(text)})
	}
}

func controlled(u *unstructured.Unstructured) {
	u.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "Owner", Name: "o", UID: "o", Controller: new(true)}})
}

func finished(u *unstructured.Unstructured) {
	u.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Complete", "status": "True"}}}
}

func withSpec(spec any) subjectMod {
	return func(u *unstructured.Unstructured) { u.Object["spec"] = spec }
}

func withLabels(labels map[string]string) subjectMod {
	return func(u *unstructured.Unstructured) { u.SetLabels(labels) }
}

func goingAway(u *unstructured.Unstructured) {
	u.SetDeletionTimestamp(&metav1.Time{Time: time.Unix(1, 0)})
	u.SetFinalizers([]string{"example.com/keep"})
}
