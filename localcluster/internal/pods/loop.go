/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pods

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

const (
	workers = 8

	// Failures are retried soon, for they are nearly always conflicts with another writer.
	firstRetry = 5 * time.Millisecond
	lastRetry  = 5 * time.Second
)

// Loop brings all Pods to where they should be.
type Loop struct {
	client    kubernetes.Interface
	informer  cache.SharedIndexInformer
	lister    corelisters.PodLister
	queue     workqueue.TypedRateLimitingInterface[cache.ObjectName]
	addresses *Addresses
	opts      Options
	now       func() metav1.Time
}

// Options select the Pods that the loop leaves to others.
type Options struct {
	// Scheduled reports that another component binds Pods.
	Scheduled bool
	// Other is a Node whose Pods another component runs, if there is one.
	Other string
}

// New makes a loop over the Pods of an informer that has not been started yet, which get their addresses from a range that
// may be shared.
func New(client kubernetes.Interface, pods coreinformers.PodInformer, addresses *Addresses, opts Options) (*Loop, error) {
	l := &Loop{
		opts:     opts,
		client:   client,
		informer: pods.Informer(),
		lister:   pods.Lister(),
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[cache.ObjectName](firstRetry, lastRetry)),
		addresses: addresses,
		now:       func() metav1.Time { return metav1.NewTime(time.Now()) },
	}
	_, err := l.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) {
			if pod, ok := obj.(*corev1.Pod); ok {
				l.addresses.keep(pod.UID, pod.Status.PodIP)
				l.enqueue(pod)
			}
		},
		UpdateFunc: func(_, obj any) {
			if pod, ok := obj.(*corev1.Pod); ok {
				l.enqueue(pod)
			}
		},
		DeleteFunc: func(obj any) {
			if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = gone.Obj
			}
			if pod, ok := obj.(*corev1.Pod); ok {
				l.addresses.free(pod.UID)
			}
		},
	})
	if err != nil {
		return nil, fmt.Errorf("watching Pods: %w", err)
	}
	return l, nil
}

// Run works until the context ends.
func (l *Loop) Run(ctx context.Context) {
	// Only with all Pods in sight is it known which addresses are taken.
	if !cache.WaitForCacheSync(ctx.Done(), l.informer.HasSynced) {
		return
	}
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for l.next(ctx) {
			}
		})
	}
	<-ctx.Done()
	l.queue.ShutDown()
	wg.Wait()
}

func (l *Loop) enqueue(pod *corev1.Pod) { l.queue.Add(cache.MetaObjectToName(pod)) }

func (l *Loop) next(ctx context.Context) bool {
	name, shutdown := l.queue.Get()
	if shutdown {
		return false
	}
	defer l.queue.Done(name)
	err := l.sync(ctx, name)
	switch {
	case err == nil:
		l.queue.Forget(name)
	case ctx.Err() != nil:
	default:
		if !apierrors.IsConflict(err) {
			utilruntime.HandleErrorWithContext(ctx, err, "Pod not brought forward", "pod", name)
		}
		l.queue.AddRateLimited(name)
	}
	return true
}

// sync brings one Pod one step forward; the change that it makes brings the Pod back into the queue.
func (l *Loop) sync(ctx context.Context, name cache.ObjectName) error {
	pod, err := l.lister.Pods(name.Namespace).Get(name.Name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the Pod: %w", err)
	}
	switch {
	case pod.Spec.NodeName != "" && pod.Spec.NodeName == l.opts.Other:
	case pod.DeletionTimestamp != nil:
		err = l.remove(ctx, pod)
	case pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed:
		// A client wrote that the Pod is over, and a kubelet would not start it again.
	case pod.Spec.NodeName == "":
		err = l.bind(ctx, pod)
	default:
		err = l.report(ctx, pod)
	}
	// The Pod is deleted, or another one of the same name replaced it: its own event follows.
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// remove does what a kubelet does when the containers have ended.
func (l *Loop) remove(ctx context.Context, pod *corev1.Pod) error {
	if pod.DeletionGracePeriodSeconds != nil && *pod.DeletionGracePeriodSeconds == 0 {
		// Done already; finalizers hold it.
		return nil
	}
	options := metav1.NewPreconditionDeleteOptions(string(pod.UID))
	options.GracePeriodSeconds = new(int64)
	if err := l.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, *options); err != nil {
		return fmt.Errorf("removing the Pod: %w", err)
	}
	return nil
}

func (l *Loop) bind(ctx context.Context, pod *corev1.Pod) error {
	if l.opts.Scheduled || len(pod.Spec.SchedulingGates) != 0 {
		return nil
	}
	err := l.client.CoreV1().Pods(pod.Namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: NodeName},
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("binding the Pod to the Node %s: %w", NodeName, err)
	}
	return nil
}

func (l *Loop) report(ctx context.Context, pod *corev1.Pod) error {
	var ip string
	if !pod.Spec.HostNetwork {
		address, err := l.addresses.Take(pod.UID)
		if err != nil {
			return err
		}
		ip = address.String()
	}
	status := runningStatus(pod, ip, l.now())
	if equality.Semantic.DeepEqual(status, pod.Status) {
		return nil
	}
	updated := pod.DeepCopy()
	updated.Status = status
	if _, err := l.client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, updated, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("reporting the Pod as running: %w", err)
	}
	return nil
}
