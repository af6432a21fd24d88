/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// Recover turns a panic into an error that names the type of the object and where the panic was. Without it the
// connection to the API server would break, and users would see no more than EOF. It must be deferred itself:
//
//	defer conversion.Recover(&err, in)
func Recover(err *error, object any) {
	reason := recover()
	if reason == nil {
		return
	}
	count(panics)
	if cause, ok := reason.(error); ok {
		*err = fmt.Errorf("converting %T: panic in %s: %w", object, origin(), cause)
		return
	}
	*err = fmt.Errorf("converting %T: panic in %s: %v", object, origin(), reason)
}

// origin is the function that panicked, which during a panic is still on the stack: the one that called the runtime.
func origin() string {
	const deepest = 64
	var counters [deepest]uintptr
	frames := runtime.CallersFrames(counters[:runtime.Callers(1, counters[:])])
	panicking := false
	for {
		frame, more := frames.Next()
		if strings.HasPrefix(frame.Function, "runtime.") {
			panicking = true
		} else if panicking {
			return fmt.Sprintf("%s (%s:%d)", frame.Function, filepath.Base(frame.File), frame.Line)
		}
		if !more {
			return "an unknown place"
		}
	}
}
