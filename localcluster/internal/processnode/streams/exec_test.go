/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package streams

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilremotecommand "k8s.io/apimachinery/pkg/util/remotecommand"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	utilexec "k8s.io/utils/exec"
)

// execWith runs a command with client-go's executor, which requests the streams in the options.
func execWith(ctx context.Context, t *testing.T, options remotecommand.StreamOptions, run Run) error {
	t.Helper()
	address := serve(t, func(w http.ResponseWriter, req *http.Request) { ServeExec(w, req, usual, run) })
	query := address.Query()
	for parameter, asked := range map[string]bool{
		corev1.ExecStdinParam: options.Stdin != nil, corev1.ExecStdoutParam: options.Stdout != nil,
		corev1.ExecStderrParam: options.Stderr != nil, corev1.ExecTTYParam: options.Tty,
	} {
		if asked {
			query.Set(parameter, "1")
		}
	}
	address.RawQuery = query.Encode()
	executor, err := remotecommand.NewSPDYExecutor(&rest.Config{Host: address.Host}, http.MethodPost, address)
	if err != nil {
		t.Fatal(err)
	}
	return executor.StreamWithContext(ctx, options)
}

func TestExec_AllStreams_AreCarried(t *testing.T) {
	// More than fits into any buffer on the way.
	input := bytes.Repeat([]byte("quack "), 1<<20)
	var stdout, stderr bytes.Buffer
	err := execWith(t.Context(), t, remotecommand.StreamOptions{Stdin: bytes.NewReader(input), Stdout: &stdout, Stderr: &stderr},
		func(_ context.Context, stdin io.Reader, stdout, stderr io.Writer) (int, error) {
			fmt.Fprint(stderr, "begins")
			// It ends because the client closes its input, while it continues to read.
			n, err := io.Copy(stdout, stdin)
			fmt.Fprintf(stderr, ", ends after %d", n)
			return 0, err
		})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(stdout.Bytes(), input) {
		t.Errorf("of %d bytes %d were returned", len(input), stdout.Len())
	}
	if got, want := stderr.String(), fmt.Sprintf("begins, ends after %d", len(input)); got != want {
		t.Errorf("standard error is %q, want %q", got, want)
	}
}

func TestExec_CommandExits_ReportsTheExitCode(t *testing.T) {
	err := execWith(t.Context(), t, remotecommand.StreamOptions{Stdout: io.Discard},
		func(context.Context, io.Reader, io.Writer, io.Writer) (int, error) { return 7, nil })
	var exit utilexec.ExitError
	if !errors.As(err, &exit) || exit.ExitStatus() != 7 {
		t.Errorf("the client gets %v", err)
	}
}

func TestExec_NoExitCode_ReportsTheReason(t *testing.T) {
	err := execWith(t.Context(), t, remotecommand.StreamOptions{Stdout: io.Discard},
		func(context.Context, io.Reader, io.Writer, io.Writer) (int, error) {
			return 0, errors.New("no such duck")
		})
	var exit utilexec.ExitError
	if err == nil || errors.As(err, &exit) || !strings.Contains(err.Error(), "no such duck") {
		t.Errorf("the client gets %v", err)
	}
}

// TestExec_InputNotRead_Ends lets a command end while the client has much left to send.
func TestExec_InputNotRead_Ends(t *testing.T) {
	var stdout bytes.Buffer
	err := execWith(t.Context(), t, remotecommand.StreamOptions{Stdin: endless{}, Stdout: &stdout},
		func(_ context.Context, stdin io.Reader, stdout, _ io.Writer) (int, error) {
			_, err := io.CopyN(stdout, stdin, 1<<20)
			return 3, err
		})
	var exit utilexec.ExitError
	if !errors.As(err, &exit) || exit.ExitStatus() != 3 {
		t.Errorf("the client gets %v", err)
	}
	if stdout.Len() != 1<<20 {
		t.Errorf("%d bytes were returned", stdout.Len())
	}
}

type endless struct{}

func (endless) Read(data []byte) (int, error) { return len(data), nil }

func TestExec_RequestedStreams_AreTheOnlyOnes(t *testing.T) {
	for name, c := range map[string]struct {
		options               remotecommand.StreamOptions
		stdin, stdout, stderr bool
	}{
		"input only":  {remotecommand.StreamOptions{Stdin: strings.NewReader("")}, true, false, false},
		"output only": {remotecommand.StreamOptions{Stdout: io.Discard}, false, true, false},
		"errors only": {remotecommand.StreamOptions{Stderr: io.Discard}, false, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			err := execWith(t.Context(), t, c.options, func(_ context.Context, stdin io.Reader, stdout, stderr io.Writer) (int, error) {
				if (stdin != nil) != c.stdin || (stdout != nil) != c.stdout || (stderr != nil) != c.stderr {
					return 0, fmt.Errorf("stdin %v, stdout %v, stderr %v", stdin, stdout, stderr)
				}
				return 0, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestExec_Terminal_HasOneOutput requests a terminal, as kubectl exec -t does, and changes its size.
func TestExec_Terminal_HasOneOutput(t *testing.T) {
	var output bytes.Buffer
	err := execWith(t.Context(), t, remotecommand.StreamOptions{
		Stdin: strings.NewReader("a"), Stdout: &output, Stderr: io.Discard, Tty: true, TerminalSizeQueue: &sizes{left: 100},
	}, func(_ context.Context, stdin io.Reader, stdout, stderr io.Writer) (int, error) {
		if _, err := io.Copy(stdout, stdin); err != nil {
			return 0, err
		}
		_, err := stderr.Write([]byte("b"))
		return 0, err
	})
	if err != nil {
		t.Fatal(err)
	}
	if output.String() != "ab" {
		t.Errorf("the output is %q", output.String())
	}
}

// sizes are those of a window that is changed all the time.
type sizes struct{ left int }

func (s *sizes) Next() *remotecommand.TerminalSize {
	if s.left--; s.left < 0 {
		return nil
	}
	return &remotecommand.TerminalSize{Width: 80, Height: 24}
}

func TestExec_ClientDisconnects_Ends(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	err := execWith(ctx, t, remotecommand.StreamOptions{Stdout: io.Discard},
		func(ctx context.Context, _ io.Reader, _, _ io.Writer) (int, error) {
			defer close(ended)
			cancel()
			<-ctx.Done()
			return 0, ctx.Err()
		})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the client gets %v", err)
	}
	within(t, "the end of the command", ended)
}

// TestExec_StreamMissing_IsNamed has a client that opens the stream for errors only, and one that it did not request.
func TestExec_StreamMissing_IsNamed(t *testing.T) {
	address := serve(t, func(w http.ResponseWriter, req *http.Request) {
		ServeExec(w, req, Limits{Creation: 100 * time.Millisecond, Idle: time.Hour}, func(context.Context, io.Reader, io.Writer, io.Writer) (int, error) {
			t.Error("the command runs")
			return 0, nil
		})
	})
	address.RawQuery = corev1.ExecStdoutParam + "=1"
	connection := connect(t, address, utilremotecommand.StreamProtocolV4Name)
	stream := open(t, connection, http.Header{corev1.StreamType: {corev1.StreamTypeError}})
	rejected(t, connection, http.Header{corev1.StreamType: {corev1.StreamTypeStdin}})
	rejected(t, connection, http.Header{corev1.StreamType: {corev1.StreamTypeError}})
	data, err := io.ReadAll(stream)
	if err != nil {
		t.Fatal(err)
	}
	var status metav1.Status
	if err := json.Unmarshal(data, &status); err != nil {
		t.Fatalf("%q: %v", data, err)
	}
	if want := "stream stdout: it was not opened within 100ms"; status.Status != metav1.StatusFailure || !strings.Contains(status.Message, want) {
		t.Errorf("the client gets %+v, want %q", status, want)
	}
}

func TestExec_InvalidRequests_AreRejected(t *testing.T) {
	address := serve(t, func(w http.ResponseWriter, req *http.Request) {
		ServeExec(w, req, usual, func(context.Context, io.Reader, io.Writer, io.Writer) (int, error) {
			t.Error("the command runs")
			return 0, nil
		})
	})
	if _, _, err := dialer(t, address).Dial(utilremotecommand.StreamProtocolV4Name); err == nil ||
		!strings.Contains(err.Error(), "at least one of the parameters input, output and error must be 1") {
		t.Errorf("without streams: %v", err)
	}
	address.RawQuery = corev1.ExecStdoutParam + "=1"
	if _, _, err := dialer(t, address).Dial("v0.duck"); err == nil || !strings.Contains(err.Error(), "v4.channel.k8s.io") {
		t.Errorf("with an unknown protocol: %v", err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address.String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusBadRequest {
		t.Errorf("without an upgrade: %s", response.Status)
	}
}
