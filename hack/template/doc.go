/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// The template program copies and changes this repository as a template: the targets of the Makefile run its commands.
package main
