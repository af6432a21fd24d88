/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package devprocess

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

const (
	loopback = "127.0.0.1"
	// nodeName is the Node to which the local control plane binds every Pod.
	nodeName = "localcluster"

	// Ports are taken below the range from which Linux (32768 on) and macOS (49152 on) serve requests for any free port, since
	// a process opens its port a second or two after it was found free.
	firstPort, lastPort = 15000, 32000
	portAttempts        = 200
)

// freePorts finds a free local port for each port of a container.
func freePorts(ctx context.Context, ports []corev1.ContainerPort) (map[int32]int, error) {
	found := make(map[int32]int, len(ports))
	var listeners []net.Listener
	defer func() {
		for _, listener := range listeners {
			_ = listener.Close()
		}
	}()
	for _, port := range ports {
		listener, local, err := listen(ctx)
		if err != nil {
			return nil, fmt.Errorf("finding a local port for container port %d: %w", port.ContainerPort, err)
		}
		// It stays open until all are found, so that no two are the same.
		listeners = append(listeners, listener)
		found[port.ContainerPort] = local
	}
	return found, nil
}

func listen(ctx context.Context) (net.Listener, int, error) {
	var failure error
	var config net.ListenConfig
	for range portAttempts {
		port := firstPort + rand.IntN(lastPort-firstPort) //nolint:gosec // no secret: it only spreads concurrent runs
		// The operator listens on every address, so the port must be free on all of them.
		listener, err := config.Listen(ctx, "tcp", ":"+strconv.Itoa(port))
		if err == nil {
			return listener, port, nil
		}
		failure = err
	}
	return nil, 0, fmt.Errorf("none of %d tried ports is free: %w", portAttempts, failure)
}
