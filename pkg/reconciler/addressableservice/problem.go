/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"fmt"
	"time"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"
)

// recheckAfter is when a pass is repeated that met something which no watch
// reports, such as a permission that is missing.
const recheckAfter = 30 * time.Second

// problem is why a step did not reach what the spec asks for. It is what a
// condition will say, and what is to happen next:
//
//	neither err nor recheck   something that is watched has to change first
//	recheck                   no watch will tell; look again after recheckAfter
//	err                       unexpected; the queue retries with back-off
type problem struct {
	reason  string
	message string
	recheck bool
	err     error
}

func problemf(reason, format string, args ...any) *problem {
	return &problem{reason: reason, message: fmt.Sprintf(format, args...)}
}

// failed is a problem from an unexpected error.
func failed(reason string, err error) *problem {
	return &problem{reason: reason, message: err.Error(), err: err}
}

// event is what ReconcileKind returns for the problem. It is nil where a watch
// tells of the change, for then the pass is complete.
func (p *problem) event() reconciler.Event {
	switch {
	case p == nil:
		return nil
	case p.err != nil:
		return p.err
	case p.recheck:
		return controller.NewRequeueAfter(recheckAfter)
	default:
		return nil
	}
}
