/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	kubeclient "knative.dev/pkg/client/injection/kube/client"

	"github.com/mallard-dev/mallard/observe"
)

// mistakeVariable is the environment variable that has a replica make a mistake, for which client-go has a detector.
const mistakeVariable = "MALLARD_TEST_MISTAKE"

// The mistakes.
const (
	changesACachedObject = "changes-a-cached-object"
	listsNothing         = "lists-nothing"
)

// makeMistake registers an observer that makes the mistake of mistakeVariable.
func makeMistake(source observe.Source[*corev1.ConfigMap]) {
	switch os.Getenv(mistakeVariable) {
	case changesACachedObject:
		observe.Register(changesACachedObject, source, func(_ context.Context, e observe.Event[*corev1.ConfigMap]) error {
			e.Object.Data["value"] = "changed"
			return nil
		}, observe.Options[*corev1.ConfigMap]{Scope: observe.EveryReplica})
	case listsNothing:
		source := observe.Selected[*corev1.ConfigMap](kubeclient.Get, newInformerThatListsNothing, observe.InNamespace(os.Getenv(replicaVariable)))
		observe.Register(listsNothing, source, func(context.Context, observe.Event[*corev1.ConfigMap]) error { return nil })
	}
}

// newInformerThatListsNothing returns an informer whose streamed lists have objects that its lists lack.
func newInformerThatListsNothing(client kubernetes.Interface, namespace string, resync time.Duration, indexers cache.Indexers,
	tweak func(*metav1.ListOptions),
) cache.SharedIndexInformer {
	return cache.NewSharedIndexInformer(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			list, err := client.CoreV1().ConfigMaps(namespace).List(ctx, options)
			if err == nil {
				list.Items = nil
			}
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			tweak(&options)
			return client.CoreV1().ConfigMaps(namespace).Watch(ctx, options)
		},
	}, &corev1.ConfigMap{}, resync, indexers)
}

// TestDetectors_MistakeIsMade_EndTheProcess shows that the other tests would not pass with these mistakes.
func TestDetectors_MistakeIsMade_EndTheProcess(t *testing.T) {
	for mistake, reason := range map[string]string{
		changesACachedObject: "panic: cache *v1.ConfigMap modified", listsNothing: "panic: data inconsistency detected for ",
	} {
		t.Run(mistake, func(t *testing.T) {
			t.Parallel()
			o := newOperator(t)
			o.create(t, "it", "1")
			o.settle(t, 1)
			o.variables = append(o.variables, mistakeVariable+"="+mistake)
			r := o.start(t, mistake)
			r.awaitEnd(t)
			r.awaitLine(t, reason)
		})
	}
}
