/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package child

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

// A process that executed these itself would need gigabytes of memory, or end by an overflow of its stack.
func TestRun_ProgramsThatNeedMemory_FailAlone(t *testing.T) {
	for _, program := range []string{
		`reduce range(13) as $i ("x" * 1000000; . + .) | length`, "def f: 1 + f; f", "def f: [f]; f",
		strings.Repeat("[", 1e6) + strings.Repeat("]", 1e6),
	} {
		if results, err := Run(t.Context(), program, nil); err == nil ||
			!strings.HasSuffix(err.Error(), "needs more than 128 MiB of memory") && !strings.Contains(err.Error(), "ran for") {
			t.Errorf("%.40s: got %s, %v", program, results, err)
		}
	}
	if results, err := Run(t.Context(), ". + 1", 1); err != nil || len(results) != 1 || string(results[0]) != "2" {
		t.Errorf("a program after those: got %s, %v", results, err)
	}
}

func TestRun_Results_AreWhatKubernetesHas(t *testing.T) {
	input := map[string]any{"a": int64(9007199254740993), "x": map[string]any{"b": []any{"<"}}}
	for program, want := range map[string]string{
		".a": "9007199254740993", "empty": "", `1, "a"`: `1,"a"`, ".x": `{"b":["<"]}`,
		"nan": "a number that JSON does not have", "infinite": "a number that JSON does not have", "1" + strings.Repeat("0", 30): "an integer of more than 64 bits",
		"reduce range(40) as $i (1; [., .])": "more than 3145728 bytes", `error("hunter2")`: "called error",
	} {
		results, err := Run(t.Context(), program, input)
		var got []string
		for _, result := range results {
			got = append(got, string(result))
		}
		if text := strings.Join(got, ","); err == nil && text != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %s, %v, want %s", program, text, err, want)
		}
	}
}

func TestRun_ContextEnds_EndsTheProgram(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	because := errors.New("the caller has no time")
	cancel(because)
	if _, err := Run(ctx, "repeat(.)", 1); !errors.Is(err, because) {
		t.Errorf("got %v", err)
	}
}

func TestCompile_Mistake_IsAnError(t *testing.T) {
	if err := Compile(".a"); err != nil {
		t.Error(err)
	}
	if err := Compile(".a | $b"); err == nil || !strings.Contains(err.Error(), "compiling the jq program") {
		t.Errorf("got %v", err)
	}
}

func TestPatch_OperationThatCannotBeExecuted_IsNamed(t *testing.T) {
	copies := `{"op": "add", "path": "/a", "value": ["` + strings.Repeat("x", 1000) + `"]}` + strings.Repeat(`, {"op": "copy", "from": "/a", "path": "/a/0"}`, 40)
	for encoded, want := range map[string]struct {
		failed int
		reason string
	}{
		`{"op": "remove", "path": "/b"}, {"op": "replace", "path": "/c/d", "value": 1}`: {1, "missing"},
		copies: {13, "the accumulated size increase of copy is"},
		// The library panics.
		`{"op": "test", "path": "/list", "value": [null]}`: {0, "the value is another one"},
	} {
		var patch jsonpatch.Patch
		if err := json.Unmarshal([]byte("["+encoded+"]"), &patch); err != nil {
			t.Fatal(err)
		}
		patched, err := Patch(t.Context(), []byte(`{"list": ["a"]}`), patch, true)
		if err != nil || patched.Failed != want.failed || !strings.Contains(patched.Reason, want.reason) {
			t.Errorf("%.60s: got %d, %q, %v, want %v", encoded, patched.Failed, patched.Reason, err, want)
		}
	}
}

func TestRun_SlowPrograms_DelayNoQuickOne(t *testing.T) {
	const endless = "last(repeat(.))"
	run := func() {
		if _, err := Run(t.Context(), endless, 1); err == nil {
			t.Error("an endless program has ended without an error")
		}
	}
	if _, err := Run(t.Context(), ".", 1); err != nil {
		t.Fatal(err)
	}
	var ended atomic.Int32
	var running sync.WaitGroup
	for range 2 {
		running.Go(func() {
			run()
			ended.Add(1)
		})
	}
	defer running.Wait()
	for len(common) > 0 {
		runtime.Gosched()
	}
	if _, err := Run(t.Context(), ".", 1); err != nil || ended.Load() > 0 {
		t.Errorf("a quick program ended with %v after %d slow ones", err, ended.Load())
	}
}

// The child is stopped for as long as others use the processors.
func TestRun_ProgramThatWaitsForTheProcessor_IsQuick(t *testing.T) {
	const program = "[., .]"
	defer func(other *process) { quick <- other }(<-quick)
	if _, err := Run(t.Context(), program, 1); err != nil {
		t.Fatal(err)
	}
	defer func(before time.Duration) { timeout = before }(timeout)
	timeout /= 10
	p := <-common
	signal := func(s syscall.Signal) {
		if err := syscall.Kill(p.cmd.Process.Pid, s); err != nil {
			t.Error(err)
		}
	}
	signal(syscall.SIGSTOP)
	defer time.AfterFunc(timeout, func() { signal(syscall.SIGCONT) }).Stop()
	common <- p
	if _, err := Run(t.Context(), program, 1); err != nil {
		t.Fatal(err)
	}
	if _, isQuick := known.Get(program); !isQuick {
		t.Error("a program that needs little CPU time is slow")
	}
}

func TestRun_ProgramThatEndsByATimeoutOrOnlyCompiles_IsNotQuick(t *testing.T) {
	const program = "last(repeat(.[0:1]))"
	if err := Compile(program); err != nil {
		t.Fatal(err)
	}
	if _, isQuick := known.Get(program); isQuick {
		t.Error("a program that has only been compiled is quick")
	}
	if _, err := Run(t.Context(), program, "a"); err == nil {
		t.Error("an endless program has ended without an error")
	}
	if _, isQuick := known.Get(program); isQuick {
		t.Error("a program that ended by its timeout is quick")
	}
}
