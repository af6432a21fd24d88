/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package certificates

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/utils/clock"

	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/controller"
	secretinformer "knative.dev/pkg/injection/clients/namespacedkube/informers/core/v1/secret"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"
	"knative.dev/pkg/system"
	"knative.dev/pkg/webhook"

	"github.com/mallard-dev/mallard/runtime/process"
)

// afterDemotion is longer than the time in which a process that loses its lease drops all keys.
const afterDemotion = time.Minute

// certificates reconciles the Secret. On every replica it decides whether the process is ready; only the leader writes.
type certificates struct {
	reconciler.LeaderAwareFuncs

	client       kubernetes.Interface
	secrets      corev1listers.SecretNamespaceLister
	registration registration
	key          types.NamespacedName
	clock        clock.PassiveClock
	rotation     rotation
	again        func(time.Duration)

	readiness    *process.Readiness
	hasBeenReady bool
}

// NewController keeps the serving certificate in the Secret that the options of the webhook name, and which has to exist.
func NewController(ctx context.Context, registered Registered) *controller.Impl {
	logger, options := logging.FromContext(ctx), webhook.GetOptions(ctx)
	r := &certificates{
		client:       kubeclient.Get(ctx),
		secrets:      secretinformer.Get(ctx).Lister().Secrets(system.Namespace()),
		registration: newRegistration(ctx, registered),
		key:          types.NamespacedName{Namespace: system.Namespace(), Name: options.SecretName},
		clock:        clock.RealClock{},
		rotation:     rotation{host: Host(options)},
		readiness:    process.ReadinessFrom(ctx),
	}
	r.PromoteFunc = func(bucket reconciler.Bucket, enqueue func(reconciler.Bucket, types.NamespacedName)) error {
		enqueue(bucket, r.key)
		return nil
	}
	r.DemoteFunc = func(reconciler.Bucket) { r.again(afterDemotion) }
	r.readiness.Set(reachable, false)
	impl := controller.NewContext(ctx, r, controller.ControllerOptions{
		// What is published is remembered between reconciliations, so there is one at a time.
		Concurrency: 1, WorkQueueName: "Certificates", Logger: logger.Named("Certificates"),
	})
	r.again = func(after time.Duration) { impl.EnqueueKeyAfter(r.key, after) }
	registered.watch(ctx, func() { impl.EnqueueKey(r.key) })
	return impl
}

// Host returns the name by which the API server knows the webhook.
func Host(options *webhook.Options) string {
	return options.ServiceName + "." + system.Namespace() + ".svc"
}

// Reconcile implements controller.Reconciler.
func (r *certificates) Reconcile(ctx context.Context, key string) error {
	secret, err := r.secrets.Get(r.key.Name)
	if err != nil {
		r.setReady(ctx, fmt.Errorf("reading the secret of the certificate; apply config/ again if it does not exist: %w", err), nil)
		return nil
	}
	registered, missing := r.registration.all()
	r.setReady(ctx, r.checkCertificate(secret), r.checkRegistration(secret, registered, missing))
	if !r.IsLeaderFor(r.key) {
		return controller.NewSkipKey(key)
	}
	next, err := r.rotation.next(r.clock.Now(), secret.Data, registered)
	if err != nil {
		return err
	}
	if next.again > 0 {
		r.again(next.again)
	}
	if next.data == nil {
		return nil
	}
	logging.FromContext(ctx).Infow("Writing the secret of the certificate", "reason", next.why)
	secret = secret.DeepCopy()
	for _, key := range []string{ClientCA, ClientNames} {
		if value, ok := secret.Data[key]; ok {
			next.data[key] = value
		}
	}
	secret.Data = next.data
	if _, err := r.client.CoreV1().Secrets(r.key.Namespace).Update(ctx, secret, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("writing the secret of the certificate: %w", err)
	}
	return nil
}
