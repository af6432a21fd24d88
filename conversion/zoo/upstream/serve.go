/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package upstream

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Request has an object, for conversion to another version and back.
type Request struct {
	Kind   string          `json:"kind"`
	From   string          `json:"from"`
	To     string          `json:"to"`
	Object json.RawMessage `json:"object"`
}

// Response is the converted object, and what becomes of it on the way back.
type Response struct {
	Converted json.RawMessage `json:"converted,omitempty"`
	Back      json.RawMessage `json:"back,omitempty"`
	Error     string          `json:"error,omitempty"`
}

// Convert converts an object of a kind between two versions.
type Convert func(kind, from, to string, object []byte) ([]byte, error)

// Serve answers requests from the standard input until it ends.
func Serve(convert Convert) {
	requests, responses := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var request Request
		err := requests.Decode(&request)
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil {
			err = responses.Encode(answer(convert, request))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func answer(convert Convert, request Request) (response Response) {
	defer func() {
		if reason := recover(); reason != nil {
			response.Error = fmt.Sprintf("panic: %v", reason)
		}
	}()
	converted, err := convert(request.Kind, request.From, request.To, request.Object)
	if err != nil {
		return Response{Error: err.Error()}
	}
	back, err := convert(request.Kind, request.To, request.From, converted)
	if err != nil {
		return Response{Converted: converted, Error: err.Error()}
	}
	return Response{Converted: converted, Back: back}
}
