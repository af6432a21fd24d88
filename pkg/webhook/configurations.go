/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"errors"
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	admissionlisters "k8s.io/client-go/listers/admissionregistration/v1"
)

// configurations are the webhook configurations in which our CA has to be.
type configurations struct {
	mutating   admissionlisters.MutatingWebhookConfigurationLister
	validating admissionlisters.ValidatingWebhookConfigurationLister
}

// entry is one webhook of a configuration.
type entry struct {
	name  string
	ca    []byte
	rules []admissionregistrationv1.RuleWithOperations
}

// all returns the webhooks of every configuration that exists, and an error for each
// that does not, or that holds none and so has nobody asked.
func (c configurations) all() (found []entry, missing error) {
	var problems []error
	defaulting, err := c.mutating.Get(DefaultingName)
	if err != nil {
		problems = append(problems, fmt.Errorf("reading a webhook configuration: %w", err))
	} else {
		problems = append(problems, holdsAny(defaulting.Name, len(defaulting.Webhooks)))
		for _, w := range defaulting.Webhooks {
			found = append(found, entry{w.Name, w.ClientConfig.CABundle, w.Rules})
		}
	}
	for _, name := range []string{ValidationName, ConfigValidationName} {
		validating, err := c.validating.Get(name)
		if err != nil {
			problems = append(problems, fmt.Errorf("reading a webhook configuration: %w", err))
			continue
		}
		problems = append(problems, holdsAny(name, len(validating.Webhooks)))
		for _, w := range validating.Webhooks {
			found = append(found, entry{w.Name, w.ClientConfig.CABundle, w.Rules})
		}
	}
	return found, errors.Join(problems...)
}

// holdsAny checks that a webhook configuration makes the API server ask at all.
func holdsAny(configuration string, webhooks int) error {
	if webhooks == 0 {
		return fmt.Errorf("webhook configuration %s holds no webhook", configuration)
	}
	return nil
}

// bundles returns what CAs the API server trusts, by each webhook. A configuration that
// was deleted sends no requests, so it is no reason to wait.
func (c configurations) bundles() ([][]byte, error) {
	found, err := c.all()
	if err != nil && !apierrors.IsNotFound(err) && len(found) == 0 {
		return nil, err
	}
	bundles := make([][]byte, 0, len(found))
	for _, w := range found {
		bundles = append(bundles, w.ca)
	}
	return bundles, nil
}
