/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"context"
	"fmt"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/types"

	"knative.dev/pkg/apis"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/system"
	knativewebhook "knative.dev/pkg/webhook"

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
