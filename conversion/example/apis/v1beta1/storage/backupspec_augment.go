/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package storage

import (
	"math"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/conversion"

	v1storage "example.com/backup/apis/v1/storage"
)

const (
	day = 24 * time.Hour
	// maxDays is as long as a duration can be, which is some 292 years.
	maxDays = int32(math.MaxInt64 / day)
)

// AssignPropertiesTo makes a duration of the days. A duration that they were shown for stays until a client changes the days.
func (in *BackupSpec) AssignPropertiesTo(dst *v1storage.BackupSpec) error {
	return conversion.Derive(&dst.PropertyBag, bagV1Retention, bagV1beta1Retention, in.Retention, &dst.Retention, toDuration, toDays)
}

// AssignPropertiesFrom shows a duration in days, and keeps it if these do not say all of it.
func (in *BackupSpec) AssignPropertiesFrom(src *v1storage.BackupSpec) error {
	return conversion.Derive(&in.PropertyBag, bagV1beta1Retention, bagV1Retention, src.Retention, &in.Retention, toDays, toDuration)
}

// toDuration returns a number of days as a duration, or the longest duration.
func toDuration(days *int32) *metav1.Duration {
	return &metav1.Duration{Duration: time.Duration(max(-maxDays, min(*days, maxDays))) * day}
}

// toDays returns the number of days that a duration has begun: a number that is too large does less harm than one that is too small.
func toDays(duration *metav1.Duration) *int32 {
	whole := int32(duration.Duration / day) //nolint:gosec // at most maxDays
	if duration.Duration%day > 0 {
		whole++
	}
	return &whole
}
