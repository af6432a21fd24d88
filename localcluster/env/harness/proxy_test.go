/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

const watchPath = "/api/v1/configmaps?watch=true"

// watched is a proxy before a server whose watches send the lines of a channel.
type watched struct {
	*Proxy

	url    string
	client *http.Client
	lines  chan string
}

func newWatched(t *testing.T) *watched {
	t.Helper()
	w := &watched{lines: make(chan string)}
	server := httptest.NewTLSServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		for request.URL.Query().Has("watch") {
			_ = http.NewResponseController(response).Flush()
			select {
			case line := <-w.lines:
				_, _ = fmt.Fprintln(response, line)
			case <-request.Context().Done():
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	config, proxy := proxied(t, &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}})
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	w.Proxy, w.url, w.client = proxy, config.Host, client
	return w
}

// open sends a request, and returns the body of the response and the address of the connection.
func (w *watched) open(t *testing.T, path string) (body io.ReadCloser, from string) {
	t.Helper()
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) { from = info.Conn.LocalAddr().String() }})
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := w.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	if response.ProtoMajor != 2 || response.StatusCode != http.StatusOK {
		t.Fatalf("the response is %s %s", response.Proto, response.Status)
	}
	return response.Body, from
}

// expect sends a line over a watch that runs.
func (w *watched) expect(t *testing.T, watch io.Reader, line string) {
	t.Helper()
	w.lines <- line
	if got, err := bufio.NewReader(watch).ReadString('\n'); err != nil || strings.TrimSpace(got) != line {
		t.Errorf("the watch receives %q, %v, want %q", got, err, line)
	}
}

func TestProxy_GoAway_TheWatchGoesOnAndTheNextRequestUsesAnotherConnection(t *testing.T) {
	w := newWatched(t)
	undo := w.GoAway(Matching("watch", "configmaps"))
	watch, first := w.open(t, watchPath)
	undo()
	w.expect(t, watch, "one")
	Eventually(t, "another connection", func(context.Context) error {
		if _, from := w.open(t, "/version"); from == first {
			return errors.New("it is the same")
		}
		return nil
	})
	w.expect(t, watch, "two")
}

func TestProxy_Reset_TheWatchFailsAndTheNextRequestSucceeds(t *testing.T) {
	w := newWatched(t)
	watch, _ := w.open(t, watchPath)
	w.Reset()
	if _, err := io.ReadAll(watch); err == nil || !strings.Contains(err.Error(), "connection reset by peer") {
		t.Errorf("the watch ends with %v, want a reset", err)
	}
	w.open(t, "/version")
}

func TestProxy_Cut_CountsTheConnectionsThatItRefuses(t *testing.T) {
	w := newWatched(t)
	w.Cut()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/version", nil)
	if err != nil {
		t.Fatal(err)
	}
	if response, err := w.client.Do(request); err == nil {
		_ = response.Body.Close()
		t.Errorf("the response is %s", response.Status)
	}
	if n := w.Rejected(); n == 0 {
		t.Error("no connection is counted")
	}
	w.Restore()
	w.open(t, "/version")
}
