/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

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
	// Schedule is the schedule of backups, in the format of cron.
	Schedule string `json:"schedule"`

	// Overlap is the treatment of a backup that is due while the one before it still runs.
	Overlap Overlap `json:"overlap,omitempty"`

	// Retention is the time for which backups are kept; indefinitely if it is left out.
	Retention *metav1.Duration `json:"retention,omitempty"`

	// Volumes are the volumes to copy.
	//
	// +listType=map
	// +listMapKey=name
	Volumes []Volume `json:"volumes,omitempty"`

	// Encryption configures encryption; backups are not encrypted if it is left out.
	Encryption *Encryption `json:"encryption,omitempty"`
}

// Overlap is the treatment of a backup that is due while the one before it still runs.
type Overlap string

const (
	// OverlapForbid leaves it out.
	OverlapForbid Overlap = "Forbid"
	// OverlapReplace ends the one before it.
	OverlapReplace Overlap = "Replace"
	// OverlapAllow lets both run.
	OverlapAllow Overlap = "Allow"
)

// Volume is something to copy.
type Volume struct {
	Name string `json:"name"`
	Path string `json:"path"`
	// Exclude are patterns of files that are left out.
	Exclude []string `json:"exclude,omitempty"`
}

// Encryption configures the encryption of backups.
type Encryption struct {
	// KeyName is the name of a Secret with the key.
	KeyName string `json:"keyName"`
}
