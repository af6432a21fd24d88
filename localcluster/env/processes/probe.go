/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package processes

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// startPeriod is the pause between probes until the first success. The period of the manifest is made for a cluster, where no user sits waiting.
const startPeriod = 25 * time.Millisecond

// probe is a readiness probe, with the defaults that the API server has filled in.
type probe struct {
	*corev1.Probe

	// port is the containerPort that it goes to.
	port   int32
	client *http.Client
}

// newProbe reads a readiness probe as the kubelet would. Anything but httpGet to the Pod itself is rejected.
func newProbe(p *corev1.Probe, ports []corev1.ContainerPort, path *field.Path) (*probe, field.ErrorList) {
	var problems field.ErrorList
	if p.HTTPGet == nil {
		return nil, append(problems, field.Required(path.Child("httpGet"), "a local process is probed by HTTP only"))
	}
	path = path.Child("httpGet")
	if p.HTTPGet.Host != "" {
		problems = append(problems, field.Forbidden(path.Child("host"), "a local process is probed at its own address"))
	}
	port, ok := containerPort(p.HTTPGet.Port, ports)
	if !ok {
		problems = append(problems, field.Invalid(path.Child("port"), p.HTTPGet.Port.String(), "must be the name or number of one of the container's ports"))
	}
	return &probe{Probe: p, port: port, client: &http.Client{
		Timeout: time.Duration(p.TimeoutSeconds) * time.Second,
		Transport: &http.Transport{
			DisableKeepAlives: true,
			// The kubelet does not verify either: the certificate is for the Service's name, which is not what is dialled.
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}, //nolint:gosec // see above
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, problems
}

// check makes one request to the local port. As for the kubelet, every status from 200 to 399 is a success.
func (p *probe) check(ctx context.Context, local int) error {
	target, err := url.Parse(p.HTTPGet.Path)
	if err != nil {
		return fmt.Errorf("readiness probe: path %q: %w", p.HTTPGet.Path, err)
	}
	target.Scheme, target.Host = strings.ToLower(string(p.HTTPGet.Scheme)), net.JoinHostPort(loopback, strconv.Itoa(local))
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return fmt.Errorf("readiness probe: %w", err)
	}
	request.Header.Set("User-Agent", "kube-probe/processes")
	for _, header := range p.HTTPGet.HTTPHeaders {
		request.Header.Add(header.Name, header.Value)
	}
	request.Host = request.Header.Get("Host")
	response, err := p.client.Do(request)
	if err != nil {
		return fmt.Errorf("readiness probe: %w", err)
	}
	body, _ := io.ReadAll(io.LimitReader(response.Body, 256))
	_ = response.Body.Close()
	if response.StatusCode < 200 || response.StatusCode >= 400 {
		return fmt.Errorf("readiness probe: GET %s answers %s: %s", request.URL, response.Status, strings.TrimSpace(string(body)))
	}
	return nil
}

// containerPort resolves a port by name or number among the ports that a container declares.
func containerPort(reference intstr.IntOrString, ports []corev1.ContainerPort) (int32, bool) {
	for _, port := range ports {
		if reference.Type == intstr.String && port.Name == reference.StrVal ||
			reference.Type == intstr.Int && port.ContainerPort == reference.IntVal {
			return port.ContainerPort, true
		}
	}
	return 0, false
}
