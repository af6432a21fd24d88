/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
)

// webhookService is the Service that converts, as the value of a flag.
type webhookService types.NamespacedName

// String implements flag.Value.
func (s *webhookService) String() string {
	if s.Name == "" {
		return ""
	}
	return s.Namespace + "/" + s.Name
}

// Set implements flag.Value.
func (s *webhookService) Set(value string) error {
	namespace, name, found := strings.Cut(value, "/")
	if !found || len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1035Label(name)) > 0 {
		return fmt.Errorf("%q must be NAMESPACE/NAME of a Service", value)
	}
	*s = webhookService{Namespace: namespace, Name: name}
	return nil
}

// convert has the Service convert a kind of several versions. Without it the API server would serve the objects of one
// version as those of another, with nothing but another apiVersion. CA and path are for the webhook to fill in.
func (s *webhookService) convert(crd *apiextensionsv1.CustomResourceDefinition) error {
	if len(crd.Spec.Versions) < 2 {
		return nil
	}
	if s.Name == "" {
		return fmt.Errorf("%s has %d versions and nothing that converts them: pass --conversion-webhook NAMESPACE/NAME",
			crd.Name, len(crd.Spec.Versions))
	}
	crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook: &apiextensionsv1.WebhookConversion{
			ClientConfig: &apiextensionsv1.WebhookClientConfig{
				Service: &apiextensionsv1.ServiceReference{Namespace: s.Namespace, Name: s.Name},
			},
			ConversionReviewVersions: []string{"v1"},
		},
	}
	return nil
}
