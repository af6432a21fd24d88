/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/operations"
)

func TestLines_OperationTakesLong_IsReportedAfterASecondAndEvery10Seconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var errs bytes.Buffer
		op := crud.EnsureDeleted(crud.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "a"})
		plan := crud.Plan{Operations: []crud.Operation{op}}
		l := &lines{program: &program{errs: &errs}, file: namedFile{operations.File{Plan: plan}, "a.yaml"}}
		l.show(executing, 0)
		go l.report(t.Context())
		line := "crud: a.yaml: executing operation 1 of 1: EnsureDeleted\n"
		began, want := time.Now(), ""
		for _, at := range []time.Duration{time.Second, 11 * time.Second, 21 * time.Second} {
			<-time.After(time.Until(began.Add(at - 1)))
			if synctest.Wait(); errs.String() != want {
				t.Errorf("before %s, the output is %q, want %q", at, &errs, want)
			}
			<-time.After(1)
			want += line
			if synctest.Wait(); errs.String() != want {
				t.Errorf("after %s, the output is %q, want %q", at, &errs, want)
			}
		}
	})
}
