/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package child

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"syscall"
	"time"

	"github.com/itchyny/gojq"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

// mostCopied bounds the bytes that a JSON patch may copy, as the API server does.
const mostCopied = 3 << 20

type request struct {
	Program string          `json:"program,omitempty"`
	Patch   jsonpatch.Patch `json:"patch,omitempty"`
	// Input is that of the program, or the document. A program without input is only compiled.
	Input json.RawMessage `json:"input,omitempty"`
	// SkipMissing leaves out removals of paths that do not exist.
	SkipMissing bool `json:"skipMissing,omitempty"`

	what string // in errors
}

type response struct {
	Patched

	Results []json.RawMessage
	// Error has no values of the input.
	Error string
	// Used is the CPU time, and the timeout if that has passed.
	Used time.Duration
}

// Patched is the result of a JSON patch.
type Patched struct {
	// Document is the one after the patch, or before the operation that failed.
	Document json.RawMessage
	// Reason describes the problem of the operation with the index Failed. It is empty if all could be executed.
	Reason string
	Failed int
}

// Compile returns an error if a jq program is wrong.
func Compile(program string) error {
	_, err := Run(context.Background(), program, json.RawMessage(nil))
	return err
}

// Run returns the results of a jq program as JSON, and only compiles it without input. The error has no values of the input.
func Run(ctx context.Context, program string, input any) ([]json.RawMessage, error) {
	encoded, isEncoded := input.(json.RawMessage)
	if !isEncoded {
		var err error
		if encoded, err = json.Marshal(input); err != nil {
			return nil, fmt.Errorf("encoding the input of the jq program: %w", err)
		}
	}
	answer, err := request{what: "the jq program", Program: program, Input: encoded}.answer(ctx)
	return answer.Results, err
}

// Patch executes a JSON patch.
func Patch(ctx context.Context, document []byte, patch jsonpatch.Patch, skipMissing bool) (Patched, error) {
	answer, err := request{what: "the JSON patch", Patch: patch, Input: document, SkipMissing: skipMissing}.answer(ctx)
	return answer.Patched, err
}

func (r request) answer(ctx context.Context) (response, error) {
	answer, err := r.do(ctx)
	if err == nil && answer.Error != "" {
		err = errors.New(answer.Error)
	}
	return answer, err
}

func (r request) serve() (answer response) {
	before := used()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	defer func() {
		if recover() != nil { // with values of the input
			answer = response{Error: "the library that executes it panicked"}
		}
		if answer.Used = used() - before; ctx.Err() != nil {
			answer.Used = timeout
		}
	}()
	var err error
	if r.Patch != nil {
		answer.Patched = r.patch()
	} else {
		answer.Results, err = r.run(ctx)
	}
	if err != nil {
		answer.Error = err.Error()
	}
	return answer
}

// used returns the CPU time of this process.
func used() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage) // it fails for wrong arguments only
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// patch executes the operations at once, and one after the other if one of them fails, since the library does not return which.
func (r request) patch() (p Patched) {
	jsonpatch.AccumulatedCopySizeLimit = mostCopied // as the API server does
	document, err := apply(r.Patch, r.Input)
	if err == nil {
		return Patched{Document: document}
	}
	p.Document = bytes.Clone(r.Input)
	for i, operation := range r.Patch {
		next, err := apply(jsonpatch.Patch{operation}, p.Document)
		if err == nil && len(next) > len(r.Input)+2*mostCopied {
			err = fmt.Errorf("the document has %d bytes", len(next))
		}
		switch {
		case err == nil:
			p.Document = next
		case operation.Kind() != "remove" || !r.SkipMissing:
			p.Failed, p.Reason = i, err.Error()
			return p
		}
	}
	return p
}

// apply executes a patch. The library panics for some tests of lists.
func apply(patch jsonpatch.Patch, document []byte) (after []byte, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("the value is another one")
		}
	}()
	return patch.Apply(document) //nolint:wrapcheck // with the index of the operation
}

// run executes a program, which has no access to files, to environment variables or to other inputs.
func (r request) run(ctx context.Context) (results []json.RawMessage, _ error) {
	code, err := compile(r.Program)
	if err != nil || len(r.Input) == 0 {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(r.Input))
	decoder.UseNumber()
	var input any
	if err := decoder.Decode(&input); err != nil {
		return nil, fmt.Errorf("decoding the input of the jq program: %w", err)
	}
	iter, room := code.RunWithContext(ctx, input), mostOfResults
	for {
		result, ok := iter.Next()
		if !ok {
			return results, nil
		}
		if err, isError := result.(error); isError {
			if ctx.Err() != nil {
				return nil, fmt.Errorf("the jq program ran for %v", timeout)
			}
			return nil, withoutValues(err)
		}
		if err := check(result, &room); err != nil {
			return nil, err
		}
		encoded, err := gojq.Marshal(result)
		if err != nil {
			return nil, errors.New("the jq program returned what JSON does not have")
		}
		results = append(results, encoded)
	}
}

// check returns an error for what JSON does not have or Kubernetes would round. A program that nests a value into itself returns little and
// describes much: room is what is left of the limit.
func check(value any, room *int) error {
	*room--
	if text, ok := value.(string); ok {
		*room -= len(text)
	}
	if *room < 0 {
		return fmt.Errorf("the jq program returned more than %d bytes, which is more than the API server accepts", mostOfResults)
	}
	switch value := value.(type) {
	case map[string]any:
		for key, field := range value {
			*room -= len(key)
			if err := check(field, room); err != nil {
				return err
			}
		}
	case []any:
		for _, item := range value {
			if err := check(item, room); err != nil {
				return err
			}
		}
	case float64:
		if math.IsNaN(value) || math.IsInf(value, 0) {
			return errors.New("the jq program returned a number that JSON does not have")
		}
	case *big.Int:
		return errors.New("the jq program returned an integer of more than 64 bits")
	}
	return nil
}
