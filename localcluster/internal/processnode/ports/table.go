/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package ports

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// Loopback is the address on which all processes listen.
	Loopback = "127.0.0.1"

	// Ports are taken below the range from which Linux serves requests for any free one (32768 on), since a process opens its
	// port a while after it was found free.
	firstPort, lastPort = 15000, 32000
	attempts            = 200
)

// Table holds the addresses of the ports of Pods. Its methods may be called from several goroutines.
type Table struct {
	mu    sync.Mutex
	pods  map[string]*entry
	taken map[int]bool
}

type entry struct {
	uid   types.UID
	local map[int32]int
}

// NewTable returns an empty table.
func NewTable() *Table { return &Table{pods: map[string]*entry{}, taken: map[int]bool{}} }

// Add finds a local port for each port that a Pod declares for its processes, and records them. A declared port without a variable is served under
// its own number.
func (t *Table) Add(ctx context.Context, pod *corev1.Pod, ip string) (map[int32]int, error) {
	announced := Announced(pod)
	local := map[int32]int{}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, port := range declared(pod) {
		if _, done := local[port]; done {
			continue
		}
		if !announced[port] {
			local[port] = int(port)
			continue
		}
		free, err := t.find(ctx)
		if err != nil {
			return nil, fmt.Errorf("finding a local port for container port %d: %w", port, err)
		}
		t.taken[free] = true
		local[port] = free
	}
	t.pods[ip] = &entry{uid: pod.UID, local: local}
	return local, nil
}

// Remove gives a Pod's ports back.
func (t *Table) Remove(pod types.UID, ip string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	found, ok := t.pods[ip]
	if !ok || found.uid != pod {
		return
	}
	for _, port := range found.local {
		delete(t.taken, port)
	}
	delete(t.pods, ip)
}

// Lookup returns the local address of a port of the Pod with the given address.
func (t *Table) Lookup(ip string, port int32) (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	found, ok := t.pods[ip]
	if !ok {
		return "", false
	}
	local, ok := found.local[port]
	return net.JoinHostPort(Loopback, strconv.Itoa(local)), ok
}

func (t *Table) find(ctx context.Context) (int, error) {
	var failure error
	for range attempts {
		port := firstPort + rand.IntN(lastPort-firstPort) //nolint:gosec // no secret: it only spreads concurrent runs
		if t.taken[port] {
			continue
		}
		// Programs listen on every address, so the port must be free on all of them.
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", ":"+strconv.Itoa(port))
		if err == nil {
			return port, listener.Close() //nolint:wrapcheck // wrapped by Add
		}
		failure = err
	}
	return 0, fmt.Errorf("none of %d tried ports is free: %w", attempts, failure)
}

// Announced returns the declared ports whose number is the value of an environment variable of the same Pod.
func Announced(pod *corev1.Pod) map[int32]bool {
	values := map[string]bool{}
	for _, c := range containers(pod) {
		for _, variable := range c.Env {
			values[variable.Value] = true
		}
	}
	announced := map[int32]bool{}
	for _, port := range declared(pod) {
		if values[strconv.Itoa(int(port))] {
			announced[port] = true
		}
	}
	return announced
}

// Rewrite returns the value that a process gets for a variable: the local port in place of a declared one.
func Rewrite(value string, local map[int32]int) string {
	number, err := strconv.ParseInt(value, 10, 32)
	if err != nil || strconv.FormatInt(number, 10) != value {
		return value
	}
	if port, ok := local[int32(number)]; ok {
		return strconv.Itoa(port)
	}
	return value
}

func declared(pod *corev1.Pod) []int32 {
	var all []int32
	for _, c := range containers(pod) {
		for _, port := range c.Ports {
			if port.Protocol == "" || port.Protocol == corev1.ProtocolTCP {
				all = append(all, port.ContainerPort)
			}
		}
	}
	return all
}

func containers(pod *corev1.Pod) []corev1.Container {
	all := make([]corev1.Container, 0, len(pod.Spec.InitContainers)+len(pod.Spec.Containers))
	return append(append(all, pod.Spec.InitContainers...), pod.Spec.Containers...)
}
