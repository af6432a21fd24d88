/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package process

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/kelseyhightower/envconfig"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Settings are the environment variables that every binary reads. Some of them are read by knative.dev/pkg as well; they are here so that a
// bad one stops the start with a message that names it, and so that --help lists all.
type Settings struct {
	Namespace      Label  `envconfig:"SYSTEM_NAMESPACE" required:"true" desc:"namespace of the operator's ConfigMaps, leases and secret"`
	PodName        string `envconfig:"POD_NAME" desc:"name of the pod, which metrics, traces and leases contain"`
	PodUID         string `envconfig:"POD_UID" desc:"UID of the pod, by which a restarted container knows its own lease"`
	WatchNamespace Scope  `envconfig:"WATCH_NAMESPACE" desc:"the only namespace whose objects are watched; empty for all namespaces"`
	HealthPort     Port   `envconfig:"HEALTH_PORT" default:"8080" desc:"port of /health and /readiness"`
	ProfilingPort  Port   `envconfig:"PROFILING_PORT" default:"8008" desc:"port of the profiler, which the ConfigMap config-observability turns on"`
	MetricsPort    Port   `envconfig:"METRICS_PROMETHEUS_PORT" default:"9090" desc:"port of /metrics, which the ConfigMap config-observability turns on"`
	// The Go runtime reads it.
	MemoryLimit string `envconfig:"GOMEMLIMIT" desc:"memory near which the Go runtime collects garbage more often, such as 256MiB"`
}

// identity returns the holder of the process's leases. A restarted container has that of its Pod; without a UID, as when a binary is run by
// hand, each process has its own.
func (s Settings) identity() string {
	return s.PodName + "_" + cmp.Or(s.PodUID, string(uuid.NewUUID()))
}

// Port is a TCP port that can be listened on.
type Port int

// Decode implements envconfig.Decoder.
func (p *Port) Decode(value string) error {
	n, err := strconv.ParseUint(value, 10, 16)
	return decode(p, Port(n), err == nil && n > 0, "must be a port number from 1 to 65535")
}

// Count is a number of things of which there must be at least one.
type Count int

// Decode implements envconfig.Decoder.
func (c *Count) Decode(value string) error {
	n, err := strconv.Atoi(value)
	return decode(c, Count(n), err == nil && n >= 1 && n <= 1000, "must be a whole number from 1 to 1000")
}

// Name is the name of an object.
type Name string

// Decode implements envconfig.Decoder.
func (n *Name) Decode(value string) error {
	return decode(n, Name(value), validation.IsDNS1123Subdomain(value) == nil,
		"must be the name of an object: lower case letters, digits, - and ., up to 253")
}

// Label is a name that is one part of a host name, as those of namespaces and Services are.
type Label string

// Decode implements envconfig.Decoder.
func (l *Label) Decode(value string) error {
	return decode(l, Label(value), validation.IsDNS1123Label(value) == nil, "must be a name of lower case letters, digits and -, up to 63")
}

// Scope is the name of a namespace, or empty for all.
type Scope string

// Decode implements envconfig.Decoder.
func (s *Scope) Decode(value string) error {
	return decode(s, Scope(value), value == "" || validation.IsDNS1123Label(value) == nil,
		"must be the name of one namespace (lower case letters, digits and -, up to 63), or empty for all")
}

// Duration is a time that something may take.
type Duration time.Duration

// Decode implements envconfig.Decoder.
func (d *Duration) Decode(value string) error {
	parsed, err := time.ParseDuration(value)
	return decode(d, Duration(parsed), err == nil && parsed >= 0, "must be a duration with its unit such as 5s, and not negative")
}

// decode sets a setting to a value that is valid by a rule.
func decode[T any](setting *T, value T, isValid bool, rule string) error {
	if !isValid {
		return errors.New(rule)
	}
	*setting = value
	return nil
}

// version is that of the release. The linker writes it here when make release builds the images.
var version = "devel"

// MustLoad fills settings, a pointer to a struct with envconfig tags, from the environment, makes --help list them, and answers --version. A
// binary calls it first. On a bad value it prints one line that names the variable, and exits with 1.
func MustLoad(component, summary string, settings any) {
	flag.Usage = func() { usage(flag.CommandLine.Output(), component, summary, settings) }
	flag.Bool("version", false, "print the version and exit")
	if isAsked(os.Args[1:], "version") {
		fmt.Fprintln(os.Stdout, component, version)
		os.Exit(0)
	}
	// With --help nothing is started, so nothing has to be set.
	if isAsked(os.Args[1:], "h", "help") {
		return
	}
	if err := load(settings); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", component, err)
		os.Exit(1)
	}
}

// isAsked reports whether arguments contain one of these flags.
func isAsked(args []string, flags ...string) bool {
	return slices.ContainsFunc(flags, func(name string) bool {
		return slices.Contains(args, "-"+name) || slices.Contains(args, "--"+name)
	})
}

func load(settings any) error {
	err := envconfig.Process("", settings)
	if bad, ok := errors.AsType[*envconfig.ParseError](err); ok {
		return fmt.Errorf("environment variable %s=%q: %w", bad.KeyName, bad.Value, bad.Err)
	}
	if err != nil {
		// The error of envconfig for a missing one names it already.
		return fmt.Errorf("environment variable: %w", err)
	}
	return nil
}

// usage does without the usage function of envconfig, whose template would keep the linker from leaving out methods that nothing calls
// (docs/adr/0011-dead-code-elimination.md).
func usage(out io.Writer, component, summary string, settings any) {
	fmt.Fprintf(out, "%s: %s\n\nEnvironment variables:\n", component, summary)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, field := range reflect.VisibleFields(reflect.TypeOf(settings).Elem()) {
		variable, ok := field.Tag.Lookup("envconfig")
		if !ok {
			continue
		}
		fmt.Fprintf(table, "  %s\t%s", variable, field.Tag.Get("desc"))
		if value := field.Tag.Get("default"); value != "" {
			fmt.Fprintf(table, " (default %s)", value)
		} else if field.Tag.Get("required") == "true" {
			fmt.Fprint(table, " (required)")
		}
		fmt.Fprintln(table)
	}
	if err := table.Flush(); err != nil {
		fmt.Fprintf(out, "  %v\n", err)
	}
	fmt.Fprint(out, "\nFlags:\n")
	flag.PrintDefaults()
}
