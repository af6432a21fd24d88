/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package nearest finds the valid word that is closest to a misspelled one.
//
// It knows nothing of markers or fields; its callers hand it what would have been right.
package nearest

import "strconv"

// Word returns the candidate that is closest to word, and whether one is close enough to be what was meant: at most a
// third of its letters differ, and at least one may. Of equally close candidates the first is taken.
func Word(word string, candidates []string) (candidate string, found bool) {
	best := max(1, len(word)/3) + 1
	for _, each := range candidates {
		if d := distance(word, each); d < best {
			best, candidate, found = d, each, true
		}
	}
	return candidate, found
}

// Suggestion returns the closest candidate as the end of a sentence, or nothing when none is close.
func Suggestion(word string, candidates []string) string {
	if candidate, found := Word(word, candidates); found {
		return "; did you mean " + strconv.Quote(candidate) + "?"
	}
	return ""
}

// distance counts the letters that have to be inserted, deleted or replaced to turn one word into the other, and two
// swapped neighbors as one.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range len(b) + 1 {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replaced := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			rows[i][j] = min(replaced, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
