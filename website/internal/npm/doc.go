/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package npm installs the packages of website/package.json, at the versions and with the hashes of package-lock.json: mermaid, which
// renders the diagrams, and axe, which checks the accessibility of the pages in the tests.
package npm
