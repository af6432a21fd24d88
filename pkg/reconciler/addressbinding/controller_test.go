/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	fakedynamic "k8s.io/client-go/dynamic/fake"

	fakeapiextensionsclient "knative.dev/pkg/client/injection/apiextensions/client/fake"
	_ "knative.dev/pkg/client/injection/apiextensions/informers/apiextensions/v1/customresourcedefinition/fake"
	"knative.dev/pkg/client/injection/ducks/duck/v1/podspecable"
	_ "knative.dev/pkg/client/injection/ducks/duck/v1/podspecable/fake"
	fakekubeclient "knative.dev/pkg/client/injection/kube/client/fake"
	_ "knative.dev/pkg/client/injection/kube/informers/admissionregistration/v1/mutatingwebhookconfiguration/fake"
	_ "knative.dev/pkg/client/injection/kube/informers/core/v1/namespace/fake"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/injection/clients/dynamicclient"
	_ "knative.dev/pkg/injection/clients/dynamicclient/fake"
	reconcilertesting "knative.dev/pkg/reconciler/testing"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	fakesamplesclient "github.com/mallard-dev/mallard/pkg/client/injection/client/fake"
	"github.com/mallard-dev/mallard/pkg/client/injection/ducks/duck/v1alpha1/configurable"
	_ "github.com/mallard-dev/mallard/pkg/client/injection/ducks/duck/v1alpha1/configurable/fake"
	_ "github.com/mallard-dev/mallard/pkg/client/injection/informers/samples/v1/addressableservice/fake"
	_ "github.com/mallard-dev/mallard/pkg/client/injection/informers/samples/v1/addressbinding/fake"
	"github.com/mallard-dev/mallard/test/reconcilertest"
)

// running is a controller as NewController makes it, with its informers and workers, on fake clients.
type running struct {
	ctx     context.Context //nolint:containedctx // the clients are in it
	dynamic *fakedynamic.FakeDynamicClient
}

func run(t *testing.T, subjects ...runtime.Object) *running {
	t.Helper()
	ctx, cancel, informers := reconcilertesting.SetupFakeContextWithCancel(t)
	r := &running{dynamic: fakedynamic.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), subjectLists, subjects...)}
	r.dynamic.PrependReactor("patch", "*", patchedAnew(r.dynamic.Tracker()))
	// The one that is injected does not know these kinds.
	ctx = context.WithValue(ctx, dynamicclient.Key{}, r.dynamic)
	ctx = withBatch(configurable.WithDuck(podspecable.WithDuck(ctx)))
	r.ctx = ctx
	kube := fakekubeclient.Get(ctx)
	if _, err := kube.CoreV1().Namespaces().Create(ctx, namespace(), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := kube.AdmissionregistrationV1().MutatingWebhookConfigurations().Create(ctx, webhooks(), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	impl := NewController(ctx, configmap.NewStaticWatcher())
	reconcilertest.Run(ctx, t, cancel, informers, impl)
	return r
}

func (r *running) create(t *testing.T, objs ...runtime.Object) {
	t.Helper()
	client := fakesamplesclient.Get(r.ctx).SamplesV1()
	for _, obj := range objs {
		var err error
		switch obj := obj.(type) {
		case *v1.AddressBinding:
			_, err = client.AddressBindings(ns).Create(r.ctx, obj, metav1.CreateOptions{})
		case *v1.AddressableService:
			_, err = client.AddressableServices(ns).Create(r.ctx, obj, metav1.CreateOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// becomes waits until a condition of a binding has a reason, empty for True.
func (r *running) becomes(t *testing.T, name, condition, reason string) {
	t.Helper()
	var last *v1.AddressBinding
	r.eventually(t, func(ctx context.Context) (done bool, err error) {
		if last, err = fakesamplesclient.Get(ctx).SamplesV1().AddressBindings(ns).Get(ctx, name, metav1.GetOptions{}); err != nil {
			return false, err
		}
		for _, c := range last.Status.Conditions {
			if string(c.Type) == condition {
				return c.Reason == reason && c.IsTrue() == (reason == ""), nil
			}
		}
		return false, nil
	}, func() string {
		return fmt.Sprintf("%s of %s does not become %q: %+v", condition, name, reason, last.Status)
	})
}

func (r *running) eventually(t *testing.T, check wait.ConditionWithContextFunc, otherwise func() string) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(r.ctx, time.Millisecond, wait.ForeverTestTimeout, true, check); err != nil {
		t.Fatalf("%s (%v)", otherwise(), err)
	}
}

var deploymentsVersion = deploymentsResource.WithVersion("v1")

// envOf waits until the container of a subject has these variables.
func (r *running) envOf(t *testing.T, resource schema.GroupVersionResource, name string, want ...any) {
	t.Helper()
	var last *unstructured.Unstructured
	r.eventually(t, func(ctx context.Context) (done bool, err error) {
		if last, err = r.dynamic.Resource(resource).Namespace(ns).Get(ctx, name, metav1.GetOptions{}); err != nil {
			return false, err
		}
		containers, _, _ := unstructured.NestedSlice(last.Object, "spec", "template", "spec", "containers")
		got, _ := containers[0].(map[string]any)["env"].([]any)
		return len(got) == len(want) && (len(want) == 0 || equality.Semantic.DeepEqual(got, want)), nil
	}, func() string { return fmt.Sprintf("%s does not get %q: %v", name, want, last.Object) })
}

func TestController_FollowsAddressSubjectAndWebhook(t *testing.T) {
	r := run(t, deployment("d"))
	r.create(t, object("a"))
	r.becomes(t, "a", "AddressResolved", v1.ReasonAddressNotFound)
	r.create(t, hello(url))
	r.envOf(t, deploymentsVersion, "d", variable("K_ADDRESS", url))
	r.becomes(t, "a", "SubjectsBound", "")
	r.becomes(t, "a", "Ready", v1.ReasonNotIntercepted)

	if _, err := fakekubeclient.Get(r.ctx).AdmissionregistrationV1().MutatingWebhookConfigurations().Update(r.ctx, everywhere, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	r.becomes(t, "a", "Ready", "")

	services := fakesamplesclient.Get(r.ctx).SamplesV1().AddressableServices(ns)
	if _, err := services.Update(r.ctx, hello(other), metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	r.envOf(t, deploymentsVersion, "d", variable("K_ADDRESS", other))
	if err := services.Delete(r.ctx, "hello", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	r.envOf(t, deploymentsVersion, "d")

	if err := r.dynamic.Resource(deploymentsVersion).Namespace(ns).Delete(r.ctx, "d", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	r.becomes(t, "a", "SubjectsBound", v1.ReasonSubjectNotFound)
}

func TestController_FollowsNamespacesAndLabels(t *testing.T) {
	r := run(t, deployment("d"))
	r.create(t, object("a", bySelector), hello(url))
	r.envOf(t, deploymentsVersion, "d", variable("K_ADDRESS", url))
	namespaces := fakekubeclient.Get(r.ctx).CoreV1().Namespaces()
	if _, err := namespaces.Update(r.ctx, namespace(optedOut), metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	r.envOf(t, deploymentsVersion, "d")
	r.becomes(t, "a", "SubjectsBound", v1.ReasonExcluded)
	if _, err := namespaces.Update(r.ctx, namespace(), metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	r.envOf(t, deploymentsVersion, "d", variable("K_ADDRESS", url))

	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": nil}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.dynamic.Resource(deploymentsVersion).Namespace(ns).Patch(r.ctx, "d", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	r.envOf(t, deploymentsVersion, "d")
}

func TestController_CRDInstalledLater_IsNoticed(t *testing.T) {
	r := run(t, subjectOf("example.com/v1", "Duck", "k"))
	r.create(t, object("a", withSubject("example.com/v1", "Duck", "k")), hello(url))
	r.becomes(t, "a", "SubjectsBound", v1.ReasonSubjectKindNotFound)
	crds := fakeapiextensionsclient.Get(r.ctx).ApiextensionsV1().CustomResourceDefinitions()
	if _, err := crds.Create(r.ctx, reconcilertest.DuckCRD(), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	r.envOf(t, schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "ducks"}, "k", variable("K_ADDRESS", url))
	if err := crds.Delete(r.ctx, "ducks.example.com", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	r.becomes(t, "a", "SubjectsBound", v1.ReasonSubjectKindNotFound)
}

func TestController_YoungerBinding_TakesOver(t *testing.T) {
	r := run(t, deployment("d"))
	young := object("b", func(ab *v1.AddressBinding) { ab.CreationTimestamp, ab.Spec.Address.Name = metav1.Unix(1, 0), "bye" })
	bye := hello(other)
	bye.Name = "bye"
	r.create(t, object("a"), young, hello(url), bye)
	r.becomes(t, "a", "SubjectsBound", "")
	r.becomes(t, "b", "SubjectsBound", v1.ReasonVariableTaken)
	r.envOf(t, deploymentsVersion, "d", variable("K_ADDRESS", url))
	if err := fakesamplesclient.Get(r.ctx).SamplesV1().AddressableServices(ns).Delete(r.ctx, "hello", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	r.envOf(t, deploymentsVersion, "d", variable("K_ADDRESS", other))
	r.becomes(t, "b", "SubjectsBound", "")
}
