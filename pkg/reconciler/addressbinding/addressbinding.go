/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionslisters "k8s.io/apiextensions-apiserver/pkg/client/listers/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	expiring "k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/client-go/dynamic"
	admissionlisters "k8s.io/client-go/listers/admissionregistration/v1"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/utils/clock"

	"knative.dev/pkg/apis/duck"
	"knative.dev/pkg/kmeta"
	"knative.dev/pkg/reconciler"
	"knative.dev/pkg/tracker"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/binding"
	addressbindingreconciler "github.com/mallard-dev/mallard/pkg/client/injection/reconciler/samples/v1/addressbinding"
	listers "github.com/mallard-dev/mallard/pkg/client/listers/samples/v1"
	"github.com/mallard-dev/mallard/pkg/failures"
)

// Reasons of Normal events. Warning events have the reason of their condition.
const (
	// EventAddressResolved: an address that was missing exists. A binding that is Ready after its first reconciliations emits no event.
	EventAddressResolved = "AddressResolved"

	// EventSubjectsBound: a subject that could not get the address has it. Subjects get no events.
	EventSubjectsBound = "SubjectsBound"
)

// reported are the conditions whose changes are events. Intercepted is not among them: for the first binding of a kind it is False for a moment.
var reported = []failures.Reported{
	{Condition: v1.AddressBindingConditionAddressResolved, Reason: EventAddressResolved, Message: "The AddressableService has an address again"},
	{Condition: v1.AddressBindingConditionSubjectsBound, Reason: EventSubjectsBound, Message: "Every subject has the address"},
}

const (
	// maxValue is the longest value that the schemas of our status and of Configurable allow.
	maxValue = 4096
	// excludedFromWebhooks is the label of namespaces for which Knative's webhooks are not called; see config/500-addressbinding-webhook.yaml.
	excludedFromWebhooks = "webhooks.knative.dev/exclude"
)

// Reconciler implements the generated reconciler's Interface and Finalizer. NewController sets its fields.
type Reconciler struct {
	dynamic             dynamic.Interface
	bindings            listers.AddressBindingLister
	addressableServices listers.AddressableServiceLister
	namespaces          corev1listers.NamespaceLister
	crds                apiextensionslisters.CustomResourceDefinitionLister
	webhooks            admissionlisters.MutatingWebhookConfigurationLister
	subjects            map[binding.Shape]duck.InformerFactory
	tracker             tracker.Interface

	clock clock.PassiveClock
	// attempts are the last requests that must not be repeated at once: of type attempt, by what they change.
	attempts *expiring.Expiring
}

var _ addressbindingreconciler.Finalizer = (*Reconciler)(nil)

// ReconcileKind implements the generated Interface. It is called with a copy of a binding that is not being deleted. The generated code
// then writes the status, in one request and only if something changed.
//
// It tracks what the binding names or selects before it reads it. NewController has the rest enqueue the binding otherwise: other bindings
// by contenders, the CRD of the subject and the webhook configuration by a resync.
func (r *Reconciler) ReconcileKind(ctx context.Context, ab *v1.AddressBinding) reconciler.Event {
	if namespace, p := r.namespace(ab); p == nil && namespace.DeletionTimestamp != nil {
		// The binding is about to be deleted, and its subjects with it.
		return nil
	}
	end := failures.Begin(ab, reported)

	r.reconcileAddress(ab)
	problems := r.reconcileSubjects(ctx, ab)
	r.reconcileInterception(ab)

	return end(ctx, problems...)
}

// FinalizeKind implements the generated Finalizer. It is called for a binding that is being deleted. Nil removes the finalizer.
func (r *Reconciler) FinalizeKind(ctx context.Context, ab *v1.AddressBinding) reconciler.Event {
	end := failures.Begin(ab, reported)

	problems := r.leave(ctx, ab)
	if len(ab.Status.Kinds) == 0 {
		return nil
	}
	if p := worst(problems); p != nil {
		ab.Status.MarkSubjectsNotBound(p.Reason, p.Message)
		// Deleting made a new generation, and the generated code observes generations after ReconcileKind only.
		ab.Status.ObservedGeneration = ab.Generation
	}

	// An event may enqueue the binding earlier. Nil would remove the finalizer.
	return end(ctx, append(problems, &failures.Failure{Recheck: lastDelay})...)
}

// namespace returns the namespace of a binding. While the cache lacks it, it is unknown whether it opts in. Its event enqueues the binding.
func (r *Reconciler) namespace(ab *v1.AddressBinding) (*corev1.Namespace, *failures.Failure) {
	err := r.tracker.TrackReference(tracker.Reference{APIVersion: "v1", Kind: "Namespace", Name: ab.Namespace}, ab)
	namespace, missing := r.namespaces.Get(ab.Namespace)
	if err != nil || missing != nil {
		return nil, &failures.Failure{Err: err}
	}
	return namespace, nil
}

// reconcileAddress marks AddressResolved. The address is that of an AddressableService of any class, whether or not its alias is
// published. It is removed only if it is known that no address exists.
func (r *Reconciler) reconcileAddress(ab *v1.AddressBinding) {
	name := ab.Spec.Address.Name
	reference := tracker.Reference{APIVersion: v1.SchemeGroupVersion.String(), Kind: "AddressableService", Namespace: ab.Namespace, Name: name}
	err := r.tracker.TrackReference(reference, ab) // fails if the name is invalid
	as, missing := r.addressableServices.AddressableServices(ab.Namespace).Get(name)
	if err != nil || missing != nil {
		ab.Status.MarkAddressNotResolved(v1.ReasonAddressNotFound, "AddressableService "+name+" does not exist")
		return
	}
	// If its operator has looked the target up, False is the answer that it has no address.
	target := as.Status.GetCondition(v1.AddressableServiceConditionTargetResolved)
	hasAddress := as.Status.Address != nil && !as.Status.Address.URL.IsEmpty()
	switch {
	case hasAddress && len(as.Status.Address.URL.String()) > maxValue:
		ab.Status.MarkAddressNotResolved(v1.ReasonAddressNotReady,
			fmt.Sprintf("the address of AddressableService %s is longer than %d characters", name, maxValue))
	case hasAddress:
		ab.Status.MarkAddressResolved(as.Status.Address.URL.String())
	case target.IsFalse():
		ab.Status.MarkAddressNotResolved(v1.ReasonAddressNotReady, fmt.Sprintf("AddressableService %s has no address: %s", name, target.Reason))
	default:
		ab.Status.MarkAddressUnknown(fmt.Sprintf("the address of AddressableService %s is unknown: %s", name,
			cmp.Or(target.GetReason(), "no operator has reported its condition TargetResolved")))
	}
}

// reconcileInterception marks Intercepted.
func (r *Reconciler) reconcileInterception(ab *v1.AddressBinding) {
	const name, later = "the MutatingWebhookConfiguration " + binding.WebhookName, ": new objects get their address after they were created"
	kind := ab.Spec.Subject.GroupVersionKind().GroupKind()
	entry, recorded := binding.Recorded(ab, kind)
	// The version does not matter: the rules match equivalent ones.
	intercepts := func(w admissionregistrationv1.MutatingWebhook) bool {
		return len(w.ClientConfig.CABundle) > 0 && slices.ContainsFunc(w.Rules, func(rule admissionregistrationv1.RuleWithOperations) bool {
			return slices.Contains(rule.Operations, admissionregistrationv1.Create) &&
				slices.Contains(rule.APIGroups, kind.Group) && slices.Contains(rule.Resources, entry.Resource)
		})
	}
	configuration, err := r.webhooks.Get(binding.WebhookName)
	namespace, missing := r.namespaces.Get(ab.Namespace)
	switch {
	case !recorded:
		ab.Status.MarkInterceptionUnknown()
	case err != nil:
		ab.Status.MarkNotIntercepted(name + " does not exist")
	case len(configuration.Webhooks) == 0:
		ab.Status.MarkNoWebhook()
	case !slices.ContainsFunc(configuration.Webhooks, intercepts):
		resource := schema.GroupResource{Group: kind.Group, Resource: entry.Resource}
		ab.Status.MarkNotIntercepted(fmt.Sprintf("%s has no rule for %s yet%s", name, resource, later))
	case missing == nil && metav1.HasLabel(namespace.ObjectMeta, excludedFromWebhooks):
		ab.Status.MarkNotIntercepted("the namespace has the label " + excludedFromWebhooks + later)
	default:
		ab.Status.MarkIntercepted()
	}
}

// readClaim returns the values of a binding that other bindings depend on.
func readClaim(obj any) []any {
	ab := obj.(*v1.AddressBinding) //nolint:forcetypeassert // the informer has nothing else
	return []any{ab.UID, ab.Generation, ab.Status.Value, ab.Status.LacksAddress(), binding.Unserved(ab), ab.Status.Kinds}
}

// contenders returns a function that enqueues the other bindings that may want the same variable of the same objects as one.
func contenders(bindings listers.AddressBindingLister, enqueue func(any)) func(any) {
	return func(obj any) {
		changed, _ := kmeta.DeletionHandlingAccessor(obj)
		ab, ok := changed.(*v1.AddressBinding)
		if !ok {
			return
		}
		all, _ := bindings.AddressBindings(ab.Namespace).List(labels.Everything())
		for _, other := range all {
			if ab.Name != other.Name && ab.Spec.Variable == other.Spec.Variable &&
				ab.Spec.Subject.GroupVersionKind().GroupKind() == other.Spec.Subject.GroupVersionKind().GroupKind() {
				enqueue(other)
			}
		}
	}
}
