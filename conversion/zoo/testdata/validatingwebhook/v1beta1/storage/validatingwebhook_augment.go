/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package storage

import (
	"errors"

	"github.com/mallard-dev/mallard/conversion"

	v1storage "example.com/validatingwebhook/v1/storage"
)

// The defaults of each version.
const (
	oldFailurePolicy, newFailurePolicy   = "Ignore", "Fail"
	oldMatchPolicy, newMatchPolicy       = "Exact", "Equivalent"
	oldTimeoutSeconds, newTimeoutSeconds = int32(30), int32(10)
)

// AssignPropertiesTo shows the defaults of v1beta1 as values.
func (in *ValidatingWebhook) AssignPropertiesTo(dst *v1storage.ValidatingWebhook) error {
	bag := &dst.PropertyBag
	return errors.Join(
		assign(bag, bagV1FailurePolicy, bagV1beta1FailurePolicy, in.FailurePolicy, &dst.FailurePolicy, oldFailurePolicy),
		assign(bag, bagV1MatchPolicy, bagV1beta1MatchPolicy, in.MatchPolicy, &dst.MatchPolicy, oldMatchPolicy),
		assign(bag, bagV1TimeoutSeconds, bagV1beta1TimeoutSeconds, in.TimeoutSeconds, &dst.TimeoutSeconds, oldTimeoutSeconds),
	)
}

// AssignPropertiesFrom shows the defaults of v1 as values.
func (in *ValidatingWebhook) AssignPropertiesFrom(src *v1storage.ValidatingWebhook) error {
	bag := &in.PropertyBag
	return errors.Join(
		assign(bag, bagV1beta1FailurePolicy, bagV1FailurePolicy, src.FailurePolicy, &in.FailurePolicy, newFailurePolicy),
		assign(bag, bagV1beta1MatchPolicy, bagV1MatchPolicy, src.MatchPolicy, &in.MatchPolicy, newMatchPolicy),
		assign(bag, bagV1beta1TimeoutSeconds, bagV1TimeoutSeconds, src.TimeoutSeconds, &in.TimeoutSeconds, newTimeoutSeconds),
	)
}

// absent is what the bag keeps of an absent value, until the default that is shown in its place is changed.
type absent struct{}

// assign copies a value, or shows the default in place of none.
func assign[T any](bag *conversion.PropertyBag, take, put string, src *T, dst **T, standard T) error {
	if bag.TakeDerived(take, src, &absent{}) == conversion.Exact {
		*dst = nil
		return nil
	}
	if src == nil {
		*dst = &standard
		return bag.PutDerived(put, absent{}, &standard)
	}
	*dst = new(*src)
	return nil
}
