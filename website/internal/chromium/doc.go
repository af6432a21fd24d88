/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package chromium starts the Chromium of this machine without a window: to render diagrams, and to test the website.
package chromium
