/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

import (
	"regexp"
	"slices"
)

// Exception is an old name that stays in a fork.
type Exception struct {
	// Expression describes the text that stays, without groups.
	Expression string
	// Reason for which the text stays.
	Reason string
}

// Exceptions returns the old names that stay in a fork with the arguments.
func Exceptions(a Arguments) []Exception {
	all := []Exception{{
		Expression: `The Mallard Authors`,
		Reason:     "section 4 of the Apache License requires a fork to keep the copyright notices of the files that it keeps",
	}, {
		Expression: regexp.QuoteMeta(pageAboutForks),
		Reason:     "pages that link to the page about forks link to the template's, since a fork is made of the template only",
	}}
	if slices.Contains(a.Without, "conversion") {
		all = append(all, Exception{
			Expression: `MALLARD_TEST_(?:INPUTS|SEED)`,
			Reason:     "the library for tests with random input, which the fork requires as a module, reads these environment variables",
		})
	}
	for _, library := range libraries {
		if slices.Contains(a.Without, library.product) {
			all = append(all, Exception{
				Expression: oldModule + "/" + library.product + `\b`,
				Reason:     "the fork requires this module of the template instead of a copy",
			})
		}
	}
	if a.reduced() {
		all = append(all, Exception{
			Expression: `https://` + oldModule + `[\w./-]*|\[Mallard\]`,
			Reason:     "the README of a fork with fewer kinds, versions or products links to the documents that describe all of them",
		})
	}
	return all
}
