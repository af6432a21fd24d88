/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package child

import (
	"fmt"
	"strings"
	"testing"
)

// Each builtin of gojq is called with the value as its input and as its arguments.
func TestError_EachBuiltinThatFails_HasNoValue(t *testing.T) {
	listing, err := compile("[builtins[]]")
	if err != nil {
		t.Fatal(err)
	}
	names, _ := listing.Run(nil).Next()
	n := 0
	for _, name := range names.([]any) {
		function, arity, _ := strings.Cut(name.(string), "/")
		for _, value := range []any{"hunter2", 471147, -471147.5, []any{"hunter2"}, map[string]any{"hunter2": "hunter2"}} {
			arguments := strings.Trim(strings.Repeat("$v;", int(arity[0]-'0')), ";")
			if arguments != "" {
				arguments = "(" + arguments + ")"
			}
			code, err := compile(". as $v | " + function + arguments)
			if err != nil || function == "input" || function == "debug" || function == "stderr" || function == "repeat" || function == "range" {
				continue
			}
			result, _ := code.Run(value).Next()
			if failure, ok := result.(error); ok {
				n++
				if message := withoutValues(failure).Error(); strings.Contains(message, "hunter2") || strings.Contains(message, "471147") || strings.HasSuffix(message, ": ") {
					t.Errorf("%s of %v: %s is shown as %s", function, value, failure, message)
				}
			}
		}
	}
	if n < 200 {
		t.Errorf("only %d calls fail", n)
	}
}

func TestError_Programs_KeepTheProblem(t *testing.T) {
	for program, want := range map[string]string{
		`"hunter2" | .a`:           "running the jq program: expected an object but got: string",
		`5 | .[]`:                  "running the jq program: cannot iterate over: number",
		`"hunter2" | tonumber`:     "running the jq program: tonumber cannot be applied",
		`{} | implode`:             "running the jq program: implode cannot be applied to: object",
		`[1] | flatten(-471147)`:   "running the jq program: flatten depth should not be negative",
		`"a" | format("hunter2")`:  "running the jq program: format not defined",
		`error("hunter2")`:         "the jq program called error",
		`"hunter2" | halt_error`:   "the jq program called error",
		`"hunter2" + 471147`:       "running the jq program: cannot add: string",
		`"a" | test("hunter2[")`:   "running the jq program: invalid regular expression",
		`{a: 1} | .a = (1, 2) | .`: "",
	} {
		code, err := compile(program)
		if err != nil {
			t.Fatal(err)
		}
		result, _ := code.Run(nil).Next()
		failure, failed := result.(error)
		if failed != (want != "") || failed && withoutValues(failure).Error() != want {
			t.Errorf("%s: %v is shown as %v, want %s", program, failure, withoutValues(fmt.Errorf("%w", failure)), want)
		}
	}
}

func TestCompile_TokenIsWrong_IsShownUnlessItMayBeAValue(t *testing.T) {
	for program, want := range map[string]string{
		".a = }":           `parsing the jq program: unexpected token "}"`,
		`.a = "x" hunter2`: "parsing the jq program: unexpected token that ends at byte 16",
		`.a = "hunter2`:    "parsing the jq program: unterminated string literal",
		"nothing":          "compiling the jq program: function not defined: nothing/0",
	} {
		if _, err := compile(program); err == nil || err.Error() != want {
			t.Errorf("%s: the error is %v, want %s", program, err, want)
		}
	}
}
