//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package docs

import (
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// TestCommandsInPods_EachDocument_PrintWhatItShows runs the commands of the documents that are inPods.
func TestCommandsInPods_EachDocument_PrintWhatItShows(t *testing.T) {
	env := harness.Own(t, harness.WithImages())
	for _, file := range inPods {
		commands := commandsOf(t, file)
		if len(commands) == 0 {
			t.Errorf("%s shows no commands", file)
		}
		t.Run(file, func(t *testing.T) { runCommands(t, env, env.KoEnvironment(t), commands) })
	}
}
