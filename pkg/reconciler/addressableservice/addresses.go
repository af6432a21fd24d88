/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"encoding/json"
	"net"
	"net/url"
	"strconv"
	"strings"

	"k8s.io/utils/ptr"

	"knative.dev/pkg/apis"
	duckv1 "knative.dev/pkg/apis/duck/v1"

	"github.com/mallard-dev/mallard/pkg/apis/config"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/runtime/failures"
)

// endpoint is one address of the target before path and visibility are applied.
type endpoint struct {
	name string
	// appProtocol is the application protocol of the port, empty if it is not known.
	appProtocol string
	address     duckv1.Addressable
}

// planAddresses decides the addresses of an object whose target was found. It is pure.
func planAddresses(cfg *config.Addressable, as *v1.AddressableService, t target) ([]duckv1.Addressable, *failures.Failure) {
	endpoints, p := selectEndpoints(as, t)
	if p != nil {
		return nil, p
	}
	addresses := make([]duckv1.Addressable, 0, len(endpoints))
	for _, e := range endpoints {
		a := *e.address.DeepCopy()
		a.Name = nil
		if e.name != "" {
			a.Name = &e.name
		}
		if e.appProtocol != "" {
			a.URL.Scheme = schemeOf(e.appProtocol)
		}
		// Before the scheme becomes the public one: port 80 of http is no port of https.
		a.URL.Host = withoutDefaultPort(a.URL.Scheme, a.URL.Host)
		if as.Spec.Visibility == v1.VisibilityPublic {
			if p := makePublic(cfg, as, e, &a); p != nil {
				return nil, p
			}
		}
		a.URL.Host = withoutDefaultPort(a.URL.Scheme, a.URL.Host)
		if as.Spec.Path != nil {
			appendPath(a.URL, *as.Spec.Path)
		}
		addresses = append(addresses, a)
	}
	return addresses, checkBounds(as.Spec.Ref, addresses)
}

// selectEndpoints picks the endpoints in spec.ports, or the one endpoint that an object without ports has.
func selectEndpoints(as *v1.AddressableService, t target) ([]endpoint, *failures.Failure) {
	if len(as.Spec.Ports) == 0 {
		if t.service != nil {
			e, p := serviceEndpoint(t.service, v1.AddressPort{}, as.Spec.Visibility)
			if as.Spec.Visibility == v1.VisibilityPublic {
				// The port is that of the gateway, which the scheme implies.
				e = endpoint{address: serviceAddress(t.service, "http", 0)}
			}
			return []endpoint{e}, p
		}
		return []endpoint{{address: t.addresses[0]}}, nil
	}
	endpoints := make([]endpoint, 0, len(as.Spec.Ports))
	for _, port := range as.Spec.Ports {
		var e endpoint
		var p *failures.Failure
		if t.service != nil {
			e, p = serviceEndpoint(t.service, port, as.Spec.Visibility)
		} else {
			e, p = addressableEndpoint(as.Spec.Ref, t.addresses, port)
		}
		if p != nil {
			return nil, p
		}
		endpoints = append(endpoints, e)
	}
	return endpoints, nil
}

// addressableEndpoint finds the port in an Addressable: a number replaces the port of its first address, a name picks a named address.
func addressableEndpoint(ref v1.TargetReference, addresses []duckv1.Addressable, port v1.AddressPort) (endpoint, *failures.Failure) {
	e := endpoint{name: port.Name, appProtocol: port.AppProtocol}
	if port.Port != 0 {
		e.address = *addresses[0].DeepCopy()
		e.address.URL.Host = net.JoinHostPort(hostname(e.address.URL), strconv.Itoa(int(port.Port)))
		return e, nil
	}
	for _, a := range addresses {
		if a.Name != nil && *a.Name == port.Name && isUsable(a) {
			e.address = a
			return e, nil
		}
	}
	return e, failures.Newf(v1.ReasonPortNotFound, "%s has no address named %q", ref, port.Name)
}

// makePublic replaces the host by the one of the domain template. The port and a requested scheme stay.
func makePublic(cfg *config.Addressable, as *v1.AddressableService, e endpoint, a *duckv1.Addressable) *failures.Failure {
	host, err := cfg.Host(as.Namespace, as.Name)
	if err != nil {
		return failures.Newf(v1.ReasonHostInvalid, "%v; the template is domain-template in ConfigMap %s", err, config.AddressableName)
	}
	if port := a.URL.URL().Port(); port != "" {
		host = net.JoinHostPort(host, port)
	}
	a.URL.Host = host
	if e.appProtocol == "" {
		a.URL.Scheme = cfg.Scheme
	}
	// The target's certificate does not hold for the public name.
	a.CACerts = nil
	return nil
}

// appendPath keeps what the target's path has escaped, such as a slash inside a segment.
func appendPath(u *apis.URL, path string) {
	u.RawPath = strings.TrimSuffix(u.URL().EscapedPath(), "/") + (&url.URL{Path: path}).EscapedPath()
	u.Path = strings.TrimSuffix(u.Path, "/") + path
}

// withoutDefaultPort leaves out a port that the scheme implies.
func withoutDefaultPort(scheme, host string) string {
	defaults := map[string]string{"http": ":80", "ws": ":80", "https": ":443", "wss": ":443"}
	if suffix, ok := defaults[scheme]; ok {
		return strings.TrimSuffix(host, suffix)
	}
	return host
}

// hostname is the host without its port, and without the brackets of IPv6.
func hostname(u *apis.URL) string {
	return u.URL().Hostname()
}

// Bounds of an address in the status: those of the CRD's schema, except for the certificates, which every address of an object repeats.
const (
	maxURL      = 8192
	maxCACerts  = 65536
	maxAudience = 2048

	// maxStatus bounds the encoded addresses. etcd stores no object of more than 1.5 MiB, and
	// one character may take six bytes in JSON.
	maxStatus = 1280 << 10
)

// checkBounds rejects addresses of the target that do not fit into our status. The target's
// own schema may allow them, and the API server would then reject every status update.
func checkBounds(ref v1.TargetReference, addresses []duckv1.Addressable) *failures.Failure {
	unusable := func(field string, most int) *failures.Failure {
		return failures.Newf(v1.ReasonTargetNotAddressable, "the address of %s is unusable: its %s is longer than %d characters", ref, field, most)
	}
	for _, a := range addresses {
		text := a.URL.String()
		// The schema's format uri is what this function accepts, which is less than url.Parse does.
		_, err := url.ParseRequestURI(text)
		switch {
		case err != nil:
			return failures.Newf(v1.ReasonTargetNotAddressable, "the address of %s is unusable: its URL %q is not a URI", ref, text)
		case len(text) > maxURL:
			return unusable("url", maxURL)
		case len(ptr.Deref(a.CACerts, "")) > maxCACerts:
			return unusable("CACerts", maxCACerts)
		case len(ptr.Deref(a.Audience, "")) > maxAudience:
			return unusable("audience", maxAudience)
		}
	}
	encoded, err := json.Marshal(duckv1.AddressStatus{Address: &addresses[0], Addresses: addresses})
	if err != nil || len(encoded) > maxStatus {
		return failures.Newf(v1.ReasonTargetNotAddressable, "the address of %s is unusable: %d copies of it take more than %d KiB as JSON",
			ref, len(addresses)+1, maxStatus>>10)
	}
	return nil
}
