/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgotesting "k8s.io/client-go/testing"

	reconcilertesting "knative.dev/pkg/reconciler/testing"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/test/reconcilertest"
)

const (
	noDirectory     = `the directory namespace "dir" does not exist; it is directory-namespace in ConfigMap config-addressable`
	publishing      = "the alias follows once the status records its namespace"
	directoryLeaves = `the directory namespace "dir" is being deleted`
)

var (
	asAl        = publishedAs("al")
	resolved    = at("http://" + host)
	isPublished = status(resolved, published)
	theTarget   = service(ns, "target")
	dir         = namespace(directory)

	servicesResource = corev1.SchemeGroupVersion.WithResource("services")
)

func deletes(name string) []clientgotesting.DeleteActionImpl {
	return []clientgotesting.DeleteActionImpl{clientgotesting.NewDeleteAction(servicesResource, directory, name)}
}

func notPublished(reason, message string) []clientgotesting.UpdateActionImpl {
	return reconcilertest.Becomes(object("a", asAl, status(resolved, unpublished(reason, message))))
}

func TestPublish_Alias_IsCreatedOrUpdated(t *testing.T) {
	foreign := func(s *corev1.Service) { s.Labels = map[string]string{"of": "others"} }
	const elsewhere = "elsewhere.example.com"

	runTable(t, reconcilertesting.TableTest{{
		Name:              "records the namespace before it creates the alias",
		Objects:           []runtime.Object{object("a", asAl, recorded()), theTarget, dir},
		WantStatusUpdates: reconcilertest.Becomes(object("a", asAl, status(resolved, unpublished(v1.ReasonPublishing, publishing)))),
	}, {
		Name:              "creates the alias: no event, for it is well from the start",
		Objects:           []runtime.Object{object("a", asAl), theTarget, dir},
		WantCreates:       []runtime.Object{alias("al", "a", host)},
		WantStatusUpdates: reconcilertest.Becomes(object("a", asAl, isPublished)),
	}, {
		Name:    "steady state: nothing is written",
		Objects: []runtime.Object{object("a", asAl, isPublished), theTarget, dir, alias("al", "a", host, stored)},
	}, {
		Name:              "public: the alias points to the public host",
		Objects:           []runtime.Object{object("a", asAl, public), theTarget, dir},
		WantCreates:       []runtime.Object{alias("al", "a", "a.ns.example.com")},
		WantStatusUpdates: reconcilertest.Becomes(object("a", asAl, public, status(at("https://a.ns.example.com"), published))),
	}, {
		Name:        "puts the alias right that points elsewhere, and keeps what others wrote on it",
		Objects:     []runtime.Object{object("a", asAl, isPublished), theTarget, dir, alias("al", "a", elsewhere, stored, label("of", "others"))},
		WantUpdates: aliasBecomes(alias("al", "a", host, stored, label("of", "others"))),
	}, {
		Name:        "recreates a deleted alias",
		Objects:     []runtime.Object{object("a", asAl, isPublished), theTarget, dir},
		WantCreates: []runtime.Object{alias("al", "a", host)},
	}, {
		Name:    "leaves a Service alone that others made",
		Objects: []runtime.Object{object("a", asAl), theTarget, dir, service(directory, "al", foreign)},
		WantStatusUpdates: notPublished(v1.ReasonAliasTaken,
			"Service dir/al exists and belongs to another client"),
		WantEvents: []string{reconcilertest.Warning(v1.ReasonAliasTaken, "Service dir/al exists and belongs to another client")},
	}, {
		Name:              "leaves the alias of another object alone",
		Objects:           []runtime.Object{object("a", asAl), theTarget, dir, alias("al", "b", host, stored)},
		WantStatusUpdates: notPublished(v1.ReasonAliasTaken, "Service dir/al exists and belongs to ns/b"),
		WantEvents:        []string{reconcilertest.Warning(v1.ReasonAliasTaken, "Service dir/al exists and belongs to ns/b")},
	}, {
		Name: "takes the alias once it is free",
		Objects: []runtime.Object{
			object("a", asAl, status(resolved, unpublished(v1.ReasonAliasTaken, "taken"))), theTarget, dir,
		},
		WantCreates:       []runtime.Object{alias("al", "a", host)},
		WantStatusUpdates: reconcilertest.Becomes(object("a", asAl, isPublished)),
		WantEvents:        []string{reconcilertest.Normal(EventPublished, "The alias points to the address")},
	}, {
		Name:              "no address: the alias stays, for it is still requested",
		Objects:           []runtime.Object{object("a", asAl, isPublished), dir, alias("al", "a", host, stored)},
		WantStatusUpdates: reconcilertest.Becomes(object("a", asAl, status(unresolved(v1.ReasonTargetNotFound, "Service target does not exist"), noAddress))),
		WantEvents:        []string{reconcilertest.Warning(v1.ReasonTargetNotFound, "Service target does not exist")},
	}, {
		Name:              "renamed: the old alias is replaced by the new one",
		Objects:           []runtime.Object{object("a", asAl, isPublished), theTarget, dir, alias("old", "a", host, stored)},
		WantDeletes:       deletes("old"),
		WantCreates:       []runtime.Object{alias("al", "a", host)},
		WantStatusUpdates: nil,
	}, {
		Name:              "no longer requested",
		Objects:           []runtime.Object{object("a", isPublished), theTarget, dir, alias("al", "a", host, stored)},
		WantDeletes:       deletes("al"),
		WantStatusUpdates: reconcilertest.Becomes(object("a", status(resolved, notRequested))),
	}, {
		Name:              "no longer requested after a failure: no event reports success",
		Objects:           []runtime.Object{object("a", status(resolved, unpublished(v1.ReasonAliasTaken, "taken"))), theTarget, dir},
		WantStatusUpdates: reconcilertest.Becomes(object("a", status(resolved, notRequested))),
	}})
}

func label(key, value string) func(*corev1.Service) {
	return func(s *corev1.Service) { s.Labels[key] = value }
}

func aliasBecomes(s *corev1.Service) []clientgotesting.UpdateActionImpl {
	return []clientgotesting.UpdateActionImpl{{Object: s}}
}

func TestPublish_HostIsNoName_ReportsIt(t *testing.T) {
	const message = `an ExternalName Service cannot point to host "10.0.0.1", which is no DNS name`
	runTable(t, reconcilertesting.TableTest{{
		Name:    "an IP address is no host name",
		Objects: []runtime.Object{object("a", toDuck, asAl), aDuck(ns, "d", addressStatus("http://10.0.0.1")), dir},
		WantStatusUpdates: reconcilertest.Becomes(object("a", toDuck, asAl, status(
			at("http://10.0.0.1"), unpublished(v1.ReasonHostNotPublishable, message)))),
		WantEvents: []string{reconcilertest.Warning(v1.ReasonHostNotPublishable, message)},
	}})
}

func TestPublish_NoDirectory_ReportsIt(t *testing.T) {
	closing := apierrors.NewForbidden(corev1.Resource("services"), "al", nil)
	closing.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	closingFails := "publishing alias dir/al: " + closing.Error()

	runTable(t, reconcilertesting.TableTest{{
		Name:              "missing: nothing is tried",
		Objects:           []runtime.Object{object("a", asAl), theTarget},
		WantStatusUpdates: notPublished(v1.ReasonDirectoryNotFound, noDirectory),
		WantEvents:        []string{reconcilertest.Warning(v1.ReasonDirectoryNotFound, noDirectory)},
	}, {
		Name:              "being deleted: nothing is tried",
		Objects:           []runtime.Object{object("a", asAl), theTarget, namespace(directory, terminating)},
		WantStatusUpdates: notPublished(v1.ReasonDirectoryTerminating, directoryLeaves),
		WantEvents:        []string{reconcilertest.Warning(v1.ReasonDirectoryTerminating, directoryLeaves)},
	}, {
		Name:              "deleted concurrently",
		Objects:           []runtime.Object{object("a", asAl), theTarget, dir},
		WithReactors:      []clientgotesting.ReactionFunc{reconcilertest.Failing("create", "services", closing)},
		WantErr:           true,
		PostConditions:    withError(closingFails),
		WantCreates:       []runtime.Object{alias("al", "a", host)},
		WantStatusUpdates: notPublished(v1.ReasonPublishFailed, closingFails),
		WantEvents:        []string{reconcilertest.Warning(v1.ReasonPublishFailed, closingFails)},
	}, {
		Name:              "missing, and nothing to publish",
		Objects:           []runtime.Object{object("a"), theTarget},
		WantStatusUpdates: reconcilertest.Becomes(object("a", status(resolved, notRequested))),
	}})
}

func TestPublish_WriteFails_ReportsIt(t *testing.T) {
	fails := func(name, verb, message string, row reconcilertesting.TableRow) reconcilertesting.TableRow {
		row.Name = name
		row.WithReactors = []clientgotesting.ReactionFunc{reconcilertest.Failing(verb, "services", reconcilertest.ErrInduced)}
		row.WantErr, row.PostConditions = true, withError(message)
		row.WantEvents = append(row.WantEvents, reconcilertest.Warning(v1.ReasonPublishFailed, message))
		return row
	}
	const write, remove = "publishing alias dir/al: induced", "deleting alias dir/old: induced"

	runTable(t, reconcilertesting.TableTest{
		fails("create: the former alias stays", "create", write, reconcilertesting.TableRow{
			Objects:           []runtime.Object{object("a", asAl), theTarget, dir, alias("old", "a", host, stored)},
			WantCreates:       []runtime.Object{alias("al", "a", host)},
			WantStatusUpdates: notPublished(v1.ReasonPublishFailed, write),
		}),
		fails("update: the former alias stays", "update", write, reconcilertesting.TableRow{
			Objects: []runtime.Object{
				object("a", asAl, isPublished), theTarget, dir, alias("al", "a", "elsewhere.example.com", stored), alias("old", "a", host, stored),
			},
			WantUpdates:       aliasBecomes(alias("al", "a", host, stored)),
			WantStatusUpdates: notPublished(v1.ReasonPublishFailed, write),
		}),
		fails("delete: the new alias is published already", "delete", remove, reconcilertesting.TableRow{
			Objects:           []runtime.Object{object("a", asAl, isPublished), theTarget, dir, alias("old", "a", host, stored)},
			WantCreates:       []runtime.Object{alias("al", "a", host)},
			WantDeletes:       deletes("old"),
			WantStatusUpdates: notPublished(v1.ReasonPublishFailed, remove),
		}),
	})
}
