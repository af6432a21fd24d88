/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package streams

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/portforward"
)

// program serves connections with a function, and returns how to connect to it.
func program(t *testing.T, answer func(net.Conn)) Dial {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	t.Cleanup(func() {
		_ = listener.Close()
		running.Wait()
	})
	running.Go(func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				defer func() { _ = connection.Close() }()
				answer(connection)
			})
		}
	})
	return func(ctx context.Context, port int32) (net.Conn, error) {
		if port != 8080 {
			return nil, fmt.Errorf("port %d is not served", port)
		}
		return new(net.Dialer).DialContext(ctx, "tcp", listener.Addr().String())
	}
}

func servePorts(t *testing.T, limits Limits, dial Dial) *url.URL {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, req *http.Request) { ServePortForward(w, req, limits, dial) })
}

// forward forwards a free port with client-go until the test ends, and returns its address.
func forward(t *testing.T, dial Dial) string {
	t.Helper()
	address := servePorts(t, usual, dial)
	stop, ready, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	forwarder, err := portforward.NewOnAddresses(dialer(t, address), []string{"127.0.0.1"}, []string{":8080"}, stop, ready, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	go func() { ended <- forwarder.ForwardPorts() }()
	t.Cleanup(func() {
		close(stop)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	within(t, "the port to be forwarded", ready)
	ports, err := forwarder.GetPorts()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", ports[0].Local)
}

// TestPortForward_ConcurrentConnections_AreCarried has the program answer only what the client has sent to the end, on
// several connections at a time, and then on more.
func TestPortForward_ConcurrentConnections_AreCarried(t *testing.T) {
	address := forward(t, program(t, func(connection net.Conn) {
		data, err := io.ReadAll(connection)
		if err != nil {
			t.Error(err)
		}
		_, _ = connection.Write(data)
	}))
	for range 3 {
		var running sync.WaitGroup
		for i := range 4 {
			running.Go(func() {
				// More than fits into any buffer on the way.
				data := bytes.Repeat([]byte{byte('a' + i)}, 1<<20)
				connection, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
				if err != nil {
					t.Error(err)
					return
				}
				defer func() { _ = connection.Close() }()
				if _, err := connection.Write(data); err != nil {
					t.Error(err)
				}
				if err := connection.(*net.TCPConn).CloseWrite(); err != nil {
					t.Error(err)
				}
				if got, err := io.ReadAll(connection); err != nil || !bytes.Equal(got, data) {
					t.Errorf("of %d bytes %d were returned: %v", len(data), len(got), err)
				}
			})
		}
		running.Wait()
	}
}

// TestPortForward_ProgramClosesTheConnection_Ends has the program end the connection while the client still could send.
func TestPortForward_ProgramClosesTheConnection_Ends(t *testing.T) {
	address := forward(t, program(t, func(connection net.Conn) { fmt.Fprint(connection, "bye") }))
	connection, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = connection.Close() }()
	if got, err := io.ReadAll(connection); err != nil || string(got) != "bye" {
		t.Errorf("the client gets %q, %v", got, err)
	}
}

// TestPortForward_PortNotServed_IsReported requests a port that is not served, and then, on the same connection, for one
// that is.
func TestPortForward_PortNotServed_IsReported(t *testing.T) {
	connection := connect(t, servePorts(t, usual, program(t, func(c net.Conn) { fmt.Fprint(c, "quack") })), portForwardProtocol)
	for _, c := range []struct {
		port            int
		failure, answer string
	}{{9, "port 9 is not served", ""}, {8080, "", "quack"}} {
		failure := open(t, connection, headers(strconv.Itoa(c.port), c.port, corev1.StreamTypeError))
		data := open(t, connection, headers(strconv.Itoa(c.port), c.port, corev1.StreamTypeData))
		if got, err := io.ReadAll(failure); err != nil || string(got) != c.failure {
			t.Errorf("port %d: the stream for errors says %q, %v", c.port, got, err)
		}
		if got, err := io.ReadAll(data); err != nil || string(got) != c.answer {
			t.Errorf("port %d: the answer is %q, %v", c.port, got, err)
		}
	}
}

func TestPortForward_ClientDisconnects_ClosesConnections(t *testing.T) {
	connected, closed := make(chan struct{}), make(chan struct{})
	address := servePorts(t, usual, program(t, func(c net.Conn) {
		close(connected)
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("the program gets %v", err)
		}
		close(closed)
	}))
	connection := connect(t, address, portForwardProtocol)
	open(t, connection, headers("1", 8080, corev1.StreamTypeError))
	open(t, connection, headers("1", 8080, corev1.StreamTypeData))
	within(t, "the connection", connected)
	if err := connection.Close(); err != nil {
		t.Fatal(err)
	}
	within(t, "the end of the connection", closed)
}

func TestPortForward_InvalidStreams_AreRejected(t *testing.T) {
	connection := connect(t, servePorts(t, usual, program(t, func(net.Conn) { t.Error("there is a connection") })), portForwardProtocol)
	for _, h := range []http.Header{
		headers("", 8080, corev1.StreamTypeData), headers("1", 0, corev1.StreamTypeData),
		headers("1", 1<<16, corev1.StreamTypeData), headers("1", 8080, corev1.StreamTypeStdin),
	} {
		rejected(t, connection, h)
	}
	open(t, connection, headers("1", 8080, corev1.StreamTypeError))
	rejected(t, connection, headers("1", 8080, corev1.StreamTypeError))
}

func TestPortForward_StreamMissing_IsNamed(t *testing.T) {
	limits := Limits{Creation: 100 * time.Millisecond, Idle: time.Hour}
	connection := connect(t, servePorts(t, limits, program(t, func(net.Conn) { t.Error("there is a connection") })), portForwardProtocol)
	got, err := io.ReadAll(open(t, connection, headers("1", 8080, corev1.StreamTypeError)))
	if want := "stream data: it was not opened within 100ms"; err != nil || !strings.Contains(string(got), want) {
		t.Errorf("the stream for errors says %q, %v, want %q", got, err, want)
	}
}
