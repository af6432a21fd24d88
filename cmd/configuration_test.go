/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cmd

import (
	"bytes"
	"fmt"
	"log"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/mallard-dev/mallard/pkg/apis/config"
)

// page is the reference of the keys. Its tables have the cases of these tests.
const page = "docs/reference/configuration.md"

// setting is a row of the table of a ConfigMap's keys.
type setting struct{ configMap, key, standard, valid string }

// combination is a row of the table of a ConfigMap's combinations of keys. The key with which it begins is to blame.
type combination struct {
	configMap, key     string
	accepted, rejected []map[string]string
}

// readPage returns the rows of the page by the columns of their tables.
func readPage(t *testing.T) (settings []setting, combinations []combination) {
	t.Helper()
	content, err := os.ReadFile("../" + page)
	if err != nil {
		t.Fatal(err)
	}
	configMaps, _, _ := strings.Cut(string(content), "\n## Environment variables\n")
	maps := func(cell string) (all []map[string]string) {
		for text := range strings.SplitSeq(strings.Trim(cell, "`"), "` `") {
			data := map[string]string{}
			if err := yaml.Unmarshal([]byte(text), &data); err != nil {
				t.Fatalf("%s: %s: %v", page, text, err)
			}
			all = append(all, data)
		}
		return all
	}
	var name string
	var columns []string
	for line := range strings.Lines(configMaps) {
		if title, ok := strings.CutPrefix(strings.TrimSpace(line), "### "); ok {
			name = title
		}
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) < 3 {
			columns = nil
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if columns == nil {
			columns = cells
			continue
		}
		cell := func(column string) string { return cells[slices.Index(columns, column)] }
		switch {
		case strings.HasPrefix(cells[1], "---"):
		case columns[1] == "key":
			settings = append(settings, setting{name, strings.Trim(cell("key"), "`"), strings.Trim(cell("default"), "`"), cell("valid values")})
		case columns[1] == "combination":
			key, _, _ := strings.Cut(cell("combination"), " ")
			combinations = append(combinations, combination{name, key, maps(cell("accepted")), maps(cell("rejected"))})
		}
	}
	if len(settings) == 0 || len(combinations) == 0 {
		t.Fatalf("%s has %d keys and %d combinations", page, len(settings), len(combinations))
	}
	return settings, combinations
}

// types derive, from the valid values of a key, other valid ones and invalid ones.
var types = []struct {
	valid           *regexp.Regexp
	accept, rejects func(match []string) []string
}{{
	valid: regexp.MustCompile(`^a duration of whole seconds from (\S+) to (\S+) such as (\S+)$`),
	rejects: func(m []string) []string {
		return []string{"soon", "15", "0s", m[1] + "500ms", m[3] + "1ns", (must(time.ParseDuration(m[1])) - time.Second).String(), m[2] + "1s"}
	},
}, {
	valid: regexp.MustCompile(`^a duration from (\S+) to (\S+) such as (\S+)$`),
	rejects: func(m []string) []string {
		least := must(time.ParseDuration(m[1]))
		most := must(time.ParseDuration(m[2]))
		return []string{"soon", "15", "1 s", "0s", "-" + m[1], (least - 1).String(), (most + 1).String()}
	},
}, {
	valid: regexp.MustCompile(`^a (?:whole )?number from (\d+) to (\d+) such as (\S+)$`),
	rejects: func(m []string) []string {
		least := must(strconv.Atoi(m[1]))
		most := must(strconv.Atoi(m[2]))
		values := []string{"many", "NaN", m[3] + "s", strconv.Itoa(least - 1), strconv.Itoa(most + 1)}
		if strings.HasPrefix(m[0], "a whole") {
			values = append(values, m[1]+".5")
		}
		return values
	},
}, {
	valid: regexp.MustCompile(`^an http or https URL such as (\S+)$`),
	rejects: func([]string) []string {
		return []string{
			"collector.example.com:4317", "//collector.example.com", "ftp://collector.example.com", "https://", "http:collector",
			"http://collector.example.com:0", "http://collector.example.com:65536", "http://[::1]:99999", "http://collector.example.com:http",
		}
	},
}, {
	valid: regexp.MustCompile(`^a DNS name such as (\S+)$`),
	rejects: func([]string) []string {
		return []string{"Example.com", ".example.com", "a b", "https://example.com", "example.com:80"}
	},
}, {
	valid:   regexp.MustCompile(`^the name of a namespace such as (\S+)$`),
	rejects: func([]string) []string { return []string{"a.b", "A", strings.Repeat("a", 64)} },
}, {
	valid: regexp.MustCompile(`^a template .* such as (\S+)$`),
	rejects: func([]string) []string {
		return []string{"{{.Name", "{{.Name}}.{{.Namespace}}.{{.Other}}", strings.Repeat("{{.Name}}", 32)}
	},
}, {
	valid: regexp.MustCompile(`^the JSON of a zap configuration such as (.+)$`),
	rejects: func([]string) []string {
		return []string{"{", "info", `{"lvel": "info"}`, `{"level": "verbose"}`, `{"encoding": "smoke"}`, `{"level": "info"} x`, `{"level": "info"} {}`}
	},
}, {
	// It is last, because it matches texts, too.
	valid: regexp.MustCompile(`^[a-z/]+(, [a-z/]+)* or [a-z/]+$`),
	accept: func(m []string) []string {
		return strings.Split(strings.ReplaceAll(m[0], " or ", ", "), ", ")
	},
	rejects: func([]string) []string { return []string{"yes", "on", "verbose"} },
}}

// values returns valid and invalid values of a key.
func (s setting) values(t *testing.T) (accepted, rejected []string) {
	t.Helper()
	if s.standard != "" && !strings.HasPrefix(s.standard, "[JSON]") {
		accepted = append(accepted, s.standard)
	}
	for _, typ := range types {
		if match := typ.valid.FindStringSubmatch(s.valid); match != nil {
			if typ.accept != nil {
				accepted = append(accepted, typ.accept(match)...)
			} else {
				accepted = append(accepted, match[len(match)-1])
			}
			return accepted, append(typ.rejects(match), "", " ")
		}
	}
	t.Fatalf("%s: the valid values of %s are of no type that this test knows: %q", page, s.key, s.valid)
	return nil, nil
}

// check returns the error that the webhook finds in a ConfigMap. The start of a process has to report the same one, or log it if a key is unknown.
func check(t *testing.T, name string, data map[string]string) (rejected string) {
	t.Helper()
	if parsers[name] == nil {
		t.Fatalf("%s documents %s, which no process reads", page, name)
	}
	if _, err := parse(t, name, data); err != nil {
		rejected = err.Error()
	}
	if started := start(name, data); started != rejected {
		t.Errorf("%s: %v: a process starts with %q, the webhook rejects it with %q", name, data, started, rejected)
	}
	return rejected
}

// start returns the error with which the start of a process ends, or else what it logs about the ConfigMap.
func start(name string, data map[string]string) string {
	var lines lines
	if name == config.AddressableName {
		// Each process that reads it has a store.
		cm := &corev1.ConfigMap{Data: data}
		cm.Name = name
		config.NewStore(&lines).OnConfigChanged(cm)
		return lines.String()
	}
	log.SetOutput(&lines)
	defer log.SetOutput(os.Stderr)
	if parsed, err := parseWith(atStart[name], name, data); err != nil {
		return err.Error()
	} else if reflect.ValueOf(parsed).IsNil() {
		return "nothing was parsed"
	}
	return lines.String()
}

// lines collects the part of a log that is about an invalid ConfigMap.
type lines struct{ bytes.Buffer }

func (*lines) Debugf(string, ...any) {}
func (*lines) Infof(string, ...any)  {}

func (l *lines) Warnf(format string, args ...any) { fmt.Fprintf(l, format, args...) }
func (*lines) Errorf(string, ...any)              {}
func (l *lines) Fatalf(format string, args ...any) {
	fmt.Fprintf(l, strings.ReplaceAll(format, "%q", "%v"), args...)
}

func (l *lines) String() string {
	_, message, found := strings.Cut(l.Buffer.String(), "ConfigMap ")
	if !found {
		return l.Buffer.String()
	}
	return "ConfigMap " + strings.TrimSpace(message)
}

func TestConfigurationPage_DefaultsAndExamples_AreAccepted(t *testing.T) {
	settings, combinations := readPage(t)
	for _, s := range settings {
		accepted, _ := s.values(t)
		for _, value := range accepted {
			// A key that needs others is accepted together with those of its combination.
			tries := []map[string]string{{}}
			for _, c := range combinations {
				if c.configMap == s.configMap {
					tries = append(tries, c.accepted...)
				}
			}
			var problems []string
			for _, data := range tries {
				data = maps.Clone(data)
				data[s.key] = value
				problems = append(problems, check(t, s.configMap, data))
			}
			if !slices.Contains(problems, "") {
				t.Errorf("%s: %s: %q: %s", s.configMap, s.key, value, strings.Join(problems, "\n"))
			}
		}
	}
}

func TestConfigurationPage_InvalidValues_AreRejectedWithTheRule(t *testing.T) {
	settings, _ := readPage(t)
	for _, s := range settings {
		_, rejected := s.values(t)
		for _, value := range rejected {
			want := fmt.Sprintf("ConfigMap %s: %s: must be %s, not %q", s.configMap, s.key, s.valid, value)
			if got := check(t, s.configMap, map[string]string{s.key: value}); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s: %q: got error %q, want %q", s.configMap, s.key, value, got, want)
			}
		}
	}
}

func TestConfigurationPage_MisspelledKeys_AreRejectedWithTheRightOne(t *testing.T) {
	settings, _ := readPage(t)
	for _, s := range settings {
		accepted, _ := s.values(t)
		middle := len(s.key) / 2
		for _, misspelled := range []string{
			s.key + "s", s.key[:middle] + s.key[middle+1:], strings.ReplaceAll(s.key, "-", "_"), strings.ToUpper(s.key[:1]) + s.key[1:],
			strings.TrimSuffix(s.key, ".NAME"), strings.TrimSuffix(s.key, "NAME"),
		} {
			if misspelled == s.key || strings.HasSuffix(misspelled, ".NAMEs") {
				continue
			}
			want := fmt.Sprintf("ConfigMap %s: %s: unknown key (did you mean %s?); the keys are ", s.configMap, misspelled, s.key)
			if got := check(t, s.configMap, map[string]string{misspelled: accepted[0]}); !strings.HasPrefix(got, want) {
				t.Errorf("got error %q, want %q", got, want)
			}
		}
	}
}

func TestConfigurationPage_Combinations_AreRejectedWithTheKey(t *testing.T) {
	_, combinations := readPage(t)
	for _, c := range combinations {
		for _, data := range c.accepted {
			if got := check(t, c.configMap, data); got != "" {
				t.Errorf("%s: %v: %s", c.configMap, data, got)
			}
		}
		for _, data := range c.rejected {
			if got, want := check(t, c.configMap, data), "ConfigMap "+c.configMap+": "+c.key+": must "; !strings.HasPrefix(got, want) {
				t.Errorf("%s: %v: got error %q, want one that begins with %q", c.configMap, data, got, want)
			}
		}
	}
}

// must returns the value of a number or a duration of the page. One that cannot be parsed is a mistake of the page.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func TestConfigurationPage_EachKeyOfTheCode_IsOnThePage(t *testing.T) {
	settings, _ := readPage(t)
	for name := range parsers {
		_, list, found := strings.Cut(check(t, name, map[string]string{"?": ""}), "; the keys are ")
		if !found {
			t.Errorf("%s: an unknown key is accepted", name)
		}
		for key := range strings.SplitSeq(list, ", ") {
			if !slices.ContainsFunc(settings, func(s setting) bool { return s.configMap == name && s.key == key }) {
				t.Errorf("%s lacks %s of %s", page, key, name)
			}
		}
	}
}
