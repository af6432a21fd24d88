/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package streams

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport/spdy"
)

// waitLimit is far above what anything here takes.
const waitLimit = 30 * time.Second

var usual = Limits{Creation: waitLimit, Idle: time.Hour}

// serve serves a handler, and returns when it has returned from its last request, which is the end of the test at the latest.
func serve(t *testing.T, handler http.HandlerFunc) *url.URL {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	address, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// dialer is client-go's, for connections with streams.
func dialer(t *testing.T, address *url.URL) httpstream.Dialer {
	t.Helper()
	transport, upgrader, err := spdy.RoundTripperFor(&rest.Config{Host: address.Host})
	if err != nil {
		t.Fatal(err)
	}
	return spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, address)
}

// connect opens a connection whose streams the test opens itself.
func connect(t *testing.T, address *url.URL, protocol string) httpstream.Connection {
	t.Helper()
	connection, _, err := dialer(t, address).Dial(protocol)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	return connection
}

func open(t *testing.T, connection httpstream.Connection, headers http.Header) httpstream.Stream {
	t.Helper()
	stream, err := connection.CreateStream(headers)
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

// headers are those of a stream for a connection to a port.
func headers(id string, port int, kind string) http.Header {
	h := http.Header{}
	h.Set(corev1.PortForwardRequestIDHeader, id)
	h.Set(corev1.PortHeader, strconv.Itoa(port))
	h.Set(corev1.StreamType, kind)
	return h
}

// rejected checks that a stream is not accepted. Its opener notices the end of the stream.
func rejected(t *testing.T, connection httpstream.Connection, headers http.Header) {
	t.Helper()
	if stream, err := connection.CreateStream(headers); err == nil {
		if _, err := stream.Read(make([]byte, 1)); err == nil {
			t.Errorf("a stream with %v is accepted", headers)
		}
	}
}

func within(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(waitLimit):
		t.Fatalf("%s: not within %s", what, waitLimit)
	}
}
