/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package process

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// everything has a field of every type that a binary's settings have.
type everything struct {
	Settings

	Count    Count    `envconfig:"COUNT" default:"8" desc:"how many"`
	Name     Name     `envconfig:"NAME" default:"a.b" desc:"which"`
	Duration Duration `envconfig:"DURATION" default:"5s" desc:"how long"`
}

func TestLoad_Environment_ReturnsDefaultsAndValues(t *testing.T) {
	for name, tc := range map[string]struct {
		env  map[string]string
		want everything
	}{
		"defaults": {
			env: map[string]string{"SYSTEM_NAMESPACE": "ns"},
			want: everything{
				Settings: Settings{Namespace: "ns", HealthPort: 8080, ProfilingPort: 8008, MetricsPort: 9090},
				Count:    8, Name: "a.b", Duration: Duration(5 * time.Second),
			},
		},
		"values": {
			env: map[string]string{
				"SYSTEM_NAMESPACE": "ns", "POD_NAME": "p", "POD_UID": "u", "WATCH_NAMESPACE": "one", "HEALTH_PORT": "1", "PROFILING_PORT": "65535", "METRICS_PROMETHEUS_PORT": "9",
				"COUNT": "1000", "NAME": "x", "DURATION": "0s",
			},
			want: everything{
				Settings: Settings{Namespace: "ns", PodName: "p", PodUID: "u", WatchNamespace: "one", HealthPort: 1, ProfilingPort: 65535, MetricsPort: 9},
				Count:    1000, Name: "x",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for key, value := range tc.env {
				t.Setenv(key, value)
			}
			var got everything
			if err := load(&got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		})
	}
}

func TestLoad_InvalidValue_ReturnsOneLineWithTheRemedy(t *testing.T) {
	for variable, tc := range map[string]struct {
		bad  []string
		want string
	}{
		"SYSTEM_NAMESPACE": {[]string{"", "A", "a.b", strings.Repeat("a", 64)}, "must be a name of lower case letters, digits and -, up to 63"},
		"HEALTH_PORT":      {[]string{"", "0", "-1", "65536", "80.0", "http"}, "must be a port number from 1 to 65535"},
		"WATCH_NAMESPACE":  {[]string{"A", "a,b", "*", strings.Repeat("a", 64)}, "must be the name of one namespace"},
		"COUNT":            {[]string{"", "0", "-1", "1001", "many", "1e3"}, "must be a whole number from 1 to 1000"},
		"NAME":             {[]string{"", "A", "a/b", strings.Repeat("a", 254)}, "must be the name of an object"},
		"DURATION":         {[]string{"", "5", "-5s", "soon"}, "must be a duration with its unit such as 5s, and not negative"},
	} {
		for _, bad := range tc.bad {
			t.Run(variable+"="+bad, func(t *testing.T) {
				t.Setenv("SYSTEM_NAMESPACE", "ns")
				t.Setenv(variable, bad)
				err := load(&everything{})
				if err == nil {
					t.Fatal("accepted")
				}
				want := `environment variable ` + variable + `="` + bad + `": ` + tc.want
				if got := err.Error(); !strings.HasPrefix(got, want) || strings.Contains(got, "\n") {
					t.Errorf("the message is %q, want %q", got, want)
				}
			})
		}
	}
}

func TestLoad_MissingValue_NamesTheVariable(t *testing.T) {
	err := load(&everything{})
	if err == nil || !strings.Contains(err.Error(), "required key SYSTEM_NAMESPACE missing value") {
		t.Errorf("without SYSTEM_NAMESPACE: %v", err)
	}
}

func TestUsage_Settings_ListsEveryVariable(t *testing.T) {
	var b bytes.Buffer
	usage(&b, "duck", "quacks", &everything{})
	for _, line := range []string{
		"duck: quacks",
		"SYSTEM_NAMESPACE         namespace of the operator's ConfigMaps, leases and secret (required)",
		"COUNT                    how many (default 8)",
		"Flags:",
	} {
		if !strings.Contains(b.String(), line) {
			t.Errorf("the help lacks %q:\n%s", line, b.String())
		}
	}
}

func TestHelp_EachSpelling_PrintsUsage(t *testing.T) {
	for arg, want := range map[string]bool{"-h": true, "--h": true, "-help": true, "--help": true, "help": false, "--helper": false} {
		if got := isAsked([]string{"--other", arg}, "h", "help"); got != want {
			t.Errorf("with argument %q, help is requested: %t", arg, got)
		}
	}
}

func TestIdentity_Pod_IsItsOwnAndStays(t *testing.T) {
	pod := Settings{PodName: "controller-0", PodUID: "u1"}
	if first, second := pod.identity(), pod.identity(); first != second {
		t.Errorf("a container that was restarted is %q and was %q", second, first)
	}
	if first, second := pod.identity(), (Settings{PodName: "controller-0", PodUID: "u2"}).identity(); first == second {
		t.Errorf("two Pods of the same name, one after the other, are both %q", first)
	}
}

func TestIdentity_NoPod_IsNewForEachProcess(t *testing.T) {
	if first, second := (Settings{}).identity(), (Settings{}).identity(); first == second {
		t.Errorf("two processes are both %q", first)
	}
}
