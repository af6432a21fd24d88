/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"knative.dev/pkg/observability/runtime"
	"knative.dev/pkg/webhook"
)

// checkPorts ends the process if a port is taken: sharedmain runs on without the webhook or the profiler, and reports the error when the process ends,
// with exit code 0.
func (p *process) checkPorts(ctx context.Context) {
	checkPort(runtime.ProfilingPortEnvKey, runtime.ProfilingDefaultPort)
	if options := webhook.GetOptions(ctx); options != nil {
		checkListen("WEBHOOK_PORT", options.Port) // the main has read the variable, or chosen another port
		go p.watchWebhook(ctx, options.Port)
	}
}

// metricsPort is the environment variable of the port of Prometheus' metrics.
const metricsPort = "METRICS_PROMETHEUS_PORT"

// checkPort ends the process if the port in an environment variable is taken.
func checkPort(variable string, standard int) {
	value := cmp.Or(os.Getenv(variable), strconv.Itoa(standard))
	port, err := strconv.ParseUint(value, 10, 16)
	if err != nil {
		return // knative.dev/pkg reports it
	}
	checkListen(variable, int(port))
}

func checkListen(variable string, port int) {
	listener, err := listen(port)
	if err != nil {
		log.Fatalf("environment variable %s=%d: %v", variable, port, err)
	}
	if listener != nil {
		_ = listener.Close()
	}
}

// watchWebhook ends the process with an error if the webhook, once it has listened, does not listen anymore. It makes no connection: the webhook would
// log the end of each as an error. Only Linux lists the ports on which a process listens.
func (p *process) watchWebhook(ctx context.Context, port int) {
	listened := false
	ticker := time.NewTicker(5 * time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		listens := isOwn(port)
		if listened && !listens {
			p.fail(fmt.Errorf("the webhook does not listen on port %d anymore", port))
			return
		}
		listened = listens
	}
}

// listen returns a listener, or nil if this process listens on the port already: a main may serve its own probes.
func listen(port int) (net.Listener, error) {
	listener, err := net.Listen("tcp", ":"+strconv.Itoa(port))
	if errors.Is(err, syscall.EADDRINUSE) && isOwn(port) {
		return nil, nil
	}
	return listener, err //nolint:wrapcheck // names the address
}

// isOwn reports whether a file of this process is a socket that listens on a port. Only Linux lists them.
func isOwn(port int) bool {
	files, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		return false
	}
	own := map[string]bool{}
	for _, file := range files {
		if target, err := os.Readlink(file); err == nil {
			own[target] = true
		}
	}
	const listens = "0A" // TCP_LISTEN
	for _, table := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		sockets, err := os.ReadFile(table)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(sockets)) {
			columns := strings.Fields(line)
			if len(columns) > 9 && columns[3] == listens && strings.HasSuffix(columns[1], fmt.Sprintf(":%04X", port)) && own["socket:["+columns[9]+"]"] {
				return true
			}
		}
	}
	return false
}
