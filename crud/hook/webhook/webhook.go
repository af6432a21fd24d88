/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	admissioninformers "k8s.io/client-go/informers/admissionregistration/v1"
	corev1informers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/apis"
	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	secretfactory "knative.dev/pkg/injection/clients/namespacedkube/informers/factory"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"
	"knative.dev/pkg/system"
	knativewebhook "knative.dev/pkg/webhook"
	certresources "knative.dev/pkg/webhook/certificates/resources"

	"github.com/mallard-dev/mallard/confidential"
	"github.com/mallard-dev/mallard/crud/hook"
)

// Settings are the environment variables of a process whose hooks answer admission reviews, for envconfig. The name of its webhook configurations is
// NAME.NAMESPACE, those of its Service.
type Settings struct {
	Name       string `envconfig:"WEBHOOK_NAME" default:"hooks" desc:"name of the Service through which the API server reaches hooks that answer admission reviews"`
	Port       uint16 `envconfig:"WEBHOOK_PORT" default:"8443" desc:"port that serves admission reviews, if a hook answers any"`
	SecretName string `envconfig:"WEBHOOK_SECRET_NAME" default:"hooks-certs" desc:"name of the Secret that holds the serving certificate"`
}

// Constructors returns the constructors of the controllers and webhooks of a process that runs hooks, and its context. The error has every mistake in
// their bindings.
func Constructors(
	ctx context.Context, options hook.Options, settings Settings, hooks ...*hook.Hook,
) (context.Context, []injection.ControllerConstructor, error) {
	newController, err := hook.NewController(options, hooks...)
	if err != nil {
		return nil, nil, err
	}
	reviews, err := hook.Reviews(options, hooks...)
	if err != nil {
		return nil, nil, err
	}
	if len(reviews) == 0 {
		return ctx, []injection.ControllerConstructor{newController}, nil
	}
	wanted := registration{Name: settings.Name + "." + system.Namespace(), reviewers: reviewers{}}
	wanted.Validating, wanted.Mutating = hook.Webhooks(reviews,
		admissionregistrationv1.ServiceReference{Namespace: system.Namespace(), Name: settings.Name})
	for _, r := range reviews {
		wanted.reviewers[r.Path()] = r
	}
	return knativewebhook.WithOptions(ctx, knativewebhook.Options{
		ServiceName: settings.Name, SecretName: settings.SecretName, Port: int(settings.Port), GracePeriod: 5 * time.Second,
	}), []injection.ControllerConstructor{wanted.newController, newController}, nil
}

// reviewers are the reviews, by their paths. Together they are one webhook of knative.dev/pkg.
type reviewers map[string]reviewer

type reviewer interface {
	Start(ctx context.Context) error
	Answer(ctx context.Context, request *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error)
}

// ThisTypeDoesNotDependOnInformerState implements webhook.StatelessAdmissionController: reviews wait for their objects themselves.
func (reviewers) ThisTypeDoesNotDependOnInformerState() {}

// Path implements webhook.AdmissionController.
func (reviewers) Path() string { return hook.ReviewPath }

// Admit implements webhook.AdmissionController, which has no errors: each response that it can return is an answer to the API server. But package
// webhook copies the UID of the request to the response, and the API server treats a response with another UID as a failed call, for which the
// failure policy of the webhook decides. The user sees the UID.
func (r reviewers) Admit(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	path := apis.GetHTTPRequest(ctx).URL.Path
	review, ok := r[path]
	err := fmt.Errorf("no hook answers reviews at %s", path)
	if ok {
		var response *admissionv1.AdmissionResponse
		if response, err = review.Answer(ctx, request); err == nil {
			return response
		}
	}
	request.UID = types.UID(err.Error())
	return knativewebhook.MakeErrorStatus("%v", err)
}

// registration holds the content of a ValidatingWebhookConfiguration and a MutatingWebhookConfiguration of one name. A configuration without webhooks need
// not exist. The fields that the API server sets by default must be set.
type registration struct {
	reviewers

	Name       string
	Validating []admissionregistrationv1.ValidatingWebhook
	Mutating   []admissionregistrationv1.MutatingWebhook
}

// registrar keeps the serving certificate in a Secret, and the webhooks with its CA in two configurations.
type registrar struct {
	reconciler.LeaderAwareFuncs
	registration

	client     kubernetes.Interface
	secret     types.NamespacedName
	service    string
	secrets    corev1informers.SecretInformer
	configured admissioninformers.Interface
}

func (w registration) newController(ctx context.Context, _ configmap.Watcher) *controller.Impl {
	options, logger := knativewebhook.GetOptions(ctx), logging.FromContext(ctx)
	named := func(name string) informers.SharedInformerFactory {
		return informers.NewSharedInformerFactoryWithOptions(kubeclient.Get(ctx), controller.GetResyncPeriod(ctx),
			informers.WithNamespace(system.Namespace()), informers.WithTweakListOptions(func(o *metav1.ListOptions) {
				o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
			}))
	}
	r := &registrar{
		registration: w, client: kubeclient.Get(ctx), service: options.ServiceName,
		secret:  types.NamespacedName{Namespace: system.Namespace(), Name: options.SecretName},
		secrets: named(options.SecretName).Core().V1().Secrets(), configured: named(w.Name).Admissionregistration().V1(),
	}
	// Package webhook reads the certificate from the informer of this factory.
	secretfactory.Get(ctx).InformerFor(&corev1.Secret{}, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer { return r.secrets.Informer() })
	for path, review := range w.reviewers {
		if err := review.Start(ctx); err != nil {
			logger.Fatalw("A hook cannot answer reviews", "path", path, "error", err)
		}
	}
	r.PromoteFunc = func(bucket reconciler.Bucket, enqueue func(reconciler.Bucket, types.NamespacedName)) error {
		enqueue(bucket, r.secret)
		return nil
	}
	impl := controller.NewContext(ctx, r, controller.ControllerOptions{Concurrency: 1, WorkQueueName: "Registration", Logger: logger.Named("Registration")})
	// A configuration without webhooks is emptied.
	all := []cache.SharedIndexInformer{
		r.secrets.Informer(), r.configured.ValidatingWebhookConfigurations().Informer(), r.configured.MutatingWebhookConfigurations().Informer(),
	}
	var started []controller.Informer
	for _, informer := range all {
		if _, err := informer.AddEventHandler(controller.HandleAll(func(any) { impl.EnqueueKey(r.secret) })); err != nil {
			logger.Fatalw("Webhook configurations cannot be observed", "error", err)
		}
		started = append(started, informer)
	}
	// Reviews without a certificate fail.
	if err := controller.StartInformers(ctx.Done(), started...); err != nil {
		logger.Warnw("The certificate for reviews was not read", "error", err)
	}
	return impl
}

// Reconcile implements controller.Reconciler.
func (r *registrar) Reconcile(ctx context.Context, key string) error {
	if !r.IsLeaderFor(r.secret) {
		return controller.NewSkipKey(key)
	}
	ca, err := r.certificate(ctx, time.Now())
	if err != nil {
		return err
	}
	client := r.client.AdmissionregistrationV1()
	return errors.Join(
		keep(ctx, r.Name, len(r.Validating) > 0, r.configured.ValidatingWebhookConfigurations().Lister().Get, client.ValidatingWebhookConfigurations().Update,
			func(c *admissionregistrationv1.ValidatingWebhookConfiguration) {
				c.Webhooks = slices.Clone(r.Validating)
				for i := range c.Webhooks {
					c.Webhooks[i].ClientConfig.CABundle = ca
				}
			}),
		keep(ctx, r.Name, len(r.Mutating) > 0, r.configured.MutatingWebhookConfigurations().Lister().Get, client.MutatingWebhookConfigurations().Update,
			func(c *admissionregistrationv1.MutatingWebhookConfiguration) {
				c.Webhooks = slices.Clone(r.Mutating)
				for i := range c.Webhooks {
					c.Webhooks[i].ClientConfig.CABundle = ca
				}
			}),
	)
}

const (
	// validFor is the lifetime of a certificate. It is replaced renewBefore its expiry.
	validFor    = 365 * 24 * time.Hour
	renewBefore = 30 * 24 * time.Hour
)

// certificate returns the CA of the certificate in the Secret, which it replaces if it is unusable or ends soon.
func (r *registrar) certificate(ctx context.Context, now time.Time) (ca []byte, err error) {
	secret, err := r.secrets.Lister().Secrets(r.secret.Namespace).Get(r.secret.Name)
	if err != nil {
		return nil, fmt.Errorf("reading the Secret of the certificate, which has to exist: %w", err)
	}
	reason := r.check(secret.Data, now.Add(renewBefore))
	if reason == nil {
		return secret.Data[certresources.CACert], nil
	}
	logging.FromContext(ctx).Infow("Writing a certificate", "secret", r.secret.String(), "reason", reason)
	key, cert, ca, err := certresources.CreateCerts(ctx, r.service, r.secret.Namespace, now.Add(validFor))
	if err != nil {
		return nil, fmt.Errorf("making a certificate: %w", err)
	}
	secret = secret.DeepCopy()
	secret.Data = map[string][]byte{certresources.ServerKey: key, certresources.ServerCert: cert, certresources.CACert: ca}
	if _, err := r.client.CoreV1().Secrets(r.secret.Namespace).Update(confidential.Context(ctx), secret, metav1.UpdateOptions{}); err != nil {
		return nil, fmt.Errorf("writing the Secret of the certificate: %w", confidential.Answer(err))
	}
	return ca, nil
}

// check returns an error if the API server could not call the process at a time.
func (r *registrar) check(data map[string][]byte, at time.Time) error {
	pair, err := tls.X509KeyPair(data[certresources.ServerCert], data[certresources.ServerKey])
	if err != nil {
		return errors.New("it has no certificate with its key") // the cause could have a part of the key
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(data[certresources.CACert])
	_, err = pair.Leaf.Verify(x509.VerifyOptions{DNSName: r.service + "." + r.secret.Namespace + ".svc", Roots: roots, CurrentTime: at})
	return err //nolint:wrapcheck // it is a reason
}

// keep updates a configuration unless it has the webhooks.
func keep[C interface{ DeepCopy() C }](ctx context.Context, name string, isNeeded bool, get func(string) (C, error),
	update func(context.Context, C, metav1.UpdateOptions) (C, error), setWebhooks func(C),
) error {
	present, err := get(name)
	kind := strings.TrimPrefix(fmt.Sprintf("%T", present), "*v1.")
	if apierrors.IsNotFound(err) {
		if isNeeded {
			logging.FromContext(ctx).Errorw("A webhook configuration does not exist; create it without webhooks", "kind", kind, "name", name)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the %s %s: %w", kind, name, err)
	}
	wanted := present.DeepCopy()
	setWebhooks(wanted)
	if equality.Semantic.DeepEqual(present, wanted) {
		return nil
	}
	logging.FromContext(ctx).Infow("Writing a webhook configuration", "kind", kind, "name", name)
	if _, err := update(ctx, wanted, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("writing the %s %s: %w", kind, name, err)
	}
	return nil
}
