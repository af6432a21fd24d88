//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package faults

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

const (
	// failing is the time for which requests fail: long enough for the back-off to show.
	failing = 10 * time.Second
	// mostTries is the maximum number of times that a failing request may be sent in that time: twice a second, and what an event causes in between.
	mostTries = 2 * int(failing/time.Second)
)

// failures are the ways in which a request fails.
var failures = map[string]func(*harness.Proxy, harness.Match) func(){
	"Forbidden":          answered(http.StatusForbidden),
	"NotFound":           answered(http.StatusNotFound),
	"Conflict":           answered(http.StatusConflict),
	"TooManyRequests":    answered(http.StatusTooManyRequests),
	"InternalError":      answered(http.StatusInternalServerError),
	"ServiceUnavailable": answered(http.StatusServiceUnavailable),
	"Timeout":            answered(http.StatusGatewayTimeout),
	"Lost":               (*harness.Proxy).Lose,
	"Undecodable":        (*harness.Proxy).Garble,
}

func answered(code int) func(*harness.Proxy, harness.Match) func() {
	return func(p *harness.Proxy, m harness.Match) func() { return p.Fail(m, code) }
}

// TestFailedRequest_OfAnyKind_IsHarmless makes each request of each reconciler fail in each way, all at the same time, each in a separate
// namespace. While they fail, nothing that worked stops working and no request is sent more than twice a second; afterwards the state
// converges within one back-off.
func TestFailedRequest_OfAnyKind_IsHarmless(t *testing.T) {
	for name, options := range map[string][]harness.Option{"WithWebhook": nil, "WithoutWebhook": {harness.WithoutWebhooks("webhook")}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			failEverything(t, harness.Own(t, append(options, harness.WithProxy("controller"))...))
		})
	}
}

type failure struct {
	*scene
	request

	name, way string
	sent      func() int
	undo      func()
}

func failEverything(t *testing.T, env *harness.Env) {
	t.Helper()
	proxy := env.Proxy(t, "controller")
	var all []*failure
	for _, r := range requests {
		for way := range failures {
			if way != r.truthful {
				all = append(all, &failure{scene: newScene(t, env), request: r, name: r.name + "_" + way, way: way})
			}
		}
	}
	for _, f := range all {
		f.working(t)
	}
	for _, f := range all {
		match := f.match(f.scene)
		f.sent = proxy.Count(match)
		f.undo = failures[f.way](proxy, match)
		f.provoke(t, f.scene)
	}
	for _, f := range all {
		harness.Eventually(t, f.name+": the request is sent", func(context.Context) error {
			if f.sent() == 0 && !f.queued {
				return errors.New("it has not been sent")
			}
			return nil
		})
	}
	start := make(map[*failure]int, len(all))
	for _, f := range all {
		start[f] = f.sent()
	}
	timer := time.NewTimer(failing)
	defer timer.Stop()
	<-timer.C
	for _, f := range all {
		if tries := f.sent() - start[f]; tries > mostTries {
			t.Errorf("%s: %d requests in %v, want at most %d", f.name, tries, failing, mostTries)
		}
		if err := f.works(t.Context()); err != nil && !f.final {
			t.Errorf("%s: while requests failed, %v", f.name, err)
		}
		f.undo()
	}
	for _, f := range all {
		t.Run(f.name, func(t *testing.T) { f.right(t, f.scene) })
	}
}
