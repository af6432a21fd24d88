/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package certificates

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	crdinformer "knative.dev/pkg/client/injection/apiextensions/informers/apiextensions/v1/customresourcedefinition"
	kubeclient "knative.dev/pkg/client/injection/kube/client"
	mutatinginformer "knative.dev/pkg/client/injection/kube/informers/admissionregistration/v1/mutatingwebhookconfiguration"
	validatinginformer "knative.dev/pkg/client/injection/kube/informers/admissionregistration/v1/validatingwebhookconfiguration"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	secretinformer "knative.dev/pkg/injection/clients/namespacedkube/informers/core/v1/secret"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"
	"knative.dev/pkg/system"
	"knative.dev/pkg/webhook"
	certresources "knative.dev/pkg/webhook/certificates/resources"

	"github.com/mallard-dev/mallard/hardening"
)

// certificates reconciles the Secret. Only the leader writes.
type certificates struct {
	reconciler.LeaderAwareFuncs

	client       kubernetes.Interface
	secrets      corev1listers.SecretNamespaceLister
	key, service types.NamespacedName
	rotation     rotation
	// registered are the informers of the objects that refer to the Service.
	registered []cache.SharedIndexInformer
	// hasBeenReady is set once the API server could reach every webhook.
	hasBeenReady atomic.Bool
}

// NewController keeps the serving certificate in the Secret that the options of the webhook name, and which has to exist.
func NewController(ctx context.Context, _ configmap.Watcher) *controller.Impl {
	logger, options, secrets := logging.FromContext(ctx), webhook.GetOptions(ctx), secretinformer.Get(ctx)
	c := &certificates{
		client: kubeclient.Get(ctx), secrets: secrets.Lister().Secrets(system.Namespace()),
		key:      types.NamespacedName{Namespace: system.Namespace(), Name: options.SecretName},
		service:  types.NamespacedName{Namespace: system.Namespace(), Name: options.ServiceName},
		rotation: rotation{host: options.ServiceName + "." + system.Namespace() + ".svc"},
		registered: []cache.SharedIndexInformer{
			mutatinginformer.Get(ctx).Informer(), validatinginformer.Get(ctx).Informer(), crdinformer.Get(ctx).Informer(),
		},
	}
	c.PromoteFunc = func(bucket reconciler.Bucket, enqueue func(reconciler.Bucket, types.NamespacedName)) error {
		enqueue(bucket, c.key)
		return nil
	}
	impl := controller.NewContext(ctx, c, controller.ControllerOptions{
		// It remembers between reconciliations since when a CA is known, so only one may run at a time.
		Concurrency: 1, WorkQueueName: "WebhookCertificates", Logger: logger.Named("WebhookCertificates"),
	})
	handler := controller.HandleAll(func(any) { impl.EnqueueKey(c.key) })
	secrets.Informer().AddEventHandler(cache.FilteringResourceEventHandler{
		FilterFunc: controller.FilterWithNameAndNamespace(c.key.Namespace, c.key.Name), Handler: handler,
	})
	for _, informer := range c.registered {
		informer.AddEventHandler(cache.FilteringResourceEventHandler{
			FilterFunc: func(object any) bool { return len(c.entriesOf(object)) > 0 }, Handler: handler,
		})
	}
	if _, err := otel.Meter("knative.dev/pkg/webhook").Int64ObservableGauge("webhook.certificate.expiry.timestamp", metric.WithUnit("s"),
		metric.WithDescription("When the certificate that the webhook serves with expires, in seconds since 1970."),
		metric.WithInt64Callback(func(_ context.Context, observer metric.Int64Observer) error {
			if _, chain, err := c.serving(); err == nil {
				observer.Observe(chain[0].NotAfter.Unix())
			}
			return nil
		})); err != nil {
		logger.Fatalw("Creating the metric of the certificate failed", "error", err)
	}
	c.fill(ctx)
	hardening.AddReadiness(ctx, c.ready)
	return impl
}

// fill writes a certificate into the Secret of a new installation, before anything needs it. Without it, the controllers that copy the CA begin with an
// error each.
func (c *certificates) fill(ctx context.Context) {
	secret, err := c.client.CoreV1().Secrets(c.key.Namespace).Get(ctx, c.key.Name, metav1.GetOptions{})
	if err == nil && len(secret.Data[certresources.CACert]) == 0 {
		_, err = c.reconcile(ctx, secret)
	}
	if err != nil && !apierrors.IsConflict(err) {
		logging.FromContext(ctx).Warnw("The Secret of the certificate cannot be filled yet", "error", err)
	}
}

// Reconcile implements controller.Reconciler.
func (c *certificates) Reconcile(ctx context.Context, key string) error {
	if !c.IsLeaderFor(c.key) {
		return controller.NewSkipKey(key)
	}
	secret, err := c.secrets.Get(c.key.Name)
	if err != nil {
		logging.FromContext(ctx).Errorw("The Secret of the certificate does not exist; apply it again", "secret", c.key)
		return nil //nolint:nilerr // its creation is an event
	}
	again, err := c.reconcile(ctx, secret)
	if err == nil && again > 0 {
		return controller.NewRequeueAfter(again)
	}
	return err
}

// reconcile makes the next step of the rotation. Other processes may do the same: the API server accepts only one update of this resourceVersion.
func (c *certificates) reconcile(ctx context.Context, secret *corev1.Secret) (again time.Duration, err error) {
	next, err := c.rotation.next(time.Now(), secret.Data, c.entries())
	if err != nil || next.data == nil {
		return next.again, err
	}
	logging.FromContext(ctx).Infow("Writing the Secret of the certificate", "reason", next.why)
	secret = secret.DeepCopy()
	secret.Data = next.data
	if _, err := c.client.CoreV1().Secrets(c.key.Namespace).Update(ctx, secret, metav1.UpdateOptions{}); err != nil {
		return 0, fmt.Errorf("writing the Secret of the certificate: %w", withoutText(err))
	}
	return 0, nil
}

// withoutText returns an answer of the API server without its message and details, which may quote the key, for example by an admission policy.
func withoutText(err error) error {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		return err
	}
	status := metav1.Status{Status: metav1.StatusFailure, Code: answer.Status().Code, Reason: answer.Status().Reason}
	status.Message = fmt.Sprintf("the API server answers %d %s", status.Code, status.Reason)
	return &apierrors.StatusError{ErrStatus: status}
}

// ready returns an error until the serving certificate is valid and its CA is in every webhook configuration and CRD: before, the API server would fail
// each request that it sends here. From then on only the certificate counts. The configurations are the same for all replicas: if all became unready
// because one was corrupted, the API server could not call the webhooks of the others either.
func (c *certificates) ready() error {
	secret, _, err := c.serving()
	if err != nil || c.hasBeenReady.Load() {
		return err
	}
	entries := c.entries()
	if len(entries) == 0 {
		return fmt.Errorf("no webhook configuration refers to Service %s", c.service)
	}
	for _, e := range entries {
		if !e.isComplete {
			return fmt.Errorf("webhook %s has no rules or no path yet", e.name)
		}
		if _, err := c.rotation.check(secret.Data[certresources.ServerKey], secret.Data[certresources.ServerCert], e.ca, time.Now()); err != nil {
			return fmt.Errorf("webhook %s: caBundle does not match Secret %s", e.name, secret.Name)
		}
	}
	c.hasBeenReady.Store(true)
	return nil
}

// serving returns the Secret and the certificate in it, or an error if API servers would reject it.
func (c *certificates) serving() (*corev1.Secret, []*x509.Certificate, error) {
	secret, err := c.secrets.Get(c.key.Name)
	if err != nil {
		return nil, nil, err //nolint:wrapcheck // names the Secret
	}
	chain, err := c.rotation.check(secret.Data[certresources.ServerKey], secret.Data[certresources.ServerCert], secret.Data[certresources.CACert], time.Now())
	if err != nil {
		return nil, nil, fmt.Errorf("secret %s: %w", secret.Name, err)
	}
	return secret, chain, nil
}

// entry is one webhook of a configuration, or that of a CRD.
type entry struct {
	name string
	ca   []byte
	// isComplete reports whether the leader has filled in the rules, or the path. A webhook may have no rules as long as it concerns no kind.
	isComplete bool
}

// entries returns the webhooks of all objects.
func (c *certificates) entries() (all []entry) {
	for _, informer := range c.registered {
		for _, object := range informer.GetStore().List() {
			all = append(all, c.entriesOf(object)...)
		}
	}
	return all
}

// entriesOf returns the webhooks of one object that refer to the Service.
func (c *certificates) entriesOf(object any) (all []entry) {
	add := func(name string, ca []byte, s *admissionregistrationv1.ServiceReference, rules int) {
		if s != nil && s.Name == c.service.Name && s.Namespace == c.service.Namespace {
			all = append(all, entry{name, ca, rules > 0 || s.Path != nil})
		}
	}
	switch o := object.(type) {
	case *admissionregistrationv1.MutatingWebhookConfiguration:
		for _, w := range o.Webhooks {
			add(w.Name, w.ClientConfig.CABundle, w.ClientConfig.Service, len(w.Rules))
		}
	case *admissionregistrationv1.ValidatingWebhookConfiguration:
		for _, w := range o.Webhooks {
			add(w.Name, w.ClientConfig.CABundle, w.ClientConfig.Service, len(w.Rules))
		}
	case *apiextensionsv1.CustomResourceDefinition:
		if by := o.Spec.Conversion; by != nil && by.Webhook != nil && by.Webhook.ClientConfig != nil {
			client := by.Webhook.ClientConfig
			add("of CRD "+o.Name, client.CABundle, (*admissionregistrationv1.ServiceReference)(client.Service), 0)
		}
	}
	return all
}
