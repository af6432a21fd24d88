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

// AssignPropertiesTo makes a duration of the days. A duration that they were shown for stays until a client changes the days.
func (in *BackupSpec) AssignPropertiesTo(dst *v1storage.BackupSpec) error {
	if dst.PropertyBag.TakeDerived(bagV1Retention, in.Retention, &dst.Retention) == conversion.Exact {
		return nil
	}
	dst.Retention = nil
	if in.Retention == nil {
		return nil
	}
	dst.Retention = &metav1.Duration{Duration: duration(*in.Retention)}
	if days(dst.Retention.Duration) == *in.Retention {
		return nil
	}
	return dst.PropertyBag.PutDerived(bagV1beta1Retention, in.Retention, dst.Retention)
}

// AssignPropertiesFrom shows a duration in days, and keeps it if these do not say all of it.
func (in *BackupSpec) AssignPropertiesFrom(src *v1storage.BackupSpec) error {
	if in.PropertyBag.TakeDerived(bagV1beta1Retention, src.Retention, &in.Retention) == conversion.Exact {
		return nil
	}
	in.Retention = nil
	if src.Retention == nil {
		return nil
	}
	in.Retention = new(days(src.Retention.Duration))
	if duration(*in.Retention) == src.Retention.Duration {
		return nil
	}
	return in.PropertyBag.PutDerived(bagV1Retention, src.Retention, in.Retention)
}

const (
	day = 24 * time.Hour
	// maxDays is as long as a duration can be, which is some 292 years.
	maxDays = int32(math.MaxInt64 / day)
)

// duration returns a number of days as a duration, or the longest duration.
func duration(days int32) time.Duration {
	return time.Duration(max(-maxDays, min(days, maxDays))) * day
}

// days returns the number of days that a duration has begun: a number that is too large does less harm than one that is too small.
func days(d time.Duration) int32 {
	whole := int32(d / day) //nolint:gosec // at most maxDays
	if d%day > 0 {
		whole++
	}
	return whole
}
