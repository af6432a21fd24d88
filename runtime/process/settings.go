/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package process

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/kelseyhightower/envconfig"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Settings are the environment variables that every binary reads. Some of them
// are read by knative.dev/pkg as well; they are here so that a bad one stops the
// start with a message that names it, and so that --help lists all.
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

// Port is a TCP port that can be listened on.
type Port int

// Decode implements envconfig.Decoder.
func (p *Port) Decode(value string) error {
	return decodeNumber(p, value, 65535, "must be a port number from 1 to 65535")
}

// Count is a number of things of which there must be at least one.
type Count int

// Decode implements envconfig.Decoder.
func (c *Count) Decode(value string) error {
	return decodeNumber(c, value, 1000, "must be a whole number from 1 to 1000")
}

func decodeNumber[T ~int](target *T, value string, most int, rule string) error {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > most {
		return errors.New(rule)
	}
	*target = T(n)
	return nil
}

// Name is the name of an object.
type Name string

// Decode implements envconfig.Decoder.
func (n *Name) Decode(value string) error {
	return decodeText(n, value, validation.IsDNS1123Subdomain(value), "must be the name of an object: lower case letters, digits, - and ., up to 253")
}

// Label is a name that is one part of a host name, as those of namespaces and
// Services are.
type Label string

// Decode implements envconfig.Decoder.
func (l *Label) Decode(value string) error {
	return decodeText(l, value, validation.IsDNS1123Label(value), "must be a name of lower case letters, digits and -, up to 63")
}

// Scope is the name of a namespace, or empty for all.
type Scope string

// Decode implements envconfig.Decoder.
func (s *Scope) Decode(value string) error {
	var faults []string
	if value != "" {
		faults = validation.IsDNS1123Label(value)
	}
	return decodeText(s, value, faults, "must be the name of one namespace (lower case letters, digits and -, up to 63), or empty for all")
}

func decodeText[T ~string](target *T, value string, faults []string, rule string) error {
	if len(faults) > 0 {
		return errors.New(rule)
	}
	*target = T(value)
	return nil
}

// Duration is a time that something may take.
type Duration time.Duration

// Decode implements envconfig.Decoder.
func (d *Duration) Decode(value string) error {
	parsed, err := time.ParseDuration(value)
	if err != nil || parsed < 0 {
		return errors.New("must be a duration with its unit such as 5s, and not negative")
	}
	*d = Duration(parsed)
	return nil
}

// MustLoad fills settings, a pointer to a struct with envconfig tags, from the
// environment, makes --help list them, and answers --version. A binary calls it first. On a bad value
// it prints one line that names the variable, and exits with 1.
func MustLoad(component, summary string, settings any) {
	flag.Usage = func() { usage(flag.CommandLine.Output(), component, summary, settings) }
	versionOnly(component)
	// With --help nothing is started, so nothing has to be set.
	if slices.ContainsFunc(os.Args[1:], isHelp) {
		return
	}
	if err := load(settings); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", component, err)
		os.Exit(1)
	}
}

func isHelp(arg string) bool {
	return slices.Contains([]string{"-h", "--h", "-help", "--help"}, arg)
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

const usageFormat = `{{range .}}  {{usage_key .}}	{{usage_description .}}` +
	`{{if usage_default .}} (default {{usage_default .}}){{else if usage_required .}} (required){{end}}
{{end}}`

func usage(out io.Writer, component, summary string, settings any) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\nEnvironment variables:\n", component, summary)
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	err := envconfig.Usagef("", settings, table, usageFormat)
	if err = errors.Join(err, table.Flush()); err != nil {
		fmt.Fprintf(&b, "  %v\n", err)
	}
	fmt.Fprint(out, b.String(), "\nFlags:\n")
	flag.PrintDefaults()
}
