/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"errors"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	fakekube "k8s.io/client-go/kubernetes/fake"
	clientgotesting "k8s.io/client-go/testing"
)

// server answers requests for Pods as the API server does, as far as it matters here and where client-go's own fake does not:
// versions, UIDs, preconditions, and deletions that take their time.
type server struct {
	pods    map[string]*corev1.Pod
	version int
	now     func() metav1.Time
	// changed is called with the present state of each Pod that changes, nil for a deleted one.
	changed func(name string, pod *corev1.Pod)
}

func newServer(now func() metav1.Time, pods ...*corev1.Pod) *server {
	s := &server{version: 100, pods: map[string]*corev1.Pod{}, now: now, changed: func(string, *corev1.Pod) {}}
	for _, pod := range pods {
		s.pods[pod.Name] = pod.DeepCopy()
	}
	return s
}

// client is one that talks to the server.
func (s *server) client() *fakekube.Clientset {
	client := fakekube.NewSimpleClientset()
	client.PrependReactor("*", "pods", s.react)
	return client
}

func (s *server) react(action clientgotesting.Action) (bool, runtime.Object, error) {
	switch action := action.(type) {
	case clientgotesting.CreateActionImpl:
		pod, err := s.create(action)
		return true, pod, err
	case clientgotesting.DeleteActionImpl:
		return true, nil, s.delete(action)
	case clientgotesting.GetActionImpl:
		pod, ok := s.pods[action.Name]
		if !ok {
			return true, nil, apierrors.NewNotFound(corev1.Resource("pods"), action.Name)
		}
		return true, pod.DeepCopy(), nil
	}
	return false, nil, nil
}

func (s *server) create(action clientgotesting.CreateActionImpl) (*corev1.Pod, error) {
	wanted, ok := action.Object.DeepCopyObject().(*corev1.Pod)
	if !ok {
		return nil, fmt.Errorf("a %T is created", action.Object)
	}
	if _, exists := s.pods[wanted.Name]; exists {
		return nil, apierrors.NewAlreadyExists(corev1.Resource("pods"), wanted.Name)
	}
	wanted.UID, wanted.CreationTimestamp = types.UID("uid-"+strconv.Itoa(s.version+1)), s.now()
	return s.put(wanted), nil
}

func (s *server) delete(action clientgotesting.DeleteActionImpl) error {
	pod, ok := s.pods[action.Name]
	if !ok {
		return apierrors.NewNotFound(corev1.Resource("pods"), action.Name)
	}
	p := action.DeleteOptions.Preconditions
	if p != nil && (p.UID != nil && *p.UID != pod.UID || p.ResourceVersion != nil && *p.ResourceVersion != pod.ResourceVersion) {
		return apierrors.NewConflict(corev1.Resource("pods"), action.Name, errors.New("it is another one"))
	}
	if pod.DeletionTimestamp == nil {
		pod = pod.DeepCopy()
		now := s.now()
		pod.DeletionTimestamp = &now
		s.put(pod)
	}
	return nil
}

// put stores a state and returns it.
func (s *server) put(pod *corev1.Pod) *corev1.Pod {
	s.version++
	pod.ResourceVersion = strconv.Itoa(s.version)
	s.pods[pod.Name] = pod
	s.changed(pod.Name, pod.DeepCopy())
	return pod.DeepCopy()
}

// remove ends a Pod.
func (s *server) remove(name string) {
	s.version++
	delete(s.pods, name)
	s.changed(name, nil)
}
