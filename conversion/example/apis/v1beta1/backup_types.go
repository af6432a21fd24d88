/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Backup copies volumes at fixed times.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Backup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec BackupSpec `json:"spec"`
}

// BackupSpec holds the volumes to copy, and the schedule.
type BackupSpec struct {
	// Cron is the schedule of backups, in the format of cron.
	//
	// +conversion:rename=Schedule
	Cron string `json:"cron"`

	// Overlap is the treatment of a backup that is due while the one before it still runs.
	//
	// +conversion:enum=Skip:Forbid,Restart:Replace,fallback=Skip
	Overlap Overlap `json:"overlap,omitempty"`

	// Retention is the number of days for which backups are kept; indefinitely if it is left out.
	//
	// +conversion:strategy=augment
	Retention int32 `json:"retention,omitempty"`

	// Volumes are the volumes to copy.
	//
	// +listType=map
	// +listMapKey=name
	Volumes []Volume `json:"volumes,omitempty"`
}

// Overlap is the treatment of a backup that is due while the one before it still runs.
type Overlap string

const (
	// OverlapSkip leaves it out.
	OverlapSkip Overlap = "Skip"
	// OverlapRestart ends the one before it.
	OverlapRestart Overlap = "Restart"
)

// Volume is something to copy.
type Volume struct {
	Name string `json:"name"`
	Path string `json:"path"`
}
