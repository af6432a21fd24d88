/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package streams

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/apimachinery/pkg/util/remotecommand"
)

// farewell is the time that a client has to read the end of a command's streams before the connection is closed.
const farewell = time.Second

// Run runs a command. The streams that the client did not request are nil. It returns the command's exit code, or the error for which there
// is no exit code. The context ends when the client disconnects.
type Run func(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) (int, error)

// ServeExec answers a request to execute a command, and returns when the command has ended.
func ServeExec(w http.ResponseWriter, req *http.Request, limits Limits, run Run) {
	query := req.URL.Query()
	types, err := wanted(query)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithCancel(req.Context())
	defer cancel()
	expected := newGroup(types...)
	connection, ok := upgrade(w, req, remotecommand.StreamProtocolV4Name, limits.Idle, cancel, expected.accept)
	if !ok {
		return
	}
	defer func() { _ = connection.Close() }()

	streams, err := expected.collect(ctx, limits.Creation)
	code := 0
	if err == nil {
		code, err = execute(ctx, streams, query.Get(corev1.ExecTTYParam) == "1", run)
	}
	for name, stream := range streams {
		if name != corev1.StreamTypeError {
			finish(stream)
		}
	}
	if stream, ok := streams[corev1.StreamTypeError]; ok {
		// If this fails, the client has disconnected.
		_ = json.NewEncoder(stream).Encode(status(code, err)) //nolint:errchkjson // the type can always be encoded
		finish(stream)
	}
	// Closing a connection on which the client still sends would take away from it what it has not yet read.
	select {
	case <-ctx.Done():
	case <-time.After(farewell):
	}
}

// wanted returns the types of the streams that the client is going to open.
func wanted(query url.Values) ([]string, error) {
	asked := func(parameter string) bool { return query.Get(parameter) == "1" }
	terminal := asked(corev1.ExecTTYParam)
	var types []string
	for _, stream := range []struct {
		name  string
		asked bool
	}{
		{corev1.StreamTypeStdin, asked(corev1.ExecStdinParam)},
		{corev1.StreamTypeStdout, asked(corev1.ExecStdoutParam)},
		{corev1.StreamTypeStderr, asked(corev1.ExecStderrParam) && !terminal},
	} {
		if stream.asked {
			types = append(types, stream.name)
		}
	}
	if len(types) == 0 {
		// With a colon in it, clients would take it for YAML, and show nothing.
		return nil, fmt.Errorf("at least one of the parameters %s, %s and %s must be 1",
			corev1.ExecStdinParam, corev1.ExecStdoutParam, corev1.ExecStderrParam)
	}
	if terminal {
		types = append(types, corev1.StreamTypeResize)
	}
	return append(types, corev1.StreamTypeError), nil
}

func execute(ctx context.Context, streams map[string]httpstream.Stream, terminal bool, run Run) (int, error) {
	// An interface that holds a nil stream would not be nil.
	var stdin io.Reader
	var stdout, stderr io.Writer
	if stream, ok := streams[corev1.StreamTypeStdin]; ok {
		stdin = stream
	}
	if stream, ok := streams[corev1.StreamTypeStdout]; ok {
		stdout = stream
	}
	if stream, ok := streams[corev1.StreamTypeStderr]; ok {
		stderr = stream
	}
	if terminal {
		stderr = stdout
	}
	if sizes, ok := streams[corev1.StreamTypeResize]; ok {
		// Unread data would block the other streams.
		go func() { _, _ = io.Copy(io.Discard, sizes) }()
	}
	return run(ctx, stdin, stdout, stderr)
}

// status is the status that a client receives at the end.
func status(code int, err error) metav1.Status {
	switch {
	case err != nil:
		return apierrors.NewInternalError(err).Status()
	case code != 0:
		return metav1.Status{
			Status:  metav1.StatusFailure,
			Reason:  remotecommand.NonZeroExitCodeReason,
			Message: fmt.Sprintf("command terminated with exit code %d", code),
			Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{
				Type: remotecommand.ExitCodeCauseType, Message: strconv.Itoa(code),
			}}},
		}
	default:
		return metav1.Status{Status: metav1.StatusSuccess}
	}
}
