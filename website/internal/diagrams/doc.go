/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package diagrams renders mermaid diagrams to SVG, for a light and for a dark background, with mermaid in a headless browser.
package diagrams
