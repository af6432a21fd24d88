/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package language checks the wording of the repository: of comments, string literals and test names in Go files, of Markdown prose, and of
// YAML files, scripts and Makefiles. Rules are regular expressions with a suggestion, in rules.yaml, which is also the glossary. Each rule has
// an example that it finds and one that it leaves alone.
package language
