/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
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

	"github.com/mallard-dev/mallard/crud"
)

// WebhookSettings are the environment variables of a process whose hooks answer admission reviews, for envconfig. The name of its webhook configurations is
// NAME.NAMESPACE, those of its Service.
type WebhookSettings struct {
	Name       string `envconfig:"WEBHOOK_NAME" default:"hooks" desc:"name of the Service through which the API server reaches hooks that answer admission reviews"`
	Port       uint16 `envconfig:"WEBHOOK_PORT" default:"8443" desc:"port that serves admission reviews, if a hook answers any"`
	SecretName string `envconfig:"WEBHOOK_SECRET_NAME" default:"hooks-certs" desc:"name of the Secret that holds the serving certificate"`
}

// Constructors returns the constructors of the controllers and webhooks of a process that runs hooks, and its context. The error has every mistake in
// their bindings.
func Constructors(
	ctx context.Context, options Options, settings WebhookSettings, hooks ...*Hook,
) (context.Context, []injection.ControllerConstructor, error) {
	reviews, err := Reviews(options, hooks...)
	if err != nil {
		return nil, nil, err
	}
	var constructors []injection.ControllerConstructor
	if len(reviews) > 0 {
		ctx = knativewebhook.WithOptions(ctx, knativewebhook.Options{
			ServiceName: settings.Name, SecretName: settings.SecretName, Port: int(settings.Port), GracePeriod: 5 * time.Second,
		})
		r := registration{
			reviews: reviews, service: types.NamespacedName{Namespace: system.Namespace(), Name: settings.Name},
			secret: crud.Ref{APIVersion: "v1", Kind: "Secret", Namespace: system.Namespace(), Name: settings.SecretName},
		}
		hooks = append(slices.Clip(hooks), r.hook())
		constructors = append(constructors, func(ctx context.Context, _ configmap.Watcher) *controller.Impl { return newServer(ctx, reviews) })
	}
	newController, err := NewController(options, hooks...)
	return ctx, append(constructors, newController), err
}

// server is the webhook of all reviews, and the reconciler by which sharedmain finds it. It has no keys.
type server struct {
	reconciler.LeaderAwareFuncs

	// answers are by the paths of the reviews.
	answers map[string]func(context.Context, *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error)
}

// ThisTypeDoesNotDependOnInformerState implements webhook.StatelessAdmissionController: reviews wait for their objects themselves.
func (*server) ThisTypeDoesNotDependOnInformerState() {}

// Path implements webhook.AdmissionController.
func (*server) Path() string { return reviewPath }

// Reconcile implements controller.Reconciler.
func (*server) Reconcile(context.Context, string) error { return nil }

// Admit implements webhook.AdmissionController, which has no errors: each response that it can return is an answer to the API server. But package
// webhook copies the UID of the request to the response, and the API server treats a response with another UID as a failed call, for which the
// failure policy of the webhook decides. The user sees the UID.
func (s *server) Admit(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	path := apis.GetHTTPRequest(ctx).URL.Path
	err := fmt.Errorf("no hook answers reviews at %s", path)
	if answer := s.answers[path]; answer != nil {
		var response *admissionv1.AdmissionResponse
		if response, err = answer(ctx, request); err == nil {
			return response
		}
	}
	request.UID = types.UID(err.Error())
	return knativewebhook.MakeErrorStatus("%v", err)
}

func newServer(ctx context.Context, reviews []*Review) *controller.Impl {
	logger := logging.FromContext(ctx)
	s := &server{answers: map[string]func(context.Context, *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error){}}
	for _, review := range reviews {
		if err := review.Start(ctx); err != nil {
			logger.Fatalw("A hook cannot answer reviews", "path", review.Path(), "error", err)
		}
		s.answers[review.Path()] = review.Answer
	}
	// Package webhook reads the certificate from the informer of the injected factory, which would observe all Secrets of the namespace.
	secret := informers.NewSharedInformerFactoryWithOptions(kubeclient.Get(ctx), controller.GetResyncPeriod(ctx),
		informers.WithNamespace(system.Namespace()), informers.WithTweakListOptions(func(o *metav1.ListOptions) {
			o.FieldSelector = "metadata.name=" + knativewebhook.GetOptions(ctx).SecretName
		})).Core().V1().Secrets().Informer()
	secretfactory.Get(ctx).InformerFor(&corev1.Secret{}, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer { return secret })
	// Reviews without a certificate fail.
	if err := controller.StartInformers(ctx.Done(), secret); err != nil {
		logger.Warnw("The certificate for reviews was not read", "error", err)
	}
	return controller.NewContext(ctx, s, controller.ControllerOptions{Concurrency: 1, WorkQueueName: "Reviews", Logger: logger.Named("Reviews")})
}

// registration is a hook that keeps the serving certificate in a Secret, and the webhooks with its CA in two configurations. One that does not need to
// exist has no webhooks.
type registration struct {
	reviews []*Review
	service types.NamespacedName
	secret  crud.Ref
}

// registrationName is the name of the hook, of its queue and of its group.
const registrationName = "admission-webhooks"

func (r registration) hook() *Hook {
	common := Common{Queue: registrationName, Group: registrationName}
	bindings := Bindings{Schedule: []Schedule{{Common: common, Crontab: "@daily"}}} // the certificate expires
	for _, ref := range []crud.Ref{r.secret, r.configuration(TypeValidating), r.configuration(TypeMutating)} {
		k := Kubernetes{Common: common, APIVersion: ref.APIVersion, Kind: ref.Kind, NameSelector: &NameSelector{MatchNames: []string{ref.Name}}}
		k.Name = ref.Kind
		if ref.Namespace != "" {
			k.Namespace = &NamespaceSelector{NameSelector: &NameSelector{MatchNames: []string{ref.Namespace}}}
		}
		bindings.Kubernetes = append(bindings.Kubernetes, k)
	}
	return Func(registrationName, bindings, r.register)
}

func (r registration) configuration(kind ContextType) crud.Ref {
	return crud.Ref{
		APIVersion: admissionregistrationv1.SchemeGroupVersion.String(), Kind: string(kind) + "WebhookConfiguration",
		Name: r.service.Name + "." + r.service.Namespace,
	}
}

func (r registration) register(ctx context.Context, run *Run) error {
	ca, err := r.certificate(ctx, run, time.Now())
	if err != nil {
		return err
	}
	// A configuration that does not exist must not keep the other one from a CA that is stored.
	run.Plan.Continue = len(run.Plan.Operations) == 0
	for _, kind := range []ContextType{TypeValidating, TypeMutating} {
		webhooks := []admissionregistrationv1.MutatingWebhook{}
		for _, review := range r.reviews {
			if review.kind == kind {
				webhooks = append(webhooks, review.webhook(r.service, ca))
			}
		}
		op := crud.MergePatch(r.configuration(kind), map[string]any{"webhooks": webhooks})
		op.IgnoreMissing = len(webhooks) == 0
		run.Add(op)
	}
	run.Plan.SkipPreflight = true
	return nil
}

const (
	// validFor is the lifetime of a certificate. It is replaced renewBefore its expiry.
	validFor    = 365 * 24 * time.Hour
	renewBefore = 30 * 24 * time.Hour
)

// certificate returns the CA of the certificate in the Secret, which it replaces if it is unusable or ends soon.
func (r registration) certificate(ctx context.Context, run *Run, now time.Time) (ca []byte, err error) {
	for secret, err := range As[corev1.Secret](run.Snapshots(r.secret.Kind)) {
		if err != nil {
			return nil, err
		}
		reason := r.check(secret.Data, now.Add(renewBefore))
		if reason == nil {
			return secret.Data[certresources.CACert], nil
		}
		run.Logger.Infow("Writing a certificate", "secret", r.secret.String(), "reason", reason)
		key, cert, ca, err := certresources.CreateCerts(ctx, r.service.Name, r.service.Namespace, now.Add(validFor))
		if err != nil {
			return nil, fmt.Errorf("making a certificate: %w", err)
		}
		op := crud.MergePatch(r.secret, map[string]any{
			"data": map[string][]byte{certresources.ServerKey: key, certresources.ServerCert: cert, certresources.CACert: ca},
		})
		op.Preconditions.ResourceVersion = &secret.ResourceVersion
		run.Add(op)
		return ca, nil
	}
	return nil, fmt.Errorf("the %s of the certificate does not exist: create it without data", r.secret)
}

// check returns an error if the API server could not call the process at a time.
func (r registration) check(data map[string][]byte, at time.Time) error {
	pair, err := tls.X509KeyPair(data[certresources.ServerCert], data[certresources.ServerKey])
	if err != nil {
		return errors.New("it has no certificate with its key") // the cause could have a part of the key
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(data[certresources.CACert])
	_, err = pair.Leaf.Verify(x509.VerifyOptions{DNSName: r.service.Name + "." + r.service.Namespace + ".svc", Roots: roots, CurrentTime: at})
	return err //nolint:wrapcheck // it is a reason
}
