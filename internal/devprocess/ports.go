/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package devprocess

import (
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
func freePorts(ports []corev1.ContainerPort) (map[int32]int, error) {
	found := make(map[int32]int, len(ports))
	var listeners []net.Listener
	defer func() {
		for _, listener := range listeners {
			_ = listener.Close()
		}
	}()
	for _, port := range ports {
		listener, err := listen()
		if err != nil {
			return nil, fmt.Errorf("finding a local port for container port %d: %w", port.ContainerPort, err)
		}
		// It stays open until all are found, so that no two are the same.
		listeners = append(listeners, listener)
		found[port.ContainerPort] = listener.Addr().(*net.TCPAddr).Port
	}
	return found, nil
}

func listen() (net.Listener, error) {
	var failure error
	for range portAttempts {
		port := firstPort + rand.IntN(lastPort-firstPort) //nolint:gosec // no secret: it only spreads concurrent runs
		// The operator listens on every address, so the port must be free on all of them.
		listener, err := net.Listen("tcp", ":"+strconv.Itoa(port)) //nolint:gosec // closed before anyone connects
		if err == nil {
			return listener, nil
		}
		failure = err
	}
	return nil, fmt.Errorf("none of %d tried ports is free: %w", portAttempts, failure)
}
