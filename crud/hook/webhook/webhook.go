/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"context"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/types"

	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/system"
	knativewebhook "knative.dev/pkg/webhook"

	"github.com/mallard-dev/mallard/crud/hook"
)

// Settings are the environment variables of a process whose hooks answer admission reviews, for envconfig. The name of its webhook configurations is
// NAME.NAMESPACE, those of its Service.
type Settings struct {
	Name        string        `envconfig:"WEBHOOK_NAME" default:"hooks" desc:"name of the Service through which the API server reaches hooks that answer admission reviews"`
	Port        uint16        `envconfig:"WEBHOOK_PORT" default:"8443" desc:"port that serves admission reviews, if a hook answers any"`
	SecretName  string        `envconfig:"WEBHOOK_SECRET_NAME" default:"hooks-certs" desc:"name of the Secret that holds the serving certificate"`
	GracePeriod time.Duration `envconfig:"WEBHOOK_GRACE_PERIOD" default:"5s" desc:"how long the process serves reviews after it has received SIGTERM"`
}

// Constructors returns the constructors of the controllers and webhooks of a process that runs hooks, and its context. The error has every mistake in
// their bindings.
func Constructors(ctx context.Context, options hook.Options, settings Settings, hooks ...*hook.Hook) (context.Context, []injection.ControllerConstructor, error) {
	newController, err := hook.NewController(options, hooks...)
	if err != nil {
		return nil, nil, err
	}
	reviews, err := hook.Reviews(options, hooks...)
	if err != nil {
		return nil, nil, err
	}
	constructors := []injection.ControllerConstructor{newController}
	if len(reviews) == 0 {
		return ctx, constructors, nil
	}
	wanted := registration{Name: settings.Name + "." + system.Namespace()}
	wanted.Validating, wanted.Mutating = hook.Webhooks(reviews,
		admissionregistrationv1.ServiceReference{Namespace: system.Namespace(), Name: settings.Name})
	// The first one: it waits for the certificate.
	constructors = append([]injection.ControllerConstructor{wanted.newController}, constructors...)
	for _, r := range reviews {
		constructors = append(constructors, newReviewer(r))
	}
	return knativewebhook.WithOptions(ctx, knativewebhook.Options{
		ServiceName: settings.Name, SecretName: settings.SecretName, Port: int(settings.Port), GracePeriod: settings.GracePeriod,
	}), constructors, nil
}

// reviewer answers the admission requests of a hook as a webhook of knative.dev/pkg. Nothing enqueues keys.
type reviewer struct {
	knativewebhook.StatelessAdmissionImpl
	answering
}

// answering is implemented by hook.Review.
type answering interface {
	Path() string
	Answer(ctx context.Context, request *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error)
}

func newReviewer(review *hook.Review) injection.ControllerConstructor {
	return func(ctx context.Context, _ configmap.Watcher) *controller.Impl {
		logger := logging.FromContext(ctx)
		if err := review.Start(ctx); err != nil {
			logger.Fatalw("A hook cannot answer reviews", "path", review.Path(), "error", err)
		}
		return controller.NewContext(ctx, &reviewer{answering: review}, controller.ControllerOptions{WorkQueueName: "Reviews", Logger: logger, Concurrency: 1})
	}
}

// Reconcile implements controller.Reconciler.
func (r *reviewer) Reconcile(context.Context, string) error { return nil }

// Admit implements webhook.AdmissionController, which has no errors: each response that it can return is an answer to the API server. But package
// webhook copies the UID of the request to the response, and the API server treats a response with another UID as a failed call, for which the
// failure policy of the webhook decides. The user sees the UID.
func (r *reviewer) Admit(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	response, err := r.Answer(ctx, request)
	if err != nil {
		request.UID = types.UID(err.Error())
		return knativewebhook.MakeErrorStatus("%v", err)
	}
	return response
}
