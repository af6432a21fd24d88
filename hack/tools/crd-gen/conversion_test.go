/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

func TestKindsOfSeveralVersionsAreConverted(t *testing.T) {
	definition := func(versions int) *apiextensionsv1.CustomResourceDefinition {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		crd.Name = "geese.good.example.com"
		crd.Spec.Versions = make([]apiextensionsv1.CustomResourceDefinitionVersion, versions)
		return crd
	}
	var none, service webhookService
	if err := service.Set("ponds/heron"); err != nil {
		t.Fatal(err)
	}

	single := definition(1)
	for _, s := range []webhookService{none, service} {
		if err := s.convert(single); err != nil || single.Spec.Conversion != nil {
			t.Errorf("a kind of one version by %q: %v, %v", s.String(), single.Spec.Conversion, err)
		}
	}
	if err := none.convert(definition(2)); err == nil ||
		!strings.Contains(err.Error(), "geese.good.example.com has 2 versions") || !strings.Contains(err.Error(), "--conversion-webhook") {
		t.Errorf("a kind of two versions without a webhook: %v", err)
	}
	double := definition(2)
	if err := service.convert(double); err != nil {
		t.Fatal(err)
	}
	want := &apiextensionsv1.CustomResourceConversion{
		Strategy: "Webhook",
		Webhook: &apiextensionsv1.WebhookConversion{
			ClientConfig:             &apiextensionsv1.WebhookClientConfig{Service: &apiextensionsv1.ServiceReference{Namespace: "ponds", Name: "heron"}},
			ConversionReviewVersions: []string{"v1"},
		},
	}
	if diff := cmp.Diff(want, double.Spec.Conversion); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestConversionWebhookIsNamespaceAndName(t *testing.T) {
	for _, value := range []string{"", "webhook", "/webhook", "ns/", "ns/webhook/x", "Ns/webhook", "ns/1webhook", "ns/web hook"} {
		if err := new(webhookService).Set(value); err == nil || !strings.Contains(err.Error(), "NAMESPACE/NAME") {
			t.Errorf("%q: error is %v, want one that says what the value has to be", value, err)
		}
	}
}
