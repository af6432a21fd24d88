/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package site builds the website: it reads the pages (package pages), renders their diagrams (package diagrams), writes the input of Hugo
// with the theme in website/theme, runs Hugo, and indexes the pages that Hugo writes for the search.
package site
