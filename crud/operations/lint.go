/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package operations

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/mallard-dev/mallard/crud"
)

// Lint reports operations that are valid alone, and probably a mistake after others of the file. Objects are the same if their kinds have the
// same name; the API server is not queried for other names of a kind.
func (f File) Lint() []Fault {
	var found []Fault
	last := map[crud.Ref]int{} // the operation that created or deleted an object last
	once := -1                 // the first operation that is not repeatable
	for i, op := range f.Operations {
		addf := func(format string, args ...any) {
			at := f.positions[i]
			found = append(found, Fault{at.line, at.column, i + 1, fmt.Sprintf(format, args...)})
		}
		if once >= 0 && op.RequiredVersion() != "" {
			addf("%s requires a resourceVersion: after a conflict, the file is executed again with operation %d, which is not repeatable", op.Type, once+1)
		}
		if once < 0 && !op.Repeatable() {
			once = i
		}
		ref := op.Target()
		key := crud.Ref{Kind: strings.ToLower(ref.Kind), Namespace: ref.Namespace, Name: ref.Name}
		if before, ok := last[key]; ok && ref.Name != "" && sameGroup(ref, f.Operations[before].Target()) {
			if reason := contradiction(f.Operations[before], op); reason != "" {
				addf("%s of %s follows operation %d, %s", op.Type, ref, before+1, reason)
			}
		}
		if op.Type.Creates() || op.Type.Deletes() {
			last[key] = i
		}
	}
	return found
}

// contradiction returns the reason for which an operation contradicts the one that created or deleted its object before.
func contradiction(before, op crud.Operation) string {
	switch {
	case before.Type.Creates() && op.Type.Deletes():
		return "which creates the object"
	case before.Type.Creates() && op.Type.Creates():
		return "which writes the whole object, too"
	case !before.Type.Deletes() || op.Type.Deletes() || op.OnTerminating == crud.WaitUntilGone:
		return ""
	case !op.Type.Creates():
		return "which deletes the object"
	case before.Wait == 0:
		return "which deletes the object without waiting: set wait there"
	}
	return ""
}

// sameGroup reports whether the kinds of two references may be the same. An operation without apiVersion may mean any group.
func sameGroup(a, b crud.Ref) bool {
	return a.APIVersion == "" || b.APIVersion == "" ||
		schema.FromAPIVersionAndKind(a.APIVersion, "").Group == schema.FromAPIVersionAndKind(b.APIVersion, "").Group
}
