/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// The controller reconciles the AddressableService of Knative's sample-controller with controller-runtime, for make bench-peer. Its CRD validates the
// objects, so that it has no webhook.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// serviceName is the field by which the objects that refer to a Service are found.
const serviceName = "spec.serviceName"

// AddressableService publishes the address of a Service.
type AddressableService struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec struct {
		ServiceName string `json:"serviceName"`
	} `json:"spec"`
	Status struct {
		ObservedGeneration int64              `json:"observedGeneration,omitempty"`
		Conditions         []metav1.Condition `json:"conditions,omitempty"`
		Address            struct {
			URL string `json:"url"`
		} `json:"address,omitzero"`
	} `json:"status,omitzero"`
}

// DeepCopyObject returns a copy that shares nothing with the object.
func (s *AddressableService) DeepCopyObject() runtime.Object {
	out := *s
	s.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = slices.Clone(s.Status.Conditions)
	return &out
}

// AddressableServiceList is a list of AddressableServices.
type AddressableServiceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	Items []AddressableService `json:"items"`
}

// DeepCopyObject returns a copy that shares nothing with the list.
func (l *AddressableServiceList) DeepCopyObject() runtime.Object {
	out := *l
	out.Items = make([]AddressableService, len(l.Items))
	for i := range l.Items {
		out.Items[i] = *l.Items[i].DeepCopyObject().(*AddressableService)
	}
	return &out
}

type reconciler struct{ client.Client }

// Reconcile writes the status of an AddressableService if it has changed.
func (r reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var object AddressableService
	if err := r.Get(ctx, request.NamespacedName, &object); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	before := object.DeepCopyObject().(*AddressableService)
	ready := metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "ServiceAvailable", ObservedGeneration: object.Generation}
	name := object.Spec.ServiceName
	err := r.Get(ctx, client.ObjectKey{Namespace: object.Namespace, Name: name}, &corev1.Service{})
	switch {
	case apierrors.IsNotFound(err):
		ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, "ServiceUnavailable", fmt.Sprintf("Service %q wasn't found.", name)
	case err != nil:
		return ctrl.Result{}, err
	default:
		object.Status.Address.URL = "http://" + name + "." + object.Namespace + ".svc.cluster.local"
	}
	object.Status.ObservedGeneration = object.Generation
	meta.SetStatusCondition(&object.Status.Conditions, ready)
	if equality.Semantic.DeepEqual(before.Status, object.Status) {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{}, r.Status().Update(ctx, &object)
}

// referring returns the requests of the objects that refer to a Service.
func (r reconciler) referring(ctx context.Context, service client.Object) (requests []ctrl.Request) {
	var list AddressableServiceList
	if err := r.List(ctx, &list, client.InNamespace(service.GetNamespace()), client.MatchingFields{serviceName: service.GetName()}); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Failed to list the objects that refer to a Service")
	}
	for i := range list.Items {
		requests = append(requests, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return requests
}

func main() {
	ctrl.SetLogger(zap.New())
	scheme := runtime.NewScheme()
	version := schema.GroupVersion{Group: "samples.knative.dev", Version: "v1alpha1"}
	utilruntime.Must(corev1.AddToScheme(scheme))
	scheme.AddKnownTypes(version, &AddressableService{}, &AddressableServiceList{})
	metav1.AddToGroupVersion(scheme, version)
	ctx := ctrl.SetupSignalHandler()
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme: scheme, Metrics: server.Options{BindAddress: ":" + os.Getenv("METRICS_PORT")}, HealthProbeBindAddress: ":" + os.Getenv("HEALTH_PORT"),
		LeaderElection: true, LeaderElectionID: "controller", LeaderElectionNamespace: os.Getenv("SYSTEM_NAMESPACE"), LeaderElectionReleaseOnCancel: true,
	})
	utilruntime.Must(err)
	utilruntime.Must(manager.AddReadyzCheck("readyz", healthz.Ping))
	utilruntime.Must(manager.GetFieldIndexer().IndexField(ctx, &AddressableService{}, serviceName, func(object client.Object) []string {
		return []string{object.(*AddressableService).Spec.ServiceName}
	}))
	r := reconciler{manager.GetClient()}
	utilruntime.Must(ctrl.NewControllerManagedBy(manager).For(&AddressableService{}).
		Watches(&corev1.Service{}, handler.EnqueueRequestsFromMapFunc(r.referring)).Complete(r))
	utilruntime.Must(manager.Start(ctx))
}
