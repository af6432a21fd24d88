/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package streams

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/httpstream"
)

// portForwardProtocol is the name of the only protocol for connections to ports.
const portForwardProtocol = "portforward.k8s.io"

// Dial connects to a port.
type Dial func(ctx context.Context, port int32) (net.Conn, error)

// ServePortForward answers a request to connect to ports, as often as the client wants on the one connection that the
// request becomes. It returns when the client has disconnected, or the request's context has ended.
func ServePortForward(w http.ResponseWriter, req *http.Request, limits Limits, dial Dial) {
	ctx, cancel := context.WithCancel(req.Context())
	defer cancel()
	f := &forwarder{limits: limits, dial: dial, requests: make(chan *request), waiting: map[string]*request{}}
	accept := func(stream httpstream.Stream, replied <-chan struct{}) error { return f.accept(ctx, stream, replied) }
	connection, ok := upgrade(w, req, portForwardProtocol, limits.Idle, cancel, accept)
	if !ok {
		return
	}
	var running sync.WaitGroup
	defer running.Wait()
	defer func() { _ = connection.Close() }()
	for {
		select {
		case r := <-f.requests:
			running.Go(func() { f.serve(ctx, connection, r) })
		case <-ctx.Done():
			return
		}
	}
}

// request is one connection to a port, which consists of a stream for data and one for errors.
type request struct {
	id      string
	port    int32
	streams group
}

type forwarder struct {
	limits   Limits
	dial     Dial
	requests chan *request

	mu sync.Mutex
	// waiting are the requests of which not all streams are known, by their ids.
	waiting map[string]*request
}

// accept takes a stream, the first of which begins a request.
func (f *forwarder) accept(ctx context.Context, stream httpstream.Stream, replied <-chan struct{}) error {
	headers := stream.Headers()
	id := headers.Get(corev1.PortForwardRequestIDHeader)
	if id == "" {
		return fmt.Errorf("header %s: must say which streams belong together", corev1.PortForwardRequestIDHeader)
	}
	port, err := strconv.ParseUint(headers.Get(corev1.PortHeader), 10, 16)
	if err != nil || port == 0 {
		return fmt.Errorf("header %s: %q: must be a port from 1 to 65535", corev1.PortHeader, headers.Get(corev1.PortHeader))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if r, ok := f.waiting[id]; ok {
		return r.streams.accept(stream, replied)
	}
	r := &request{id: id, port: int32(port), streams: newGroup(corev1.StreamTypeData, corev1.StreamTypeError)}
	if err := r.streams.accept(stream, replied); err != nil {
		return err
	}
	f.waiting[id] = r
	select {
	case f.requests <- r:
		return nil
	case <-ctx.Done():
		return errors.New("the connection ends")
	}
}

func (f *forwarder) serve(ctx context.Context, connection httpstream.Connection, r *request) {
	streams, err := r.streams.collect(ctx, f.limits.Creation)
	f.mu.Lock()
	delete(f.waiting, r.id)
	f.mu.Unlock()
	if err == nil {
		err = f.forward(ctx, r.port, streams[corev1.StreamTypeData])
	}
	if failure, ok := streams[corev1.StreamTypeError]; ok && err != nil {
		fmt.Fprint(failure, err)
	}
	for _, stream := range streams {
		finish(stream)
		connection.RemoveStreams(stream)
	}
}

// forward copies until the program at the port has sent everything, or the context has ended.
func (f *forwarder) forward(ctx context.Context, port int32, stream httpstream.Stream) error {
	connection, err := f.dial(ctx, port)
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close() }()
	defer context.AfterFunc(ctx, func() { _ = connection.Close() })()
	go func() {
		_, _ = io.Copy(connection, stream)
		// The client has sent everything; the response may follow.
		if half, ok := connection.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		}
	}()
	// How a connection ends, by one side or the other, is between the two; the client sees that it has ended.
	_, _ = io.Copy(stream, connection)
	return nil
}
