/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// The recording program records `make run` on a pseudoterminal, until all samples are Ready, and writes an animated SVG of it:
// docs/images/make-run.svg. Make recording runs it. TestMakeRun_OnATerminal_ShowsTheRecordingUntilInterrupted of test/run compares the recording with
// another run.
package main
