/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package docs holds the suite that runs what the documents show. Every fenced block
// of every Markdown file is one of these:
//
//	sh        is run, from the root of the repository with kubectl on the PATH
//	console   its lines after "$ " are run, and print the lines that follow; an
//	          ellipsis stands for anything in one line; with the word fails, each has to fail
//	yaml, go, markdown
//	          carries file=PATH and is an excerpt of that file, word for word
//	text      is an excerpt of a file in the same way, or, with shown-by, the output of a program
//	diff      carries upstream=FILE:LINE and changes knative.dev/pkg from that line on
//	mermaid   is a diagram
//
// A block whose info string has shown-by=FOLDER:TEST is run by that test, or is a diagram of what it shows. It has to
// exist. Tutorials are followed block for block by a reader, see type reader. Anything else fails: a block that no test runs or compares claims too much.
//
// Links are checked, too, those from a name to the Go file that declares it among them, and so are the names of tests, and the opening line of each
// page of docs/.
package docs
