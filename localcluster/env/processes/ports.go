/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package processes

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

const (
	loopback = "127.0.0.1"
	// nodeName is the Node to which the local control plane binds every Pod.
	nodeName = "localcluster"

	// Ports are taken below the range from which Linux (32768 on) and macOS (49152 on) serve requests for any free port, since
	// a process opens its port a second or two after it was found free.
	firstPort, lastPort = 15000, 32000
	blockSize           = 100
	blockAttempts       = 200
)

// allocated gives out the ports of this program.
var allocated allocator

// allocator gives out each port once, from blocks of ports that are this program's own: it listens on the first one of each
// as long as it runs. Another program that starts processes at the same moment would otherwise find the same ports free.
type allocator struct {
	mu sync.Mutex
	// next is the next port to be given out, and end the first one beyond the present block.
	next, end int
	guards    []net.Listener
}

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
		listener, local, err := allocated.listen(ctx)
		if err != nil {
			return nil, fmt.Errorf("finding a local port for container port %d: %w", port.ContainerPort, err)
		}
		// It stays open until all are found, so that no two are the same.
		listeners = append(listeners, listener)
		found[port.ContainerPort] = local
	}
	return found, nil
}

// listen opens the next free port. The operator listens on every address, so the port must be free on all of them.
func (a *allocator) listen(ctx context.Context) (net.Listener, int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for {
		for a.next == a.end {
			if err := a.claim(ctx); err != nil {
				return nil, 0, err
			}
		}
		port := a.next
		a.next++
		if listener, err := open(ctx, port); err == nil {
			return listener, port, nil
		}
	}
}

// claim makes another block this program's own.
func (a *allocator) claim(ctx context.Context) error {
	var failure error
	for range blockAttempts {
		first := firstPort + blockSize*rand.IntN((lastPort-firstPort)/blockSize) //nolint:gosec // no secret: it only spreads concurrent runs
		guard, err := open(ctx, first)
		if err == nil {
			a.guards = append(a.guards, guard)
			a.next, a.end = first+1, first+blockSize
			return nil
		}
		failure = err
	}
	return fmt.Errorf("none of %d tried ports is free: %w", blockAttempts, failure)
}

func open(ctx context.Context, port int) (net.Listener, error) {
	var config net.ListenConfig
	return config.Listen(ctx, "tcp", ":"+strconv.Itoa(port)) //nolint:wrapcheck // the caller says what for
}
