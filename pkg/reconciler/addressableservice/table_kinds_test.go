/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	reconcilertesting "knative.dev/pkg/reconciler/testing"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/test/reconcilertest"
)

var toDuck = withRef("example.com/v1", "Duck", "", "d")

// fails is a row in which the target leads to no address for a reason that is
// watched: one write, one event, and the reconciliation is complete.
func fails(name, reason, message string, ref mod, objs ...runtime.Object) reconcilertesting.TableRow {
	return reconcilertesting.TableRow{
		Name:              name,
		Objects:           append([]runtime.Object{object("a", ref)}, objs...),
		WantStatusUpdates: reconcilertest.Becomes(object("a", ref, status(unresolved(reason, message), notRequested))),
		WantEvents:        []string{reconcilertest.Warning(reason, message)},
	}
}

func clusterScoped(crd *apiextensionsv1.CustomResourceDefinition) {
	crd.Spec.Scope = apiextensionsv1.ClusterScoped
}

func notEstablished(crd *apiextensionsv1.CustomResourceDefinition) { crd.Status.Conditions = nil }

func TestReconcile_AddressableTarget_ReportsItsAddress(t *testing.T) {
	unlabeled := func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Labels = nil }
	resolves := func(name string, objs ...runtime.Object) reconcilertesting.TableRow {
		return reconcilertesting.TableRow{
			Name:              name,
			Objects:           append([]runtime.Object{object("a", toDuck)}, objs...),
			WantStatusUpdates: reconcilertest.Becomes(object("a", toDuck, status(at("http://d.example.com"), notRequested))),
		}
	}
	runTable(t, reconcilertesting.TableTest{
		resolves("with an address", duckCRD(), duck(ns, "d", addressStatus("http://d.example.com"))),
		resolves("with an address, of a CRD that does not say so", duckCRD(unlabeled), duck(ns, "d", addressStatus("http://d.example.com"))),
		resolves("of a kind without namespaces", duckCRD(clusterScoped), duck("", "d", addressStatus("http://d.example.com"))),
		resolves("with a malformed one in the namespace", duckCRD(), duck(ns, "bad", "well"), duck(ns, "d", addressStatus("http://d.example.com"))),
		resolves("with named addresses only", duckCRD(), duck(ns, "d", map[string]any{"addresses": []any{map[string]any{"url": "http://d.example.com"}}})),
		fails("missing", v1.ReasonTargetNotFound, "Duck.example.com d does not exist", toDuck, duckCRD()),
		fails("in another namespace", v1.ReasonTargetNotFound, "Duck.example.com d does not exist", toDuck,
			duckCRD(), duck("other", "d", addressStatus("http://d.example.com"))),
		fails("without an address", v1.ReasonTargetHasNoAddress, "Duck.example.com d has no status.address.url", toDuck,
			duckCRD(), duck(ns, "d", map[string]any{})),
		fails("with an address without host", v1.ReasonTargetNotAddressable,
			`the address of Duck.example.com d is unusable: its URL "/path" needs a scheme and a host`, toDuck,
			duckCRD(), duck(ns, "d", addressStatus("/path"))),
		fails("with an address without scheme", v1.ReasonTargetNotAddressable,
			`the address of Duck.example.com d is unusable: its URL "//d.example.com/x" needs a scheme and a host`, toDuck,
			duckCRD(), duck(ns, "d", addressStatus("//d.example.com/x"))),
		fails("without an address, of a CRD that does not say it will have one", v1.ReasonTargetNotAddressable,
			"Duck.example.com d has no status.address.url, and its CRD has no label duck.knative.dev/addressable=true", toDuck,
			duckCRD(unlabeled), duck(ns, "d", map[string]any{})),
		fails("malformed", v1.ReasonTargetNotAddressable,
			"Duck.example.com d: status.address is not an Addressable's: reading Duck ns/d as *v1.AddressableType: "+
				"json: cannot unmarshal string into Go struct field AddressableType.status of type v1.AddressStatus", toDuck,
			duckCRD(), duck(ns, "d", "well")),
	})
}

func TestReconcile_TargetKindNotServed_ReportsIt(t *testing.T) {
	aggregated := withRef("aggregated.example.com/v1", "Goose", "", "g")
	runTable(t, reconcilertesting.TableTest{
		fails("no CRD", v1.ReasonTargetKindNotFound, "the cluster does not serve kind Duck at example.com/v1; did you mean Duck at aggregated.example.com/v1?", toDuck),
		fails("CRD serves another version", v1.ReasonTargetKindNotFound,
			"the cluster does not serve kind Duck at example.com/v0; its CRD serves v1",
			withRef("example.com/v0", "Duck", "", "d"), duckCRD()),
		fails("CRD not established", v1.ReasonTargetKindNotFound,
			"the cluster does not serve kind Duck at example.com/v1 yet; its CRD is not established", toDuck, duckCRD(notEstablished)),
		fails("other kind of a group that is served", v1.ReasonTargetKindNotFound,
			"the cluster does not serve kind Goose at aggregated.example.com/v1", aggregated),
		fails("built-in kind", v1.ReasonTargetNotAddressable,
			"Deployment.apps is a built-in kind, of which only Service has an address", withRef("apps/v1", "Deployment", "", "d")),
	})
}

func TestReconcile_TargetOfAnAggregatedAPIServer_ReportsItsAddress(t *testing.T) {
	ref := withRef("aggregated.example.com/v1", "Duck", "", "d")
	d := duck(ns, "d", addressStatus("http://d.example.com"))
	d.SetAPIVersion("aggregated.example.com/v1")
	runTable(t, reconcilertesting.TableTest{{
		Name:              "is found by discovery",
		Objects:           []runtime.Object{object("a", ref), d},
		WantStatusUpdates: reconcilertest.Becomes(object("a", ref, status(at("http://d.example.com"), notRequested))),
	}})
}
