/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"context"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"knative.dev/pkg/kmeta"

	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	"github.com/mallard-dev/mallard/pkg/problem"
)

// lostPods are the names of Pods that have left the cache without having been deleted, as far as one could see: someone has
// taken the label from them by which we watch. It may be used by several goroutines.
type lostPods struct {
	mu    sync.Mutex
	names map[types.UID][]string
}

// left notes a Pod that has left the cache.
func (l *lostPods) left(obj any) {
	accessor, err := kmeta.DeletionHandlingAccessor(obj)
	if err != nil || accessor.GetDeletionTimestamp() != nil {
		return
	}
	pod, ok := accessor.(*corev1.Pod)
	if !ok {
		return
	}
	if ref, ok := controllerOf(pod); ok {
		l.add(ref.UID, pod.Name)
	}
}

func (l *lostPods) add(owner types.UID, names ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.names == nil {
		l.names = map[types.UID][]string{}
	}
	for _, name := range names {
		if !slices.Contains(l.names[owner], name) {
			l.names[owner] = append(l.names[owner], name)
		}
	}
}

// take returns what is noted of an owner, and forgets it.
func (l *lostPods) take(owner types.UID) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	names := l.names[owner]
	delete(l.names, owner)
	return names
}

// recover labels Pods again that have lost the label, and counts those of them that had left the cache.
func (p *pass) recover(ctx context.Context) *problem.Problem {
	for i := range p.pods {
		if !p.pods[i].unlabelled {
			continue
		}
		found := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: p.pods[i].name, UID: p.pods[i].uid}}
		if _, failed := p.relabel(ctx, found); failed != nil {
			return failed
		}
	}
	names := p.lost.take(p.sd.UID)
	for i, name := range names {
		if _, failed := p.find(ctx, name); failed != nil {
			p.lost.add(p.sd.UID, names[i:]...)
			return failed
		}
	}
	return nil
}

// find looks for a Pod that has left the cache, or that a list lacks. The result is nil if the object has none of that name which
// was not known.
func (p *pass) find(ctx context.Context, name string) (found *corev1.Pod, failed *problem.Problem) {
	live, err := p.kube.CoreV1().Pods(p.sd.Namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, p.failed(v1alpha1.ReasonReadFailed, fmt.Errorf("reading Pod %s: %w", name, err))
	case !owns(p.sd, live), slices.ContainsFunc(p.pods, func(known pod) bool { return known.uid == live.UID }):
		return nil, nil
	}
	if p.podOf(live).unlabelled {
		if live, failed = p.relabel(ctx, live); failed != nil || live == nil {
			return nil, failed
		}
	}
	p.children.Written(p.sd, live)
	p.pods = append(p.pods, p.podOf(live))
	return live, nil
}
