/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientfeatures "k8s.io/client-go/features"
	clientfeaturestesting "k8s.io/client-go/features/testing"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/logging"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/observe"
	"github.com/mallard-dev/mallard/test/measured"
)

// scene is a process with injection, in a separate namespace, whose requests pass a proxy.
type scene struct {
	*harness.Env

	// ctx is that of the process.
	ctx   context.Context //nolint:containedctx // see above
	ns    string
	proxy *harness.Proxy
	// kube sends its requests to the API server of the environment, and near to that of the process.
	kube, near kubernetes.Interface
	// logs holds the log of the process.
	logs *observer.ObservedLogs
}

// each runs a case in each of the modes.
func each(t *testing.T, test func(*testing.T, *scene)) {
	t.Helper()
	env := harness.Shared(t)
	eachAt(t, env, func(t *testing.T) (*rest.Config, *harness.Proxy) { return env.Proxied(t) }, test)
}

// eachAt is each for a process with another configuration.
func eachAt(t *testing.T, env *harness.Env, connect func(*testing.T) (*rest.Config, *harness.Proxy), test func(*testing.T, *scene)) {
	t.Helper()
	for name, streamed := range modes {
		t.Run(name, func(t *testing.T) {
			clientfeaturestesting.SetFeatureDuringTest(t, clientfeatures.WatchListClient, streamed)
			before := len(informing())
			ctx, cancel := context.WithCancel(context.Background())
			t.Cleanup(func() {
				cancel()
				awaitEnd(t, before)
			})
			config, proxy := connect(t)
			near, err := kubernetes.NewForConfig(config)
			if err != nil {
				t.Fatal(err)
			}
			core, logs := observer.New(zap.DebugLevel)
			harness.Search("the log of the process of "+t.Name(), func() string { return measured.Log(logs.All()...) })
			ctx = start(ctx, t, config, zap.New(core))
			test(t, &scene{Env: env, ctx: ctx, ns: env.Namespace(t), proxy: proxy, kube: env.Kube, near: near, logs: logs})
		})
	}
}

// start starts a process with the observers that are registered, and returns its context. It runs until ctx ends.
func start(ctx context.Context, t *testing.T, config *rest.Config, logger *zap.Logger) context.Context {
	t.Helper()
	ctx = injection.WithConfig(logging.WithLogger(ctx, logger.Sugar()), config)
	ctx, informers := injection.Default.SetupInformers(ctx, config)
	var controllers []*controller.Impl
	for _, construct := range observe.Constructors() {
		controllers = append(controllers, construct(ctx, nil))
	}
	if err := controller.StartInformers(ctx.Done(), informers...); err != nil {
		t.Fatal(err)
	}
	go func() { _ = controller.StartAll(ctx, controllers...) }()
	return ctx
}

// configMaps is the source of the ConfigMaps in the namespace of the scene. All have the label it.
func (s *scene) configMaps(qualifiers ...observe.Qualifier) observe.Source[*corev1.ConfigMap] {
	return observe.Selected[*corev1.ConfigMap](kubeclient.Get, coreinformers.NewFilteredConfigMapInformer,
		append([]observe.Qualifier{observe.InNamespace(s.ns), observe.Labels("it")}, qualifiers...)...)
}

// subscribe adds an observer that is stopped at the end of the test.
func (s *scene) subscribe(t *testing.T, name string, handler observe.Handler[*corev1.ConfigMap], options ...observe.Options[*corev1.ConfigMap]) *observe.Subscription {
	t.Helper()
	subscription, err := observe.Subscribe(s.ctx, name, s.configMaps(), handler, options...)
	if err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, "observer "+name+" has received the initial list", func(context.Context) error {
		if !subscription.HasSynced() {
			return errors.New("it has not")
		}
		return nil
	})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), harness.Deadline)
		defer cancel()
		if err := subscription.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return subscription
}

// create creates a ConfigMap with a value.
func (s *scene) create(t *testing.T, name, value string) {
	t.Helper()
	if err := s.tryCreate(t.Context(), name, value); err != nil {
		t.Fatal(err)
	}
}

func (s *scene) tryCreate(ctx context.Context, name, value string) error {
	_, err := s.kube.CoreV1().ConfigMaps(s.ns).Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"it": value}}, Data: map[string]string{"value": value},
	}, metav1.CreateOptions{})
	return err
}

// settle waits until the API server's watch cache, from which informers list, has a number of ConfigMaps.
func (s *scene) settle(t *testing.T, objects int) {
	t.Helper()
	harness.Eventually(t, "the watch cache has all objects", func(ctx context.Context) error {
		list, err := s.near.CoreV1().ConfigMaps(s.ns).List(ctx, metav1.ListOptions{LabelSelector: "it", ResourceVersion: "0"})
		if err == nil && len(list.Items) != objects {
			err = fmt.Errorf("it has %d of %d", len(list.Items), objects)
		}
		return err
	})
}

// update changes the value of a ConfigMap.
func (s *scene) update(t *testing.T, name, value string) {
	t.Helper()
	if err := s.tryUpdate(t.Context(), name, value); err != nil {
		t.Fatal(err)
	}
}

func (s *scene) tryUpdate(ctx context.Context, name, value string) error {
	return s.patch(ctx, name, fmt.Sprintf(`{"metadata": {"labels": {"it": %q}}, "data": {"value": %q}}`, value, value))
}

// patch merges a patch into a ConfigMap.
func (s *scene) patch(ctx context.Context, name, patch string) error {
	_, err := s.kube.CoreV1().ConfigMaps(s.ns).Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

func (s *scene) delete(t *testing.T, name string) {
	t.Helper()
	if err := s.tryDelete(t.Context(), name); err != nil {
		t.Fatal(err)
	}
}

func (s *scene) tryDelete(ctx context.Context, name string) error {
	return s.kube.CoreV1().ConfigMaps(s.ns).Delete(ctx, name, metav1.DeleteOptions{})
}

// ours matches the requests for the ConfigMaps of the scene.
func (s *scene) ours() harness.Match {
	return harness.Matching("*", "configmaps").And(harness.InNamespace(s.ns))
}

// interrupt ends the watch while change runs. The server does not know the version from which the watch is resumed. The watch must have had an
// event: client-go lists at once after one that ended within a second without any.
func (s *scene) interrupt(t *testing.T, change func()) {
	t.Helper()
	isWatch := harness.Matching("watch", "configmaps").And(harness.InNamespace(s.ns))
	held, expired := s.proxy.Hold(isWatch), s.proxy.FailOnce(isWatch, 410)
	s.proxy.EndWatches(isWatch)
	held.Wait(t)
	change()
	held.Release()
	awaitClosed(t, expired, "a watch is opened again")
}

// awaitClosed waits until a channel is closed.
func awaitClosed(t *testing.T, channel <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-channel:
	case <-time.After(harness.Deadline):
		t.Fatalf("waited %v for: %s", harness.Deadline, what)
	}
}
