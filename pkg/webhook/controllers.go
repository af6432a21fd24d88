/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"knative.dev/pkg/apis"
	crdinformer "knative.dev/pkg/client/injection/apiextensions/informers/apiextensions/v1/customresourcedefinition"
	mutatinginformer "knative.dev/pkg/client/injection/kube/informers/admissionregistration/v1/mutatingwebhookconfiguration"
	validatinginformer "knative.dev/pkg/client/injection/kube/informers/admissionregistration/v1/validatingwebhookconfiguration"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	secretinformer "knative.dev/pkg/injection/clients/namespacedkube/informers/core/v1/secret"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/webhook"
	"knative.dev/pkg/webhook/configmaps"
	"knative.dev/pkg/webhook/resourcesemantics/defaulting"
	"knative.dev/pkg/webhook/resourcesemantics/validation"

	"github.com/mallard-dev/mallard/pkg/apis/config"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/pkg/binding"
	"github.com/mallard-dev/mallard/runtime/admission"
	"github.com/mallard-dev/mallard/runtime/certificates"
	"github.com/mallard-dev/mallard/runtime/process"
)

// Names of the webhook configurations in config/500-webhook-configuration.yaml.
const (
	DefaultingName       = "defaulting.webhook." + samples.GroupName
	ValidationName       = "validation.webhook." + samples.GroupName
	ConfigValidationName = "config.webhook." + samples.GroupName
)

// NewCertificateController keeps the serving certificate, and makes the process ready once the API server trusts it everywhere.
func NewCertificateController(ctx context.Context, _ configmap.Watcher) *controller.Impl {
	return certificates.NewController(ctx, certificates.Registered{
		Mutating:   []string{DefaultingName, binding.WebhookName},
		Validating: []string{ValidationName, ConfigValidationName},
		CRDs:       served.convertedCRDs(),
	}, certificates.Informers{
		Secrets: secretinformer.Get(ctx), Mutating: mutatinginformer.Get(ctx), Validating: validatinginformer.Get(ctx), CRDs: crdinformer.Get(ctx),
	})
}

// Serve serves the webhooks with the certificate that NewCertificateController keeps.
func Serve(ctx context.Context, webhooks []any) error {
	return admission.Serve(ctx, secretinformer.Get(ctx), webhooks)
}

// NewDefaultingController serves the defaults of the samples.
func NewDefaultingController(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
	// The defaults depend on the ConfigMap config-addressable, whose last good state each request sees.
	store := config.NewStore(logging.FromContext(ctx).Named("config-store"))
	store.WatchConfigs(cmw)
	impl := defaulting.NewAdmissionController(ctx, DefaultingName, "/defaulting", nil, nil, false,
		admitted[apis.Defaultable](served, defaulting.Callback{}))
	return await(ctx, admission.Default(impl, newObject, store.ToContext))
}

// NewValidationController serves the validation of the samples. It rejects objects that an older version could not represent.
func NewValidationController(ctx context.Context, _ configmap.Watcher) *controller.Impl {
	impl := validation.NewAdmissionController(ctx, ValidationName, "/validation", nil, nil, false,
		admitted[apis.Validatable](served, validation.NewCallback(nil, webhook.Create, webhook.Update)))
	return await(ctx, admission.Validate(impl, newObject, withOlderVersions))
}

func newObject(gvk schema.GroupVersionKind) any {
	newObject, ok := served[gvk.GroupKind()].versions[gvk.Version]
	if !ok {
		return nil
	}
	return newObject()
}

// NewConfigValidationController returns a constructor. It serves the validation of every ConfigMap that has a parser.
func NewConfigValidationController(parsers process.Parsers) injection.ControllerConstructor {
	return func(ctx context.Context, _ configmap.Watcher) *controller.Impl {
		return await(ctx, configmaps.NewAdmissionController(ctx, ConfigValidationName, "/config-validation", configmap.Constructors(parsers)))
	}
}

// await keeps a reconciler of knative.dev/pkg from failing before NewCertificateController has written the CA that it copies.
func await(ctx context.Context, impl *controller.Impl) *controller.Impl {
	return certificates.Await(ctx, secretinformer.Get(ctx).Lister(), impl)
}
