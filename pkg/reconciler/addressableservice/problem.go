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

// A pass that met something which no watch reports, such as a permission that is
// missing, is repeated within these bounds.
const (
	firstRecheck = time.Second
	lastRecheck  = 30 * time.Second
)

// recheckAfter is when to look again at a problem that has lasted for a while: after
// as long once more. A permission that came together with the kind is in force in
// a moment, and one that nobody grants is not to be asked for all the time.
func recheckAfter(lasted time.Duration) time.Duration {
	return min(max(lasted, firstRecheck), lastRecheck)
}

// problem is why a step did not reach what the spec asks for. It is what a
// condition will say, and what is to happen next:
//
//	neither err nor recheck   something that is watched has to change first
//	recheck                   no watch will tell; look again after that time
//	err                       unexpected; the queue retries with back-off
type problem struct {
	reason  string
	message string
	recheck time.Duration
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
	case p.recheck > 0:
		return controller.NewRequeueAfter(p.recheck)
	default:
		return nil
	}
}
