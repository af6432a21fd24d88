/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package shell lets an executable be bash, sh and jq, so that hooks in shell run in an image that has no other program. Everything is the
// work of libraries: the interpreter of mvdan.cc/sh, the commands of u-root such as cat and mktemp, and gojq. Programs that the image has are
// preferred.
package shell
