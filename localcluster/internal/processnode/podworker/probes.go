/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package podworker

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mallard-dev/mallard/localcluster/internal/processnode/ports"
	"github.com/mallard-dev/mallard/localcluster/internal/processnode/probe"
)

// verdict is the reason for which probes end a container.
type verdict struct {
	text  string
	grace time.Duration
}

// startProbes probes a container until the context ends, and delivers at most one reason to end it. Liveness and readiness
// are looked at once a startup probe has succeeded.
func (w *Worker) startProbes(ctx context.Context, name string, e *execution) <-chan verdict {
	c := w.spec(name)
	verdicts := make(chan verdict, 1)
	target := probe.Target{
		Container: c,
		Local:     w.address,
		Exec: func(ctx context.Context, command []string) (string, int, error) {
			return w.command(ctx, e.spec, command)
		},
	}
	loop := func(kind string, p *corev1.Probe, result func(bool)) {
		l := probe.Loop{Target: target, Probe: p, Result: result, Failed: func(output string) {
			w.containerEvent(name, corev1.EventTypeWarning, reasonUnhealthy, kind+" probe failed: "+output)
		}}
		go l.Run(ctx)
	}
	condemn := func(p *corev1.Probe, text string) {
		grace := w.grace()
		if p.TerminationGracePeriodSeconds != nil {
			grace = time.Duration(*p.TerminationGracePeriodSeconds) * time.Second
		}
		select {
		case verdicts <- verdict{text: text, grace: grace}:
		default:
		}
	}
	begin := sync.OnceFunc(func() {
		if p := c.ReadinessProbe; p != nil {
			loop("Readiness", p, func(ok bool) {
				w.change(name, func(s *state) {
					s.probeReady = ok
					s.settle()
				})
			})
		}
		if p := c.LivenessProbe; p != nil {
			loop("Liveness", p, func(ok bool) {
				if !ok {
					condemn(p, "failed liveness probe")
				}
			})
		}
	})
	p := c.StartupProbe
	if p == nil {
		begin()
		return verdicts
	}
	startup, endStartup := context.WithCancel(ctx)
	l := probe.Loop{Target: target, Probe: p, Failed: func(output string) {
		w.containerEvent(name, corev1.EventTypeWarning, reasonUnhealthy, "Startup probe failed: "+output)
	}, Result: func(ok bool) {
		if !ok {
			condemn(p, "failed startup probe")
			return
		}
		w.change(name, func(s *state) {
			s.startupDone = true
			s.settle()
		})
		endStartup()
		begin()
	}}
	go func() {
		defer endStartup()
		l.Run(startup)
	}()
	return verdicts
}

// address returns the address at which a port of the Pod is served.
func (w *Worker) address(port int32) string {
	if address, ok := w.node.Ports.Lookup(w.ip, port); ok {
		return address
	}
	return net.JoinHostPort(ports.Loopback, strconv.Itoa(int(port)))
}

// Address returns the address at which a declared port of the Pod is served.
func (w *Worker) Address(port int32) (string, error) {
	address, ok := w.node.Ports.Lookup(w.ip, port)
	if !ok {
		pod := w.Pod()
		return "", fmt.Errorf("port %d is not among the containerPorts of pod %s/%s, so nothing is known to serve it", port, pod.Namespace, pod.Name)
	}
	return address, nil
}
