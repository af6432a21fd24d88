/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	reconcilertesting "knative.dev/pkg/reconciler/testing"

	"github.com/mallard-dev/mallard/pkg/apis/config"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/test/reconcilertest"
)

func TestReconcile_TargetService_ReportsItsAddress(t *testing.T) {
	const gone = "Service target does not exist"
	ready := status(at("http://"+host), notRequested)
	missing := status(unresolved(v1.ReasonTargetNotFound, gone), notRequested)
	invalid := "Service Not a name does not exist"
	const builtIn = "Service v2 is a built-in kind, of which only Service v1 has an address"

	runTable(t, reconcilertesting.TableTest{{
		Name:              "exists: one write and no event",
		Objects:           []runtime.Object{object("a"), service(ns, "target")},
		WantStatusUpdates: reconcilertest.Becomes(object("a", ready)),
	}, {
		Name:    "steady state: nothing is written",
		Objects: []runtime.Object{object("a", ready), service(ns, "target")},
	}, {
		Name:              "missing",
		Objects:           []runtime.Object{object("a")},
		WantStatusUpdates: reconcilertest.Becomes(object("a", missing)),
		WantEvents:        []string{reconcilertest.Warning(v1.ReasonTargetNotFound, gone)},
	}, {
		Name:    "still missing: nothing is written and nothing said again",
		Objects: []runtime.Object{object("a", missing)},
	}, {
		Name:              "missing for another reason than before: reported again",
		Objects:           []runtime.Object{object("a", status(unresolved(v1.ReasonPortNotFound, "no port"), notRequested))},
		WantStatusUpdates: reconcilertest.Becomes(object("a", missing)),
		WantEvents:        []string{reconcilertest.Warning(v1.ReasonTargetNotFound, gone)},
	}, {
		Name:              "deleted: the address goes",
		Objects:           []runtime.Object{object("a", ready)},
		WantStatusUpdates: reconcilertest.Becomes(object("a", missing)),
		WantEvents:        []string{reconcilertest.Warning(v1.ReasonTargetNotFound, gone)},
	}, {
		Name:              "is recreated",
		Objects:           []runtime.Object{object("a", missing), service(ns, "target")},
		WantStatusUpdates: reconcilertest.Becomes(object("a", ready)),
		WantEvents:        []string{reconcilertest.Normal(EventTargetResolved, "The reference leads to an address again")},
	}, {
		Name:              "new generation: observed, though nothing else changes",
		Objects:           []runtime.Object{object("a", ready, generation(2)), service(ns, "target")},
		WantStatusUpdates: reconcilertest.Becomes(object("a", generation(2), ready)),
	}, {
		Name:              "only in another namespace: not found",
		Objects:           []runtime.Object{object("a"), service("other", "target")},
		WantStatusUpdates: reconcilertest.Becomes(object("a", missing)),
		WantEvents:        []string{reconcilertest.Warning(v1.ReasonTargetNotFound, gone)},
	}, {
		Name:              "at another version: not Addressable",
		Objects:           []runtime.Object{object("a", withRef("v2", "Service", "", "target")), service(ns, "target")},
		WantStatusUpdates: reconcilertest.Becomes(object("a", withRef("v2", "Service", "", "target"), status(unresolved(v1.ReasonTargetNotAddressable, builtIn), notRequested))),
		WantEvents:        []string{reconcilertest.Warning(v1.ReasonTargetNotAddressable, builtIn)},
	}, {
		Name:              "with a name that cannot be one",
		Objects:           []runtime.Object{object("a", withRef("v1", "Service", "", "Not a name"))},
		WantStatusUpdates: reconcilertest.Becomes(object("a", withRef("v1", "Service", "", "Not a name"), status(unresolved(v1.ReasonTargetNotFound, invalid), notRequested))),
		WantEvents:        []string{reconcilertest.Warning(v1.ReasonTargetNotFound, invalid)},
	}})
}

func generation(g int64) mod { return func(as *v1.AddressableService) { as.Generation = g } }

func TestReconcile_ReferenceToAnotherNamespace_FollowsTheConfiguration(t *testing.T) {
	const denied = `spec.ref.namespace "other" is not this object's; set allow-cross-namespace-references in ConfigMap config-addressable to allow it where all namespaces are watched`
	across := withRef("v1", "Service", "other", "target")
	allowed := map[string]any{configData: testConfig(func(c *config.Addressable) { c.AllowCrossNamespaceReferences = true })}

	runTable(t, reconcilertesting.TableTest{{
		Name:              "denied",
		Objects:           []runtime.Object{object("a", across), service("other", "target")},
		WantStatusUpdates: reconcilertest.Becomes(object("a", across, status(unresolved(v1.ReasonCrossNamespaceDenied, denied), notRequested))),
		WantEvents:        []string{reconcilertest.Warning(v1.ReasonCrossNamespaceDenied, denied)},
	}, {
		Name:              "allowed",
		Objects:           []runtime.Object{object("a", across), service("other", "target")},
		WantStatusUpdates: reconcilertest.Becomes(object("a", across, status(at("http://target.other.svc.cluster.local"), notRequested))),
		OtherTestData:     allowed,
	}, {
		Name:              "own namespace written out: allowed anyway",
		Objects:           []runtime.Object{object("a", withRef("v1", "Service", ns, "target")), service(ns, "target")},
		WantStatusUpdates: reconcilertest.Becomes(object("a", withRef("v1", "Service", ns, "target"), status(at("http://"+host), notRequested))),
	}})
}

func TestReconcile_ServicePorts_ReportsAddresses(t *testing.T) {
	two := withPorts(v1.AddressPort{Name: "web", Port: 8080}, v1.AddressPort{Name: "secure", AppProtocol: "https"})
	named := func(s *v1.AddressableServiceStatus) {
		addresses := addressesAt("http://"+host+":8080", "https://"+host+":8443")
		for i, name := range []string{"web", "secure"} {
			addresses[i].Name = &name
		}
		s.MarkTargetResolved(addresses)
	}
	const noNumber = `Service target maps no ports, so that clients connect to targetPort "http" of its port web:80, and a URL needs the number; ` +
		"set targetPort to a number, or refer to a Service with a cluster IP"
	const noPort = `Service target has no port secure, which spec.ports requests; its TCP ports are [8080]`
	long := strings.Repeat("a", 64)
	tooLong := `host name "` + long + `.ns.example.com": label "` + long + `": must be no more than 63 characters; the template is domain-template in ConfigMap config-addressable`

	runTable(t, reconcilertesting.TableTest{{
		Name: "two ports give two addresses",
		Objects: []runtime.Object{
			object("a", two), service(ns, "target", withServicePort("", 8080, ""), withServicePort("secure", 8443, "")),
		},
		WantStatusUpdates: reconcilertest.Becomes(object("a", two, status(named, notRequested))),
	}, {
		Name:              "an unknown port name is a condition, not a retry",
		Objects:           []runtime.Object{object("a", two), service(ns, "target", withServicePort("", 8080, ""))},
		WantStatusUpdates: reconcilertest.Becomes(object("a", two, status(unresolved(v1.ReasonPortNotFound, noPort), notRequested))),
		WantEvents:        []string{reconcilertest.Warning(v1.ReasonPortNotFound, noPort)},
	}, {
		Name:              "a port number that is not known does not remove the address",
		Objects:           []runtime.Object{object("a", status(at("http://"+host+":8080"), notRequested)), headless(service(ns, "target", withServicePort("web", 80, "")))},
		WantStatusUpdates: reconcilertest.Becomes(object("a", status(at("http://"+host+":8080"), unknown(v1.ReasonTargetPortUnknown, noNumber), notRequested))),
	}, {
		Name:              "public",
		Objects:           []runtime.Object{object("a", public), service(ns, "target")},
		WantStatusUpdates: reconcilertest.Becomes(object("a", public, status(at("https://a.ns.example.com"), notRequested))),
	}, {
		Name:              "public after the domain changed",
		Objects:           []runtime.Object{object("a", public, status(at("https://a.ns.example.com"), notRequested)), service(ns, "target")},
		OtherTestData:     map[string]any{configData: testConfig(func(c *config.Addressable) { c.Domain = "example.org" })},
		WantStatusUpdates: reconcilertest.Becomes(object("a", public, status(at("https://a.ns.example.org"), notRequested))),
	}, {
		Name:              "public with a name that is no host",
		Key:               ns + "/" + long,
		Objects:           []runtime.Object{object(long, public), service(ns, "target")},
		WantStatusUpdates: reconcilertest.Becomes(object(long, public, status(unresolved(v1.ReasonHostInvalid, tooLong), notRequested))),
		WantEvents:        []string{reconcilertest.Warning(v1.ReasonHostInvalid, tooLong)},
	}})
}

func TestReconcile_TargetAddressableService_ReportsItsAddress(t *testing.T) {
	b := func(mods ...mod) *v1.AddressableService { return object("b", mods...) }
	// chain is b, and as many objects that its reference leads through.
	chain := func(others int) []runtime.Object {
		objects := []runtime.Object{b(refTo("o1"), status(at("http://b.example.com"), notRequested))}
		for i := range others {
			objects = append(objects, object(fmt.Sprintf("o%d", i+1), refTo(fmt.Sprintf("o%d", i+2))))
		}
		return append(objects[:others], object(fmt.Sprintf("o%d", others)))
	}
	const noAddress = "AddressableService.samples.knative.dev b has no status.address.url"
	const missing = "AddressableService.samples.knative.dev b does not exist"
	const tooFar = "the references lead through more than 32 AddressableServices"
	const cycle = "the references form a cycle: ns/a -> ns/b -> ns/a"

	runTable(t, reconcilertesting.TableTest{{
		Name:              "with an address",
		Objects:           []runtime.Object{object("a", refTo("b")), b(status(at("http://b.example.com"), notRequested))},
		WantStatusUpdates: reconcilertest.Becomes(object("a", refTo("b"), status(at("http://b.example.com"), notRequested))),
	}, {
		Name:              "behind others",
		Objects:           append(chain(maxHops-1), object("a", refTo("b"))),
		WantStatusUpdates: reconcilertest.Becomes(object("a", refTo("b"), status(at("http://b.example.com"), notRequested))),
	}, {
		Name:              "behind too many others",
		Objects:           append(chain(maxHops), object("a", refTo("b"))),
		WantStatusUpdates: reconcilertest.Becomes(object("a", refTo("b"), status(unresolved(v1.ReasonReferenceCycle, tooFar), notRequested))),
		WantEvents:        []string{reconcilertest.Warning(v1.ReasonReferenceCycle, tooFar)},
	}, {
		Name:              "of another class",
		Objects:           []runtime.Object{object("a", refTo("b")), b(withClass("other"), status(at("http://b.example.com")))},
		WantStatusUpdates: reconcilertest.Becomes(object("a", refTo("b"), status(at("http://b.example.com"), notRequested))),
	}, {
		Name:              "without an address",
		Objects:           []runtime.Object{object("a", refTo("b")), b()},
		WantStatusUpdates: reconcilertest.Becomes(object("a", refTo("b"), status(unresolved(v1.ReasonTargetHasNoAddress, noAddress), notRequested))),
		WantEvents:        []string{reconcilertest.Warning(v1.ReasonTargetHasNoAddress, noAddress)},
	}, {
		Name:              "missing",
		Objects:           []runtime.Object{object("a", refTo("b"))},
		WantStatusUpdates: reconcilertest.Becomes(object("a", refTo("b"), status(unresolved(v1.ReasonTargetNotFound, missing), notRequested))),
		WantEvents:        []string{reconcilertest.Warning(v1.ReasonTargetNotFound, missing)},
	}, {
		Name: "a cycle loses its address and says so",
		Objects: []runtime.Object{
			object("a", refTo("b"), status(at("http://old"), notRequested)), b(refTo("a"), status(at("http://old"), notRequested)),
		},
		WantStatusUpdates: reconcilertest.Becomes(object("a", refTo("b"), status(unresolved(v1.ReasonReferenceCycle, cycle), notRequested))),
		WantEvents:        []string{reconcilertest.Warning(v1.ReasonReferenceCycle, cycle)},
	}, {
		Name: "a cycle is in a steady state",
		Objects: []runtime.Object{
			object("a", refTo("b"), status(unresolved(v1.ReasonReferenceCycle, cycle), notRequested)), b(refTo("a")),
		},
	}})
}
