/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package operations

import (
	"errors"

	"github.com/mallard-dev/mallard/crud"
)

// State is the result of a file.
type State string

// The states.
const (
	// Done: every operation succeeded, and no deletion is delayed.
	Done State = "Done"
	// Again: the same file may succeed later, because an object was modified concurrently or is being deleted, or the API server is not available.
	Again State = "Again"
	// Failed: an operation fails again unless something is changed.
	Failed State = "Failed"
)

// Report holds the results of the operations of a file, without contents of objects.
type Report struct {
	State      State             `json:"state"`
	DryRun     bool              `json:"dryRun,omitempty"`
	Error      string            `json:"error,omitempty"` // that belongs to no operation
	Operations []OperationReport `json:"operations"`
}

// OperationReport holds the result of one operation.
type OperationReport struct {
	Type       crud.Type    `json:"operationType"`
	crud.Ref                //nolint:embeddedstructfieldcheck // the order is that of the fields in JSON
	Outcome    crud.Outcome `json:"outcome"`
	ErrorClass crud.Class   `json:"errorClass,omitempty"`
	Error      string       `json:"error,omitempty"`
	Attempts   int          `json:"attempts"`
	Warnings   []string     `json:"warnings,omitempty"`
	Finalizers []string     `json:"finalizers,omitempty"`
}

// Report describes what crud.Client.RunPlan returned for the plan of the file.
func (f File) Report(results []crud.Result, err error) Report {
	report := Report{State: Done, DryRun: f.DryRun, Operations: make([]OperationReport, len(results))}
	for i, result := range results {
		op := f.Operations[i]
		ref := op.Target()
		if object := result.Object; object != nil {
			ref = crud.Ref{APIVersion: object.GetAPIVersion(), Kind: object.GetKind(), Namespace: object.GetNamespace(), Name: object.GetName()}
		}
		report.Operations[i] = OperationReport{
			Type: op.Type, Ref: ref, Outcome: result.Outcome, Attempts: result.Attempts, Warnings: result.Warnings, Finalizers: result.Finalizers,
		}
		if result.Outcome == crud.Deleting && !f.DryRun { // a dry run deletes nothing
			report.State = Again
		}
	}
	for _, err := range crud.Errors(err) {
		if numbered, ok := errors.AsType[*crud.NumberedError](err); ok {
			of := &report.Operations[numbered.Number-1]
			of.ErrorClass, of.Error = crud.ClassOf(err), numbered.Err.Error()
		} else {
			report.Error = err.Error()
		}
		switch {
		case !crud.Retriable(err):
			report.State = Failed
		case report.State == Done:
			report.State = Again
		}
	}
	return report
}
