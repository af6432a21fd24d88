/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package confidential

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kinds are kinds whose objects have confidential values. Secret is one of them in any case.
type Kinds []schema.GroupKind //nolint:recvcheck // only Decode changes it

// Has reports whether a kind is confidential.
func (k Kinds) Has(kind schema.GroupKind) bool {
	return kind == schema.GroupKind{Kind: "Secret"} || slices.Contains(k, kind)
}

var kindWithGroup = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*(\.[a-z0-9-]+)*$`)

// Decode adds the kinds of a list with commas. It implements envconfig.Decoder.
func (k *Kinds) Decode(list string) error {
	for name := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' || r == ' ' }) {
		if !kindWithGroup.MatchString(name) {
			return errors.New("must be kinds with their groups, such as Vault.example.com, separated by commas")
		}
		*k = append(*k, schema.ParseGroupKind(name))
	}
	return nil
}
