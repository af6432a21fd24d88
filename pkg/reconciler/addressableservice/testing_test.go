/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"knative.dev/pkg/apis"
	duckv1 "knative.dev/pkg/apis/duck/v1"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// The objects of these tests: AddressableService ns/a refers to Service ns/target,
// and aliases are published in namespace dir.
const (
	ns        = "ns"
	directory = "dir"
	host      = "target.ns.svc.cluster.local"
)

// mod changes an AddressableService that a test starts from.
type mod func(*v1.AddressableService)

// object is an AddressableService as admission lets it in: with class, finalizer and
// visibility.
func object(name string, mods ...mod) *v1.AddressableService {
	as := &v1.AddressableService{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: ns, Name: name, UID: types.UID("uid-" + name), Generation: 1, ResourceVersion: "1",
			Annotations: map[string]string{samples.ClassAnnotationKey: samples.ClassMallard},
			Finalizers:  []string{samples.FinalizerName},
		},
		Spec: v1.AddressableServiceSpec{
			Ref:        v1.TargetReference{APIVersion: "v1", Kind: "Service", Name: "target"},
			Visibility: v1.VisibilityClusterLocal,
		},
	}
	for _, m := range mods {
		m(as)
	}
	return as
}

func withRef(apiVersion, kind, namespace, name string) mod {
	return func(as *v1.AddressableService) {
		as.Spec.Ref = v1.TargetReference{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name}
	}
}

// refTo refers to another AddressableService.
func refTo(name string) mod { return withRef("samples.knative.dev/v1", "AddressableService", "", name) }

func withClass(class string) mod {
	return func(as *v1.AddressableService) { as.Annotations[samples.ClassAnnotationKey] = class }
}

func withoutClass(as *v1.AddressableService) { delete(as.Annotations, samples.ClassAnnotationKey) }

func withoutFinalizer(as *v1.AddressableService) { as.Finalizers = nil }

func beingDeleted(as *v1.AddressableService) {
	as.DeletionTimestamp = &metav1.Time{Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
}

func withPorts(ports ...v1.AddressPort) mod {
	return func(as *v1.AddressableService) { as.Spec.Ports = ports }
}

func withPath(path string) mod { return func(as *v1.AddressableService) { as.Spec.Path = &path } }

func public(as *v1.AddressableService) { as.Spec.Visibility = v1.VisibilityPublic }

// publishedAs requests an alias whose namespace the status records already, as it does before the alias is created.
func publishedAs(alias string) mod {
	return func(as *v1.AddressableService) {
		as.Spec.Publish = &v1.Publication{Alias: alias}
		recorded(directory)(as)
	}
}

// recorded records namespaces that may have aliases.
func recorded(namespaces ...string) mod {
	return func(as *v1.AddressableService) { as.Status.SetDirectories(namespaces) }
}

// status returns the status after a reconciliation that makes these marks. The recorded directories stay.
func status(marks ...func(*v1.AddressableServiceStatus)) mod {
	return func(as *v1.AddressableService) {
		directories := as.Status.Directories()
		as.Status = v1.AddressableServiceStatus{}
		as.Status.SetDirectories(directories)
		as.GetConditionSet().Manage(&as.Status).InitializeConditions()
		as.Status.ObservedGeneration = as.Generation
		for _, mark := range marks {
			mark(&as.Status)
		}
	}
}

type mark = func(*v1.AddressableServiceStatus)

// at marks the target resolved to an address of each URL.
func at(urls ...string) mark {
	return func(s *v1.AddressableServiceStatus) { s.MarkTargetResolved(addressesAt(urls...)) }
}

func addressesAt(urls ...string) []duckv1.Addressable {
	addresses := make([]duckv1.Addressable, 0, len(urls))
	for _, u := range urls {
		addresses = append(addresses, duckv1.Addressable{URL: mustParse(u)})
	}
	return addresses
}

func mustParse(u string) *apis.URL {
	parsed, err := apis.ParseURL(u)
	if err != nil {
		panic(err)
	}
	return parsed
}

func unresolved(reason, message string) mark {
	return func(s *v1.AddressableServiceStatus) { s.MarkTargetNotResolved(reason, message) }
}

// unknown marks that the target could not be looked up.
func unknown(reason, message string) mark {
	return func(s *v1.AddressableServiceStatus) { s.MarkTargetUnknown(reason, message) }
}

func unpublished(reason, message string) mark {
	return func(s *v1.AddressableServiceStatus) { s.MarkNotPublished(reason, message) }
}

var (
	published    mark = (*v1.AddressableServiceStatus).MarkPublished
	notRequested mark = (*v1.AddressableServiceStatus).MarkNotRequested
	noAddress         = unpublished(v1.ReasonNoAddress, "there is no address to publish; an existing alias stays as it is")
)

// service is a Service as the API server stores it: without ports only if it is headless.
func service(namespace, name string, mods ...func(*corev1.Service)) *corev1.Service {
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, ResourceVersion: "1"}}
	for _, m := range mods {
		m(s)
	}
	if s.Spec.ClusterIP = "10.0.0.1"; len(s.Spec.Ports) == 0 {
		s.Spec.ClusterIP = corev1.ClusterIPNone
	}
	return s
}

func withServicePort(name string, port int32, appProtocol string) func(*corev1.Service) {
	return func(s *corev1.Service) {
		p := corev1.ServicePort{Name: name, Port: port}
		if appProtocol != "" {
			p.AppProtocol = &appProtocol
		}
		s.Spec.Ports = append(s.Spec.Ports, p)
	}
}

// alias is the Service by which object owner is published, as we create it.
func alias(name, owner, externalName string, mods ...func(*corev1.Service)) *corev1.Service {
	s := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: directory, Name: name,
			Labels:      map[string]string{samples.AliasOwnerUIDLabelKey: "uid-" + owner},
			Annotations: map[string]string{samples.AliasOwnerAnnotationKey: ns + "/" + owner},
		},
		Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: externalName},
	}
	for _, m := range mods {
		m(s)
	}
	return s
}

// stored returns an alias as the API server returns it.
func stored(s *corev1.Service) {
	s.UID, s.ResourceVersion = types.UID("uid-of-"+s.Name), "7"
}

func namespace(name string, mods ...func(*corev1.Namespace)) *corev1.Namespace {
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, m := range mods {
		m(n)
	}
	return n
}

func terminating(n *corev1.Namespace) {
	n.DeletionTimestamp = &metav1.Time{Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
}

// aDuck is an object of kind Duck with a status.
func aDuck(namespace, name string, status any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Duck",
		"metadata": map[string]any{"name": name}, "status": status,
	}}
	u.SetNamespace(namespace)
	return u
}

func addressStatus(u string) map[string]any {
	return map[string]any{"address": map[string]any{"url": u}}
}
