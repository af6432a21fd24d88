/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"flag"
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestOff_Names_SwitchConcernsOff(t *testing.T) {
	off, err := parseOff(" tracker, tombstones,\n")
	if got := slices.Sorted(maps.Keys(off)); err != nil || !slices.Equal(got, []concern{tombstones, references}) {
		t.Errorf("parseOff() = %v, %v", got, err)
	}
}

func TestOff_UnknownName_IsAnErrorWithTheValidOnes(t *testing.T) {
	_, err := parseOff("trackers")
	if err == nil || !strings.Contains(err.Error(), `HARDENING_OFF: there is no concern "trackers"; there are: [limits panics`) {
		t.Errorf("error: %v", err)
	}
}

func TestSecrets_LevelsAtWhichBodiesAreLogged_AreErrors(t *testing.T) {
	for value, valid := range map[string]bool{
		"v=7": true, "v=8": false, "v=10": false, "vmodule=request=7": true, "vmodule=request=8,a=1": false, "vmodule=a=1,request=12": false,
	} {
		flags := flag.NewFlagSet("", flag.ContinueOnError)
		name, level, _ := strings.Cut(value, "=")
		flags.String(name, level, "")
		if err := checkVerbosity(flags); (err == nil) != valid || err != nil && !strings.Contains(err.Error(), "flag --"+value+": must be at most 7") {
			t.Errorf("--%s: the error is %v", value, err)
		}
	}
}
