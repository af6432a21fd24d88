/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"cmp"
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/dynamic"
	admissionlisters "k8s.io/client-go/listers/admissionregistration/v1"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/utils/clock"

	mutatinginformer "knative.dev/pkg/client/injection/kube/informers/admissionregistration/v1/mutatingwebhookconfiguration"
	namespaceinformer "knative.dev/pkg/client/injection/kube/informers/core/v1/namespace"
	"knative.dev/pkg/injection/clients/dynamicclient"
	"knative.dev/pkg/reconciler"

	"github.com/mallard-dev/mallard/observe/ducks"
	"github.com/mallard-dev/mallard/observe/expectations"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/binding"
	addressableserviceinformer "github.com/mallard-dev/mallard/pkg/client/injection/informers/samples/v1/addressableservice"
	addressbindinginformer "github.com/mallard-dev/mallard/pkg/client/injection/informers/samples/v1/addressbinding"
	addressbindingreconciler "github.com/mallard-dev/mallard/pkg/client/injection/reconciler/samples/v1/addressbinding"
	listers "github.com/mallard-dev/mallard/pkg/client/listers/samples/v1"
	"github.com/mallard-dev/mallard/runtime/failures"
	"github.com/mallard-dev/mallard/runtime/restmapping"
)

// Reasons of Normal events. Warning events have the reason of their condition.
const (
	// EventAddressResolved: an address that was missing exists. A binding that is Ready after its first reconciliations emits no event.
	EventAddressResolved = "AddressResolved"

	// EventSubjectsBound: a subject that could not get the address has it. Subjects get no events.
	EventSubjectsBound = "SubjectsBound"
)

// reported are the conditions whose changes are events. Intercepted is not among them: for the first binding of a kind it is False for
// a moment.
var reported = []failures.Reported{{
	Condition: v1.AddressBindingConditionAddressResolved,
	Reason:    EventAddressResolved,
	Message:   "The AddressableService has an address again",
}, {
	Condition: v1.AddressBindingConditionSubjectsBound,
	Reason:    EventSubjectsBound,
	Message:   "Every subject has the address",
}}

// maxValue is the longest value that the schemas of our status and of Configurable allow.
const maxValue = 4096

// Reconciler implements the generated reconciler's Interface and Finalizer. Its fields are set by NewController and not changed
// afterwards.
type Reconciler struct {
	dynamic             dynamic.Interface
	bindings            listers.AddressBindingLister
	addressableServices listers.AddressableServiceLister
	namespaces          corev1listers.NamespaceLister
	webhooks            admissionlisters.MutatingWebhookConfigurationLister

	mapper *restmapping.Mapper

	subjects shapes

	// expectations knows our writes of bindings and of subjects, which the caches may lack.
	expectations *expectations.Expectations
	attempts     *attempts
	failures     *failures.Failures
}

func newReconciler(ctx context.Context, mapper *restmapping.Mapper, served func(sets.Set[schema.GroupVersion])) *Reconciler {
	return &Reconciler{
		dynamic:             dynamicclient.Get(ctx),
		bindings:            addressbindinginformer.Get(ctx).Lister(),
		addressableServices: addressableserviceinformer.Get(ctx).Lister(),
		namespaces:          namespaceinformer.Get(ctx).Lister(),
		webhooks:            mutatinginformer.Get(ctx).Lister(),
		mapper:              mapper,
		subjects:            newShapes(ctx, dynamicclient.Get(ctx), served),
		expectations:        expectations.New(nil),
		attempts:            newAttempts(clock.RealClock{}),
		failures:            failures.New(),
	}
}

// newShapes returns informers that are not those of injection: docs/adr/0005-own-duck-informers.md.
func newShapes(ctx context.Context, client dynamic.Interface, served func(sets.Set[schema.GroupVersion])) shapes {
	subjects := make(shapes)
	for _, shape := range binding.Shapes {
		subjects[shape] = ducks.New(ctx, client, shape.New(), sets.New(samples.BoundVariablesAnnotationKey), served)
	}
	return subjects
}

// shapes are the informers of subjects, of each shape.
type shapes map[binding.Shape]*ducks.Factory

// Stop stops the informers of the resources that match accepts.
func (s shapes) Stop(match func(schema.GroupVersionResource) bool) {
	for _, factory := range s {
		factory.Stop(match)
	}
}

var (
	_ addressbindingreconciler.Interface = (*Reconciler)(nil)
	_ addressbindingreconciler.Finalizer = (*Reconciler)(nil)
)

// ReconcileKind implements the generated Interface. It is called with a copy of a binding that is not being deleted. The generated code
// then writes the status, in one request and only if something changed.
func (r *Reconciler) ReconcileKind(ctx context.Context, ab *v1.AddressBinding) reconciler.Event {
	recordEvents := failures.BeginEvents(ab, reported)

	r.reconcileAddress(ab)
	problems := r.reconcileSubjects(ctx, ab)
	r.reconcileInterception(ab)

	recordEvents(ctx)
	return r.failures.Outcome(ab, problems...)
}

// FinalizeKind implements the generated Finalizer. It is called for a binding that is being deleted. Nil removes the finalizer.
func (r *Reconciler) FinalizeKind(ctx context.Context, ab *v1.AddressBinding) reconciler.Event {
	recordEvents := failures.BeginEvents(ab, reported)

	problems := r.leave(ctx, ab)
	if len(ab.Status.Kinds) == 0 {
		return nil
	}
	if p := worst(problems); p != nil {
		ab.Status.MarkSubjectsNotBound(p.Reason, p.Message)
		// Deleting made a new generation, and the generated code observes generations after ReconcileKind only.
		ab.Status.ObservedGeneration = ab.Generation
	}

	recordEvents(ctx)
	// An event will enqueue the binding. Nil would remove the finalizer.
	return r.failures.Outcome(ab, append(problems, &failures.Failure{Recheck: failures.LastRecheck})...)
}

// reconcileAddress marks AddressResolved. The address is that of an AddressableService of any class, whether or not its alias is
// published. It is removed only if it is known that no address exists.
func (r *Reconciler) reconcileAddress(ab *v1.AddressBinding) {
	name := ab.Spec.Address.Name
	as, err := r.addressableServices.AddressableServices(ab.Namespace).Get(name)
	switch {
	case apierrors.IsNotFound(err):
		ab.Status.MarkAddressNotResolved(v1.ReasonAddressNotFound, "AddressableService "+name+" does not exist")
	case err != nil:
		ab.Status.MarkAddressUnknown(fmt.Sprintf("reading AddressableService %s: %v", name, err))
	case as.Status.Address != nil && !as.Status.Address.URL.IsEmpty():
		value := as.Status.Address.URL.String()
		if len(value) > maxValue {
			ab.Status.MarkAddressNotResolved(v1.ReasonAddressNotReady,
				fmt.Sprintf("the address of AddressableService %s is longer than %d characters", name, maxValue))
			return
		}
		ab.Status.MarkAddressResolved(value)
	default:
		// The operator has looked the target up, and it has no address. Otherwise the condition is Unknown.
		target := as.Status.GetCondition(v1.AddressableServiceConditionTargetResolved)
		if target.IsFalse() {
			ab.Status.MarkAddressNotResolved(v1.ReasonAddressNotReady, fmt.Sprintf("AddressableService %s has no address: %s", name, target.Reason))
			return
		}
		ab.Status.MarkAddressUnknown(fmt.Sprintf("the address of AddressableService %s is unknown: %s", name,
			cmp.Or(target.GetReason(), "no operator has reported its condition TargetResolved")))
	}
}
