/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

// Limits of an annotation. An annotation that exceeds one is never written, and is dropped when it is read. The API server
// allows 256 KiB for all annotations of an object together; Annotation.Store respects that limit, too.
const (
	// SoftLimit is the size in bytes from which on Annotation.Validate warns.
	SoftLimit = 16 << 10
	// HardLimit is the size in bytes that an annotation may have.
	HardLimit = 64 << 10
	// MaxNesting is the maximum depth of structs, lists and maps in an object, and separately of the data of one entry.
	MaxNesting = 32
	// MaxEntries is the maximum number of entries in all bags of an object together.
	MaxEntries = 1024
)

// format is that of the annotations that this release writes. A later one is carried as it is.
const format = 1

// foreignKey is the key, in the bag of the root, of an annotation in a later format. Keys of properties begin with a version.
const foreignKey = "/format"
