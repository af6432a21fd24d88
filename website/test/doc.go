/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package test builds the website and tests it in a headless Chromium, at the width of a desktop and of a phone. Tests name no page but
// README.md: pages are added, moved and removed.
package test
