/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package animation renders the screens of a recording as one SVG: with CSS alone, as text that can be selected, on a dark background,
// which is readable on light and dark pages. For readers who prefer reduced motion it shows the last screen.
package animation
