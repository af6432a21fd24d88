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
	"strings"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/pager"

	"knative.dev/pkg/apis/duck"
	"knative.dev/pkg/client/injection/ducks/duck/v1/podspecable"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/injection/clients/dynamicclient"
	"knative.dev/pkg/kmeta"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/binding"
	"github.com/mallard-dev/mallard/pkg/client/injection/ducks/duck/v1alpha1/configurable"
	"github.com/mallard-dev/mallard/pkg/failures"
)

// settling is the time in which every webhook is expected to observe that a binding is being deleted, and its last answers to be stored.
const settling = 2 * time.Second

// subjectKind is a kind of subjects that the cluster serves.
type subjectKind struct {
	schema.GroupKind

	resource schema.GroupVersionResource
	shape    binding.Shape
}

// reconcileSubjects gives the subjects the address and marks SubjectsBound.
func (r *Reconciler) reconcileSubjects(ctx context.Context, ab *v1.AddressBinding) []*failures.Failure {
	k, objects, p := r.read(ctx, ab)
	if p == nil && recordKind(ab, k) {
		// If the patches were sent first and this process exited before the status was stored, no record would show where to remove the variables.
		// The event of the status update enqueues the binding.
		ab.Status.MarkBinding(v1.ReasonBinding, fmt.Sprintf("objects of kind %s are patched once status.kinds contains it", k.GroupKind))
		return nil
	}
	problems := r.leave(ctx, ab)
	if p == nil {
		subjects, failed := r.adjust(ctx, ab, k, objects)
		report(ab, k, subjects, problems)
		return append(problems, failed...)
	}
	if p.Reason != "" {
		ab.Status.Subjects = nil
		ab.Status.MarkSubjectsNotBound(p.Reason, p.Message)
	} else if c := ab.Status.GetCondition(v1.AddressBindingConditionSubjectsBound); ab.Generation != ab.Status.ObservedGeneration ||
		!c.IsTrue() && c.GetReason() == "" {
		// There is no earlier result to keep.
		ab.Status.MarkBinding(v1.ReasonBinding, fmt.Sprintf("the objects of kind %s have not been read", ab.Spec.Subject.GroupVersionKind().GroupKind()))
	}
	return append(problems, p)
}

// leave removes what is no longer wanted from the objects of the recorded kinds that are not the subject's, or of all if the binding is
// being deleted. It forgets the kinds where nothing is left, and those that the cluster does not serve anymore.
func (r *Reconciler) leave(ctx context.Context, ab *v1.AddressBinding) []*failures.Failure {
	var problems []*failures.Failure
	ab.Status.Kinds = slices.DeleteFunc(slices.Clone(ab.Status.Kinds), func(entry v1.SubjectKind) bool {
		gvk := schema.FromAPIVersionAndKind(entry.APIVersion, entry.Kind)
		if gvk.GroupKind() == ab.Spec.Subject.GroupVersionKind().GroupKind() && ab.DeletionTimestamp == nil {
			return false
		}
		left := r.unbind(ctx, ab, gvk)
		problems = append(problems, left...)
		return len(left) == 0
	})
	return problems
}

// unbind removes the variables that only this binding wants from the objects of a kind, and returns what prevents it. The cache may lack objects, so it
// lists them in the API server, and again after settling, until a list has nothing to remove.
func (r *Reconciler) unbind(ctx context.Context, ab *v1.AddressBinding, gvk schema.GroupVersionKind) []*failures.Failure {
	namespace, p := r.namespace(ab)
	if p != nil {
		return []*failures.Failure{p}
	}
	k, p := r.find(gvk, true)
	if p != nil || namespace.DeletionTimestamp != nil || binding.Immutable(gvk.GroupKind()) {
		return nil // there are no objects, or none can be created, or none can be changed
	}
	key := fmt.Sprintf("%s/%d/%s", ab.UID, ab.Generation, k.GroupKind)
	last := r.lastAttempt(key)
	if wait := settling - r.clock.Since(last.at); wait > 0 {
		return []*failures.Failure{{Recheck: wait}}
	}
	var objects []kmeta.Accessor
	list := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return r.dynamic.Resource(k.resource).Namespace(ab.Namespace).List(ctx, options)
	})
	err := list.EachListItem(ctx, metav1.ListOptions{}, func(obj runtime.Object) error {
		object := k.shape.New()
		if u, ok := obj.(*unstructured.Unstructured); ok && duck.FromUnstructured(u, object) == nil && object.GetDeletionTimestamp() == nil {
			objects = append(objects, object)
		}
		return nil
	})
	if err != nil {
		failed := failures.Failed(v1.ReasonUnbindFailed, fmt.Errorf("listing %s: %w", k.resource.GroupResource(), err))
		if apierrors.IsForbidden(err) {
			failed.Reason = v1.ReasonSubjectForbidden
		}
		return []*failures.Failure{failed}
	}
	subjects, problems := r.adjust(ctx, ab, k, objects)
	if last.at.IsZero() || slices.ContainsFunc(subjects, func(s *subject) bool { return s.patch != "" }) {
		r.attempts.Set(key, attempt{at: r.clock.Now()}, 2*lastDelay)
		problems = append(problems, &failures.Failure{Recheck: settling})
	}
	return problems
}

// recordKind adds a kind, which was listed, to the status, and reports whether it was missing.
func recordKind(ab *v1.AddressBinding, k subjectKind) bool {
	entry := v1.SubjectKind{APIVersion: k.resource.GroupVersion().String(), Kind: k.Kind, Resource: k.resource.Resource}
	present, recorded := binding.Recorded(ab, k.GroupKind)
	if present != entry {
		ab.Status.Kinds = append(slices.DeleteFunc(slices.Clone(ab.Status.Kinds), func(e v1.SubjectKind) bool { return e == present }), entry)
	}
	return !recorded
}

// read returns the subject's objects of its kind in the namespace of a binding, ordered by name. Those that are being deleted and finished Jobs are
// left out. A problem without a reason is no answer of the API server, and changes nothing.
func (r *Reconciler) read(ctx context.Context, ab *v1.AddressBinding) (k subjectKind, objects []kmeta.Accessor, p *failures.Failure) {
	if _, p = r.namespace(ab); p != nil {
		return k, nil, p
	}
	reference := ab.Spec.Subject
	if reference.Namespace = ab.Namespace; reference.Name != "" {
		reference.Selector = nil
	}
	if err := r.tracker.TrackReference(reference, ab); err != nil {
		// Admission rejects what is invalid.
		return k, nil, failures.Newf(v1.ReasonSubjectKindNotFound, "%v", err)
	}
	if k, p = r.find(ab.Spec.Subject.GroupVersionKind(), false); p != nil {
		return k, nil, p
	}
	_, lister, err := r.subjects[k.shape].Get(ctx, k.resource)
	resource := k.resource.GroupResource()
	switch {
	case apierrors.IsForbidden(err):
		return k, nil, &failures.Failure{Reason: v1.ReasonSubjectForbidden, Recheck: failures.RetryDelay, Message: fmt.Sprintf(
			"the operator is not allowed to list %s; grant list, watch and patch in a ClusterRole labeled %s=true", resource, k.shape.RoleLabelKey())}
	case apierrors.IsNotFound(err):
		// The API server does not serve a new CRD yet.
		return k, nil, &failures.Failure{Recheck: time.Second}
	case failures.StatusCode(err) != 0:
		return k, nil, failures.Failed(v1.ReasonSubjectUnavailable, fmt.Errorf("listing %s: %w", resource, err))
	case err != nil:
		return k, nil, &failures.Failure{Err: err}
	}
	listed, _ := lister.ByNamespace(ab.Namespace).List(labels.Everything())
	for _, obj := range listed {
		if object, ok := obj.(kmeta.Accessor); ok && object.GetDeletionTimestamp() == nil && !binding.Finished(obj) {
			objects = append(objects, object)
		}
	}
	slices.SortFunc(objects, func(a, b kmeta.Accessor) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return k, objects, nil
}

// find returns the resource that serves a kind: one of Kubernetes, or one that a CRD defines. If anyVersion, a version that is not served is replaced
// by one that is: all versions have the same objects.
func (r *Reconciler) find(gvk schema.GroupVersionKind, anyVersion bool) (subjectKind, *failures.Failure) {
	kind := gvk.GroupKind()
	shape, isBuiltIn := binding.BuiltIn[kind]
	if isBuiltIn && gvk.Version == "v1" {
		resource, _ := meta.UnsafeGuessKindToResource(gvk)
		return subjectKind{kind, resource, shape}, nil
	}
	all, _ := r.crds.List(labels.Everything())
	i := slices.IndexFunc(all, func(crd *apiextensionsv1.CustomResourceDefinition) bool {
		// The API server establishes only one of those that define the same kind.
		return crd.Spec.Group == kind.Group && crd.Spec.Names.Kind == kind.Kind && apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established)
	})
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if i >= 0 {
		crd = all[i]
	}
	served := slices.IndexFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Served })
	if anyVersion && served >= 0 && !apihelpers.HasServedCRDVersion(crd, gvk.Version) {
		gvk.Version = crd.Spec.Versions[served].Name
	}
	// Groups of others have a dot and, without approval, do not end in k8s.io (KEP-1111).
	ofKubernetes := i < 0 && (!strings.Contains(kind.Group, ".") || strings.HasSuffix(kind.Group, ".k8s.io"))
	switch {
	case ofKubernetes && !isBuiltIn, i >= 0 && crd.Spec.Scope != apiextensionsv1.NamespaceScoped:
		return subjectKind{}, failures.Newf(v1.ReasonSubjectKindNotBindable,
			"%s cannot be a subject: it has no Pod template or is cluster-scoped, or is made by objects of another kind; bind those", kind)
	case !apihelpers.HasServedCRDVersion(crd, gvk.Version):
		return subjectKind{}, failures.Newf(v1.ReasonSubjectKindNotFound, "the cluster does not serve kind %s at %s", gvk.Kind, gvk.GroupVersion())
	}
	return subjectKind{kind, gvk.GroupVersion().WithResource(crd.Spec.Names.Plural), binding.ShapeOf(kind, crd.Labels)}, nil
}

func init() { injection.Default.RegisterDuck(withBatch) }

// withBatch adds the factories for CronJobs and Jobs, duck types for which injection-gen has made none, by their shapes.
func withBatch(ctx context.Context) context.Context {
	for _, shape := range []binding.Shape{binding.CronJob, binding.JobTemplate} {
		factory := &duck.CachedInformerFactory{Delegate: &duck.TypedInformerFactory{
			Client: dynamicclient.Get(ctx), Type: shape.New(), ResyncPeriod: controller.GetResyncPeriod(ctx), StopChannel: ctx.Done(),
		}}
		ctx = context.WithValue(ctx, shape, factory) //nolint:fatcontext // two at the most
	}
	return ctx
}

// newSubjects returns the factories of informers of subjects, by shape. An informer starts when a binding first refers to its kind.
func newSubjects(ctx context.Context, onChanged func(any)) map[binding.Shape]duck.InformerFactory {
	factories := map[binding.Shape]duck.InformerFactory{binding.PodTemplate: podspecable.Get(ctx), binding.Configurable: configurable.Get(ctx)}
	for _, shape := range []binding.Shape{binding.CronJob, binding.JobTemplate} {
		factories[shape], _ = ctx.Value(shape).(duck.InformerFactory)
	}
	for shape, factory := range factories {
		factories[shape] = &duck.CachedInformerFactory{Delegate: &duck.EnqueueInformerFactory{
			Delegate: factory, EventHandler: whenChanged(onChanged, readSubject),
		}}
	}
	return factories
}

// whenChanged returns a handler that calls a function, for an update with both states: labels may have changed away from a selector. Updates that
// change nothing of what bindings read are ignored: most are of a status.
func whenChanged(call func(any), read func(any) []any) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{AddFunc: call, DeleteFunc: call, UpdateFunc: func(before, after any) {
		if !equality.Semantic.DeepEqual(read(before), read(after)) {
			call(before)
			call(after)
		}
	}}
}

// readSubject returns the values of a subject that bindings depend on.
func readSubject(obj any) []any {
	o := obj.(kmeta.Accessor) //nolint:forcetypeassert // of every duck type
	var version string
	if o.GetGeneration() == 0 { // its kind has no generations
		version = o.GetResourceVersion()
	}
	return []any{
		o.GetUID(), o.GetGeneration(), version, o.GetLabels(), o.GetAnnotations()[samples.BoundVariablesAnnotationKey], o.GetDeletionTimestamp() == nil,
		binding.Controlled(o), binding.Finished(o),
	}
}
