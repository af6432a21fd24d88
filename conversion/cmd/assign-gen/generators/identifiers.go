/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generators

import (
	"fmt"
	"slices"
	"strings"
)

// identifiers gives each key a unique identifier that begins with a prefix. Where keys differ only in punctuation or in the case
// of a first letter, all of them are spelled literally: hand-written code that uses such an identifier fails to compile when another
// key makes it ambiguous, instead of meaning the other key.
func identifiers(prefix string, keys []string) map[string]string {
	keys = slices.Compact(slices.Sorted(slices.Values(keys)))
	count := make(map[string]int)
	for _, key := range keys {
		count[exported(key)]++
	}
	all := make(map[string]string)
	for _, key := range keys {
		all[key] = prefix + exported(key)
		if count[exported(key)] > 1 {
			all[key] = prefix + "_" + literal(key)
		}
	}
	return all
}

// literal spells a key so that no other one is spelled alike.
func literal(key string) string {
	var text strings.Builder
	for _, r := range key {
		switch {
		case r < 0x80 && exported(string(r)) != "":
			text.WriteRune(r)
		case r == '/' || r == '.':
			text.WriteByte('_')
		case r == '-':
			text.WriteString("__")
		default:
			fmt.Fprintf(&text, "_%x_", r)
		}
	}
	return text.String()
}
