/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package processnode

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/mallard-dev/mallard/localcluster/internal/processnode/podworker"
	"github.com/mallard-dev/mallard/localcluster/internal/registry"
)

// Local reports whether all images of a Pod are from the local registry, so that the Pod belongs to this Node.
func Local(host string, pod *corev1.Pod) bool {
	_, foreign := foreignImage(host, pod)
	return !foreign
}

func foreignImage(host string, pod *corev1.Pod) (string, bool) {
	for _, c := range pod.Spec.InitContainers {
		if !registry.Serves(host, c.Image) {
			return c.Image, true
		}
	}
	for _, c := range pod.Spec.Containers {
		if !registry.Serves(host, c.Image) {
			return c.Image, true
		}
	}
	return "", false
}

func (n *Node) seen(ctx context.Context, obj any) {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ending {
		return
	}
	if worker, ok := n.workers[pod.UID]; ok {
		worker.Update(pod)
		return
	}
	over := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	switch image, foreign := foreignImage(n.opts.Host, pod); {
	case over && pod.DeletionTimestamp == nil:
	case over:
		go n.try(ctx, pod, "removing a Pod that is over", n.remove)
	case foreign && pod.DeletionTimestamp == nil:
		go n.try(ctx, pod, "rejecting a Pod", func(ctx context.Context, pod *corev1.Pod) error { return n.reject(ctx, pod, image) })
	default:
		ip, err := n.opts.Address(pod.UID)
		if err != nil {
			utilruntime.HandleErrorWithContext(ctx, err, "Pod not started", "pod", pod.Name)
			return
		}
		n.workers[pod.UID] = podworker.Start(ctx, n.node, pod, ip)
	}
}

// gone ends what is left of a Pod that the API server does not have any more.
func (n *Node) gone(obj any) {
	if last, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = last.Obj
	}
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return
	}
	n.mu.Lock()
	worker, ok := n.workers[pod.UID]
	delete(n.workers, pod.UID)
	n.mu.Unlock()
	if !ok {
		return
	}
	worker.Remove()
	go func() {
		<-worker.Done()
		worker.Discard()
	}()
}

// try repeats a request until it succeeds.
func (n *Node) try(ctx context.Context, pod *corev1.Pod, doing string, do func(context.Context, *corev1.Pod) error) {
	for ctx.Err() == nil {
		limited, cancel := context.WithTimeout(ctx, requestLimit)
		err := do(limited, pod)
		cancel()
		if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
			return
		}
		utilruntime.HandleErrorWithContext(ctx, fmt.Errorf("%s: %w", doing, err), "Pod not brought forward", "pod", pod.Name)
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

func (n *Node) remove(ctx context.Context, pod *corev1.Pod) error {
	options := metav1.NewPreconditionDeleteOptions(string(pod.UID))
	options.GracePeriodSeconds = new(int64)
	return n.opts.Client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, *options) //nolint:wrapcheck // wrapped by try
}

func (n *Node) reject(ctx context.Context, pod *corev1.Pod, image string) error {
	message := fmt.Sprintf("Pod was rejected: image %s is not from the local registry %s, and nothing else is executed on the Node %s",
		image, n.opts.Host, Name)
	rejected := pod.DeepCopy()
	rejected.Status = corev1.PodStatus{
		Phase: corev1.PodFailed, Reason: ReasonForeignImage, Message: message,
		QOSClass: pod.Status.QOSClass, Conditions: pod.Status.Conditions,
	}
	n.node.Recorder.Event(pod, corev1.EventTypeWarning, ReasonForeignImage, message)
	_, err := n.opts.Client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, rejected, metav1.UpdateOptions{})
	return err //nolint:wrapcheck // wrapped by try
}

// sweep removes the folders of deleted Pods.
func (n *Node) sweep() {
	entries, err := os.ReadDir(n.node.Dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		utilruntime.HandleError(fmt.Errorf("searching for folders of deleted Pods: %w", err))
		return
	}
	known := map[string]bool{}
	for _, obj := range n.informer.GetStore().List() {
		if pod, ok := obj.(*corev1.Pod); ok {
			known[string(pod.UID)] = true
		}
	}
	for _, entry := range entries {
		if !known[entry.Name()] {
			_ = os.RemoveAll(filepath.Join(n.node.Dir, entry.Name()))
		}
	}
}
