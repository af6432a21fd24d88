/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package streams

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/apimachinery/pkg/util/httpstream/spdy"
)

// Limits bound how long a client may take.
type Limits struct {
	// Creation is the time in which it opens the streams that belong together.
	Creation time.Duration
	// Idle is the time after which a connection without any data ends.
	Idle time.Duration
}

// upgrade makes a connection with streams of a request, and calls end when the connection has ended. Without a connection
// the request has been answered. Each stream that the client opens is shown to accept, which rejects it with an error.
func upgrade(
	w http.ResponseWriter, req *http.Request, protocol string, idle time.Duration, end context.CancelFunc, accept httpstream.NewStreamHandler,
) (httpstream.Connection, bool) {
	if req.Header.Get(httpstream.HeaderProtocolVersion) == "" {
		// Kubernetes 1.34 leaves a request without the header unanswered.
		http.Error(w, fmt.Sprintf("header %s must name the protocol, such as %s", httpstream.HeaderProtocolVersion, protocol), http.StatusBadRequest)
		return nil, false
	}
	if _, err := httpstream.Handshake(req, w, []string{protocol}); err != nil {
		return nil, false
	}
	connection := spdy.NewResponseUpgrader().UpgradeResponse(w, req, accept)
	if connection == nil {
		return nil, false
	}
	connection.SetIdleTimeout(idle)
	go func() {
		<-connection.CloseChan()
		end()
	}()
	return connection, true
}

// opening is a stream that the client has opened.
type opening struct {
	stream httpstream.Stream
	// replied is closed at once when the client has received the acceptance. Before that nothing must be sent on it.
	replied <-chan struct{}
}

// place holds the stream of one type.
type place struct {
	taken atomic.Bool
	// opened delivers the stream, which it has room for.
	opened chan opening
}

// group waits for streams that belong together, one of each type: those of one command, or of one connection to a port.
type group map[string]*place

func newGroup(types ...string) group {
	g := make(group, len(types))
	for _, t := range types {
		g[t] = &place{opened: make(chan opening, 1)}
	}
	return g
}

// accept takes a stream into the group, or returns an error if it does not belong there.
func (g group) accept(stream httpstream.Stream, replied <-chan struct{}) error {
	name := stream.Headers().Get(corev1.StreamType)
	expected, ok := g[name]
	if !ok {
		return fmt.Errorf("header %s: a stream of type %q was not requested", corev1.StreamType, name)
	}
	if expected.taken.Swap(true) {
		return fmt.Errorf("header %s: there is already a stream of type %q", corev1.StreamType, name)
	}
	expected.opened <- opening{stream: stream, replied: replied}
	return nil
}

// collect returns the streams by their types when all are open, and those that are when the time is over.
func (g group) collect(ctx context.Context, limit time.Duration) (map[string]httpstream.Stream, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it was not opened within %s", limit))
	defer cancel()
	streams := make(map[string]httpstream.Stream, len(g))
	var missing error
	for name, expected := range g {
		opened, err := expect(ctx, expected.opened)
		if err != nil {
			missing = fmt.Errorf("stream %s: %w", name, err)
			continue
		}
		streams[name] = opened
	}
	return streams, missing
}

func expect(ctx context.Context, expected <-chan opening) (httpstream.Stream, error) {
	var opened opening
	select {
	case opened = <-expected:
	case <-ctx.Done():
		select {
		case opened = <-expected:
		default:
			return nil, context.Cause(ctx)
		}
	}
	<-opened.replied
	return opened.stream, nil
}

// finish ends a stream in both directions. The client gets all that was written to it; what it may still send is dropped.
func finish(stream httpstream.Stream) {
	// An error means that the client has disconnected, or closed it before.
	_ = stream.Close()
	_ = stream.Reset()
}
