/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package samples

import (
	"crypto/sha256"
	"encoding/hex"
)

// MaxMessage bounds the messages of conditions in characters. They may quote what others wrote, and one that is longer than
// the schema allows would make the API server reject the whole status.
const MaxMessage = 1024

// Shorten cuts a message of a condition that is too long for the schema, and adds an ellipsis.
func Shorten(message string) string {
	runes := []rune(message)
	if len(runes) <= MaxMessage {
		return message
	}
	return string(runes[:MaxMessage-1]) + "…"
}

// Hash returns the first hexadecimal digits, at most 64, of the hash of a text. Hashes are stored, so the function must not change.
func Hash(text string, digits int) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:digits]
}
