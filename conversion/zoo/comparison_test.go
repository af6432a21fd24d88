/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package zoo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/conversion/zoo/upstream"
)

// upstreamDir is the folder of the program that calls the conversions of the other project, in the project and by default next to api.yaml.
const upstreamDir = "upstream"

// Comparison is the result of converting the same objects by assign-gen and by the other project.
type Comparison struct {
	// Objects is the number of converted objects, by kind and direction.
	Objects map[string]int
	// LostUpstream is the number of objects that the other project changes on such a way.
	LostUpstream int
	// FailedUpstream is the number of objects that the other project fails to convert.
	FailedUpstream int
	// Unexplained are examples of the differences that the API does not list.
	Unexplained []string
	// Unused are the differences that the API lists and no object has.
	Unused []string

	// stored are converted objects with annotations of the other project.
	stored []stored
}

// compare compares trips with the responses of the other project's program, and with the differences that the API lists. Without a program
// it counts the trips.
func (p *Project) compare(t testing.TB, trips io.Reader) *Comparison {
	t.Helper()
	known := p.api.loadDifferences(t)
	c := &comparer{
		Comparison: &Comparison{Objects: make(map[string]int)}, api: p.api, known: known, reported: make(map[string]bool),
		former: make(map[string]int), annotations: p.api.withFormer(t).Former(),
	}
	var program *program
	if p.api.Upstream != nil {
		program = p.startUpstream(t)
	}
	for decoder := json.NewDecoder(trips); ; {
		var trip Trip
		err := decoder.Decode(&trip)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("reading a trip: %v", err)
		}
		c.Objects[fmt.Sprintf("%s %s → %s", trip.Kind, trip.From, trip.To)]++
		if program != nil {
			c.compare(t, trip, program.convert(t, trip))
		}
	}
	c.Unused = append(unused(known.Converted), unused(known.Lost)...)
	return c.Comparison
}

// comparer compares one trip after the other.
type comparer struct {
	*Comparison
	api   *API
	known *Differences
	// reported are the places of which an example is among the unexplained ones.
	reported map[string]bool
	// former are the numbers of stored objects, by kind and direction.
	former map[string]int
	// annotations are those of the other project's conversions.
	annotations []string
}

func (c *comparer) compare(t testing.TB, trip Trip, response *upstream.Response) {
	t.Helper()
	if response.Error != "" {
		c.FailedUpstream++
		c.expectExplained(c.known.Converted, trip, "error", "converted", "assign-gen", trip.Converted, "upstream", response.Error)
		return
	}
	object, converted := c.api.visible(t, trip.Object), c.api.visible(t, trip.Converted)
	upstreamConverted, upstreamBack := c.api.visible(t, response.Converted), c.api.visible(t, response.Back)
	compare(converted, upstreamConverted, "", func(path string, ours, theirs any) {
		c.expectExplained(c.known.Converted, trip, path, "converted", "assign-gen", ours, "upstream", theirs)
	})
	lost := false
	compare(object, upstreamBack, "", func(path string, before, after any) {
		lost = true
		c.expectExplained(c.known.Lost, trip, path, "lost", "before", before, "after", after)
	})
	if lost {
		c.LostUpstream++
	}
	if way := trip.Kind + trip.From + trip.To; c.former[way] < formerEach && c.api.hasAnnotation(t, response.Converted, c.annotations) {
		c.former[way]++
		c.stored = append(c.stored, stored{
			Trip: Trip{Kind: trip.Kind, From: trip.To, To: trip.From, Object: response.Converted}, original: trip.Object, back: response.Back,
		})
	}
}

// expectExplained reports a place that no difference covers, once.
func (c *comparer) expectExplained(known []*Difference, trip Trip, path, list, nameA string, a any, nameB string, b any) {
	place := fmt.Sprintf("%s: {kind: %s, from: %s, to: %s, path: %s}", list, trip.Kind, trip.From, trip.To, path)
	if explain(known, trip, path) || c.reported[place] {
		return
	}
	c.reported[place] = true
	c.Unexplained = append(c.Unexplained, fmt.Sprintf("%s\n  %s: %s\n  %s: %s", place, nameA, brief(a), nameB, brief(b)))
}

// brief is the beginning of a value as JSON.
func brief(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	const most = 300
	if len(text) > most {
		return strings.ToValidUTF8(string(text[:most]), "") + "…"
	}
	return string(text)
}

// program is the running program of the other project.
type program struct {
	requests  *json.Encoder
	responses *json.Decoder
}

// startUpstream starts the program, which ends after the test.
func (p *Project) startUpstream(t testing.TB) *program {
	t.Helper()
	binary := filepath.Join(p.dir, upstreamDir, "convert")
	build := p.Command(t.Context(), "go", "build", "-o", binary, ".")
	build.Dir = filepath.Join(p.dir, upstreamDir)
	run(t, build)
	command := p.Command(context.WithoutCancel(t.Context()), binary)
	command.Stderr = os.Stderr
	requests, failed := command.StdinPipe()
	responses, err := command.StdoutPipe()
	if err = errors.Join(failed, err, command.Start()); err != nil {
		t.Fatalf("starting the program of the other project: %v", err)
	}
	t.Cleanup(func() {
		if err := errors.Join(requests.Close(), command.Wait()); err != nil {
			t.Errorf("the program of the other project: %v", err)
		}
	})
	return &program{requests: json.NewEncoder(requests), responses: json.NewDecoder(responses)}
}

func (p *program) convert(t testing.TB, trip Trip) *upstream.Response {
	t.Helper()
	var response upstream.Response
	err := p.requests.Encode(upstream.Request{Kind: trip.Kind, From: trip.From, To: trip.To, Object: trip.Object})
	if err = errors.Join(err, p.responses.Decode(&response)); err != nil {
		t.Fatalf("converting by the program of the other project: %v", err)
	}
	return &response
}
