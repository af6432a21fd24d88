//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hooks

import (
	"context"
	"errors"
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// 8: at the timeout the whole process group ends, and what left it, and a child that survives its hook.
func TestExecutable_Timeout_EndsAllProcesses(t *testing.T) {
	s := newScene(t)
	s.script("a-survivor", startup, `
sleep 1000 & echo $! >>"$runs/survivors"
setsid sleep 1000 & sleep 0.1; echo $! >>"$runs/survivors"
`)
	s.script("b-timeout", startup+"settings: {timeout: 1s}", `
trap '' TERM
setsid sleep 1000 & echo $! >"$runs/pids"
sleep 1000 & echo $! >>"$runs/pids"
echo $$ >>"$runs/pids"
wait || wait
`)
	s.start(s.quick(), s.load(s.quick())...)
	s.awaitRuns("b-timeout", 1)
	s.awaitDead("survivors", 2)
	expectMeasured(t, 1, "hook.runs", "a-survivor", "result", "success")
	harness.Eventually(t, "the timeout is an error", func(context.Context) error {
		if counted(t, "hook.run.errors", "b-timeout") == 0 || s.logs.FilterMessage("A hook failed").Len() == 0 {
			return errors.New("it is not")
		}
		return nil
	})
	s.end()
	<-s.ended
	s.awaitDead("pids", 3)
}
