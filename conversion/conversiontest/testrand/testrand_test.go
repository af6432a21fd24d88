/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package testrand

import (
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"slices"
	"testing"
)

func TestSeed_FromTheEnvironment_RepeatsTheNumbers(t *testing.T) {
	t.Setenv(SeedVariable, "42")
	first, second := Source(t).Int63(), Source(t).Int63()
	if want := rand.NewSource(42).Int63(); first != want || second != want {
		t.Errorf("with seed 42 the first numbers are %d and %d, want %d both times", first, second, want)
	}
}

func TestInputs_FromTheEnvironment_SetTheNumber(t *testing.T) {
	t.Setenv(InputsVariable, "17")
	if got := Inputs(t); got != 17 {
		t.Errorf("%d inputs, want 17", got)
	}
}

func TestInputs_TooMany_AreLimited(t *testing.T) {
	t.Setenv(InputsVariable, "") // restores it
	if err := os.Unsetenv(InputsVariable); err != nil {
		t.Fatal(err)
	}
	if few, many := AtMost(t, 20), AtMost(t, 1_000_000); few != 20 || many != Inputs(t) {
		t.Errorf("%d and %d inputs, want 20 and %d", few, many, Inputs(t))
	}
	t.Setenv(InputsVariable, "17")
	if got := AtMost(t, 1); got != 17 {
		t.Errorf("%d inputs, want as many as the variable sets", got)
	}
}

func TestSeed_FailedTest_LogsHowToRepeatIt(t *testing.T) {
	t.Setenv(SeedVariable, "42")
	t.Setenv(InputsVariable, "17")
	recorded := record(t, func(recorded testing.TB) { Source(recorded) })
	if want := "to repeat this: MALLARD_TEST_SEED=42 MALLARD_TEST_INPUTS=17"; !slices.Equal(recorded.logged, []string{want}) || recorded.fatal != "" {
		t.Errorf("logged %q and failed with %q, want the log to be %q", recorded.logged, recorded.fatal, want)
	}
}

func TestEnvironment_InvalidVariable_FailsTheTest(t *testing.T) {
	for _, test := range []struct{ variable, value, want string }{
		{SeedVariable, "many", `environment variable MALLARD_TEST_SEED="many": must be a whole number`},
		{InputsVariable, "many", `environment variable MALLARD_TEST_INPUTS="many": must be a whole number above zero`},
		{InputsVariable, "0", `environment variable MALLARD_TEST_INPUTS="0": must be a whole number above zero`},
		{InputsVariable, "", `environment variable MALLARD_TEST_INPUTS="": must be a whole number above zero`},
	} {
		t.Run(test.variable+"="+test.value, func(t *testing.T) {
			t.Setenv(test.variable, test.value)
			if recorded := record(t, func(recorded testing.TB) { Source(recorded) }); recorded.fatal != test.want {
				t.Errorf("the test failed with %q, want %q", recorded.fatal, test.want)
			}
		})
	}
}

// recorder is a test that records its messages.
type recorder struct {
	testing.TB

	logged []string
	fatal  string
}

func (*recorder) Helper() {}

func (t *recorder) Logf(format string, args ...any) {
	t.logged = append(t.logged, fmt.Sprintf(format, args...))
}

func (t *recorder) Fatalf(format string, args ...any) {
	t.fatal = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// record runs a function that may end its test.
func record(t *testing.T, run func(testing.TB)) *recorder {
	t.Helper()
	recorded, done := &recorder{TB: t}, make(chan struct{})
	go func() {
		defer close(done)
		run(recorded)
	}()
	<-done
	return recorded
}
