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
}

// Compare compares trips with the responses of the other project's program, and with the differences that the API lists. Without a program
// it counts the trips.
func (p *Project) Compare(ctx context.Context, trips io.Reader) (*Comparison, error) {
	known, err := p.api.LoadDifferences()
	if err != nil {
		return nil, err
	}
	program := &program{stop: func() error { return nil }}
	if p.api.Upstream != nil {
		if program, err = p.startUpstream(ctx); err != nil {
			return nil, err
		}
	}
	c := &comparer{Comparison: &Comparison{Objects: make(map[string]int)}, api: p.api, known: known, reported: make(map[string]bool)}
	for decoder := json.NewDecoder(trips); ; {
		var trip Trip
		err := decoder.Decode(&trip)
		if errors.Is(err, io.EOF) {
			break
		}
		c.Objects[fmt.Sprintf("%s %s → %s", trip.Kind, trip.From, trip.To)]++
		if err == nil && p.api.Upstream != nil {
			err = c.compare(trip, program)
		}
		if err != nil {
			return nil, errors.Join(err, program.stop())
		}
	}
	c.Unused = append(unused(known.Converted), unused(known.Lost)...)
	return c.Comparison, program.stop()
}

// comparer compares one trip after the other.
type comparer struct {
	*Comparison
	api   *API
	known *Differences
	// reported are the places of which an example is among the unexplained ones.
	reported map[string]bool
}

func (c *comparer) compare(trip Trip, program *program) error {
	response, err := program.convert(trip)
	if err != nil {
		return err
	}
	if response.Error != "" {
		c.FailedUpstream++
		c.expectExplained(c.known.Converted, trip, "error", "converted", "assign-gen", trip.Converted, "upstream", response.Error)
		return nil
	}
	objects := make([]map[string]any, 0, 4)
	for _, text := range []json.RawMessage{trip.Object, trip.Converted, response.Converted, response.Back} {
		object, err := c.api.visible(text)
		if err != nil {
			return err
		}
		objects = append(objects, object)
	}
	object, converted, upstreamConverted, upstreamBack := objects[0], objects[1], objects[2], objects[3]
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
	return nil
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
	stop      func() error
}

func (p *Project) startUpstream(ctx context.Context) (*program, error) {
	binary := filepath.Join(p.dir, upstreamDir, "convert")
	build := p.Command(ctx, "go", "build", "-o", binary, ".")
	build.Dir = filepath.Join(p.dir, upstreamDir)
	if err := run(build); err != nil {
		return nil, err
	}
	command := p.Command(ctx, binary)
	command.Stderr = os.Stderr
	requests, err := command.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("connecting the program of the other project: %w", err)
	}
	responses, err := command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("connecting the program of the other project: %w", err)
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("starting the program of the other project: %w", err)
	}
	stop := func() error { return errors.Join(requests.Close(), command.Wait()) }
	return &program{requests: json.NewEncoder(requests), responses: json.NewDecoder(responses), stop: stop}, nil
}

func (p *program) convert(trip Trip) (*upstream.Response, error) {
	if err := p.requests.Encode(upstream.Request{Kind: trip.Kind, From: trip.From, To: trip.To, Object: trip.Object}); err != nil {
		return nil, fmt.Errorf("sending an object to the program of the other project: %w", err)
	}
	response := &upstream.Response{}
	if err := p.responses.Decode(response); err != nil {
		return nil, fmt.Errorf("reading the response of the program of the other project: %w", err)
	}
	return response, nil
}
