/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package pages reads the Markdown files that the website shows: those in the root of the repository and those below docs/. The files have
// no front matter, since people also read them on GitHub. A page's title is its first heading. The groups of pages and their order are those
// of the links in docs/README.md.
package pages
