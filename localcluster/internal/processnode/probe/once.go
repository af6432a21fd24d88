/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kubernetes/pkg/probe"
	grpcprobe "k8s.io/kubernetes/pkg/probe/grpc"
	httpprobe "k8s.io/kubernetes/pkg/probe/http"
	tcpprobe "k8s.io/kubernetes/pkg/probe/tcp"
)

const (
	// loopback is the address at which ports are served.
	loopback = "127.0.0.1"
	// userAgent names the prober to the program.
	userAgent = "probe"
)

// errKind reports that the API server admitted a probe that does nothing.
var errKind = errors.New("missing probe handler")

// Target is the container that is probed.
type Target struct {
	Container *corev1.Container
	// Local returns the address at which a port of the container is served.
	Local func(port int32) string
	// Exec runs a command in the container and returns what it wrote and its exit code.
	Exec func(ctx context.Context, command []string) (output string, code int, err error)
}

// Once probes one time, and returns the output for people.
func (t *Target) Once(ctx context.Context, p *corev1.Probe) (ok bool, output string) {
	timeout := time.Duration(max(p.TimeoutSeconds, 1)) * time.Second
	result, output, err := t.run(ctx, p, timeout)
	if err != nil {
		return false, err.Error()
	}
	return result == probe.Success || result == probe.Warning, output
}

func (t *Target) run(ctx context.Context, p *corev1.Probe, timeout time.Duration) (probe.Result, string, error) {
	switch {
	case p.Exec != nil:
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		output, code, err := t.Exec(ctx, p.Exec.Command)
		if err != nil || code != 0 {
			return probe.Failure, output, err
		}
		return probe.Success, output, nil
	case p.HTTPGet != nil:
		get := p.HTTPGet.DeepCopy()
		if get.Host == "" {
			host, port, err := t.address(get.Port)
			if err != nil {
				return probe.Failure, "", err
			}
			get.Host, get.Port = host, intstr.FromInt32(port)
		}
		request, err := httpprobe.NewRequestForHTTPGetAction(get, t.Container, loopback, userAgent)
		if err != nil {
			return probe.Failure, "", fmt.Errorf("making the request: %w", err)
		}
		return httpprobe.New(false).Probe(request, timeout) //nolint:wrapcheck // it is shown as it is
	case p.TCPSocket != nil:
		if p.TCPSocket.Host != "" {
			port, err := probe.ResolveContainerPort(p.TCPSocket.Port, t.Container)
			if err != nil {
				return probe.Failure, "", err //nolint:wrapcheck // it is shown as it is
			}
			return tcpprobe.New().Probe(p.TCPSocket.Host, port, timeout) //nolint:wrapcheck // it is shown as it is
		}
		host, port, err := t.address(p.TCPSocket.Port)
		if err != nil {
			return probe.Failure, "", err
		}
		return tcpprobe.New().Probe(host, int(port), timeout) //nolint:wrapcheck // it is shown as it is
	case p.GRPC != nil:
		host, port, err := t.address(intstr.FromInt32(p.GRPC.Port))
		if err != nil {
			return probe.Failure, "", err
		}
		service := ""
		if p.GRPC.Service != nil {
			service = *p.GRPC.Service
		}
		return grpcprobe.New().Probe(host, service, int(port), timeout) //nolint:wrapcheck // it is shown as it is
	default:
		return probe.Failure, "", errKind
	}
}

// address resolves a port by name or number to where it is served.
func (t *Target) address(port intstr.IntOrString) (string, int32, error) {
	number, err := probe.ResolveContainerPort(port, t.Container)
	if err != nil {
		return "", 0, err //nolint:wrapcheck // it is shown as it is
	}
	host, text, err := net.SplitHostPort(t.Local(int32(number))) //nolint:gosec // a port
	if err != nil {
		return "", 0, fmt.Errorf("port %d: %w", number, err)
	}
	local, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return "", 0, fmt.Errorf("port %d: %w", number, err)
	}
	return host, int32(local), nil
}
