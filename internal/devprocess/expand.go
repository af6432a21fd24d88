/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package devprocess

import "strings"

// expand replaces $(NAME) as Kubernetes does in env, args and command: an unknown name stays as it is written, and $$ is
// a plain $.
func expand(text string, lookup map[string]string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "$")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		name, after, closed := strings.Cut(strings.TrimPrefix(rest, "("), ")")
		value, known := lookup[name]
		switch {
		case strings.HasPrefix(rest, "$"):
			out.WriteByte('$')
			text = rest[1:]
		case strings.HasPrefix(rest, "(") && closed && known:
			out.WriteString(value)
			text = after
		case strings.HasPrefix(rest, "(") && closed:
			out.WriteString("$(" + name + ")")
			text = after
		default:
			out.WriteByte('$')
			text = rest
		}
	}
}
