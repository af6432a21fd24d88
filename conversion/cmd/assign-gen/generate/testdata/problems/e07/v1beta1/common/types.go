/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package common

// Target is going to have DeepCopyInto.
type Target struct {
	Names []string `json:"names"`
}
