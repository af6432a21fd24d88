/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"cmp"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"knative.dev/pkg/apis"
	duckv1 "knative.dev/pkg/apis/duck/v1"
	"knative.dev/pkg/network"

	"github.com/mallard-dev/mallard/pkg/apis/config"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/failures"
)

// target is the object that the reference resolved to: a Service, or the addresses, at least one, of something Addressable.
type target struct {
	service   *corev1.Service
	addresses []duckv1.Addressable
}

// planAddresses decides the addresses of an object whose target was found: one for each entry of spec.ports, or a single one. It is pure.
func planAddresses(cfg *config.Addressable, as *v1.AddressableService, t target) ([]duckv1.Addressable, *failures.Failure) {
	ports := as.Spec.Ports
	if len(ports) == 0 {
		ports = []v1.AddressPort{{}}
	}
	addresses := make([]duckv1.Addressable, 0, len(ports))
	for _, port := range ports {
		a, appProtocol, p := selectAddress(as, t, port)
		if p != nil {
			return nil, p
		}
		a.Name = nil
		if port.Name != "" {
			a.Name = &port.Name
		}
		a.URL.Scheme = cmp.Or(schemes[strings.ToLower(appProtocol)], a.URL.Scheme)
		a.URL.Host = withoutDefaultPort(a.URL.Scheme, a.URL.Host) // before the scheme becomes the public one: port 80 of http is no port of https
		if as.Spec.Visibility == v1.VisibilityPublic {
			if p := makePublic(cfg, as, appProtocol, a); p != nil {
				return nil, p
			}
		}
		a.URL.Host = withoutDefaultPort(a.URL.Scheme, a.URL.Host)
		if as.Spec.Path != nil {
			// An escaped character of the target's path stays escaped, such as a slash inside a segment.
			a.URL.RawPath = strings.TrimSuffix(a.URL.URL().EscapedPath(), "/") + (&url.URL{Path: *as.Spec.Path}).EscapedPath()
			a.URL.Path = strings.TrimSuffix(a.URL.Path, "/") + *as.Spec.Path
		}
		addresses = append(addresses, *a)
	}
	if err := v1.ValidateAddresses(addresses); err != nil {
		// The target's own schema may allow them, and the API server would then reject every status update.
		return nil, failures.Newf(v1.ReasonTargetNotAddressable, "the address of %s is unusable: %v", as.Spec.Ref, err)
	}
	return addresses, nil
}

// selectAddress returns a copy of an address of the target, and the application protocol of its port if it is known. In an Addressable, a number
// replaces the port of its first address, and a name picks a named address.
func selectAddress(as *v1.AddressableService, t target, port v1.AddressPort) (*duckv1.Addressable, string, *failures.Failure) {
	if t.service != nil {
		return serviceAddress(t.service, port, as.Spec.Visibility)
	}
	a := t.addresses[0].DeepCopy()
	switch {
	case port.Port != 0:
		a.URL.Host = net.JoinHostPort(a.URL.URL().Hostname(), strconv.Itoa(int(port.Port)))
	case port.Name != "":
		named := slices.IndexFunc(t.addresses, func(a duckv1.Addressable) bool { return ptr.Deref(a.Name, "") == port.Name && isUsable(a) })
		if named < 0 {
			return nil, "", failures.Newf(v1.ReasonPortNotFound, "%s has no address named %q", as.Spec.Ref, port.Name)
		}
		a = t.addresses[named].DeepCopy()
	}
	return a, port.AppProtocol, nil
}

// serviceAddress decides by which URL clients reach a port of a Service. docs/reference/api/addressableservice.md has a table of the cases.
func serviceAddress(service *corev1.Service, port v1.AddressPort, visibility v1.Visibility) (*duckv1.Addressable, string, *failures.Failure) {
	isExternal := service.Spec.Type == corev1.ServiceTypeExternalName
	switch name := service.Spec.ExternalName; {
	case !isExternal && service.Spec.ClusterIP == "":
		return nil, "", failures.Newf(v1.ReasonTargetHasNoAddress, "Service %s has no cluster IP yet", service.Name)
	case isExternal && net.ParseIP(strings.TrimSuffix(name, ".")) != nil:
		return nil, "", failures.Newf(v1.ReasonTargetNotAddressable,
			"Service %s has the externalName %s, an IP address, which DNS does not resolve; use a headless Service with an EndpointSlice instead",
			service.Name, name)
	}
	found, p := findPort(service, port)
	if p != nil {
		return nil, "", p
	}
	number := found.Port
	// Without a cluster IP as the destination of the connections, nothing replaces the port.
	if visibility != v1.VisibilityPublic && (isExternal || service.Spec.ClusterIP == corev1.ClusterIPNone) {
		if found.TargetPort.Type == intstr.String {
			return nil, "", failures.Newf(v1.ReasonTargetPortUnknown,
				"Service %s maps no ports, so that clients connect to targetPort %q of its port %s, and a URL needs the number; "+
					"set targetPort to a number, or refer to a Service with a cluster IP", service.Name, found.TargetPort.StrVal, nameOf(found))
		}
		number = cmp.Or(found.TargetPort.IntVal, number)
	}
	appProtocol := cmp.Or(port.AppProtocol, ptr.Deref(found.AppProtocol, ""))
	if appProtocol != "" && schemes[strings.ToLower(appProtocol)] == "" {
		return nil, "", failures.Newf(v1.ReasonUnsupportedProtocol,
			"port %s of Service %s has appProtocol %q, which has no URL scheme; if clients reach it by another one, "+
				"set appProtocol in spec.ports, for example to http or https", nameOf(found), service.Name, appProtocol)
	}
	scheme := "http"
	switch {
	case visibility == v1.VisibilityPublic && port == v1.AddressPort{}:
		// The port is that of the gateway, which the public scheme implies.
		appProtocol, number = "", 0
	case found.Port == 443:
		scheme = "https"
	}
	host := network.GetServiceHostname(service.Name, service.Namespace)
	if number != 0 {
		host = net.JoinHostPort(host, strconv.Itoa(int(number)))
	}
	return &duckv1.Addressable{URL: &apis.URL{Scheme: scheme, Host: host}}, appProtocol, nil
}

// findPort returns the port that an entry of spec.ports selects, by its number or else by its name. Without either it returns the default:
// port 80, or else the first port of protocol TCP.
func findPort(service *corev1.Service, port v1.AddressPort) (corev1.ServicePort, *failures.Failure) {
	isTCP := func(p corev1.ServicePort) bool { return p.Protocol == corev1.ProtocolTCP || p.Protocol == "" }
	var found *corev1.ServicePort
	var tcp []string
	for _, p := range service.Spec.Ports {
		if isTCP(p) {
			tcp = append(tcp, nameOf(p))
		}
		isMatch := port.Port == 0 && (port.Name == "" || p.Name == port.Name) || port.Port != 0 && p.Port == port.Port
		if isMatch && (found == nil || isTCP(p) && (!isTCP(*found) || p.Port == 80 && found.Port != 80)) {
			found = &p
		}
	}
	isListed := service.Spec.Type != corev1.ServiceTypeExternalName && len(service.Spec.Ports) > 0
	switch {
	case found == nil && !isListed && (port.Port != 0 || port.Name == ""):
		return corev1.ServicePort{Port: port.Port}, nil
	case found == nil:
		return corev1.ServicePort{}, failures.Newf(v1.ReasonPortNotFound, "Service %s has no port %s, which spec.ports requests; its TCP ports are %v",
			service.Name, nameOf(corev1.ServicePort{Name: port.Name, Port: port.Port}), tcp)
	case !isTCP(*found):
		return corev1.ServicePort{}, failures.Newf(v1.ReasonUnsupportedProtocol,
			"port %s of Service %s has protocol %s, and a URL needs TCP; its TCP ports are %v",
			nameOf(*found), service.Name, found.Protocol, tcp)
	}
	return *found, nil
}

// nameOf returns name:number, or the one that there is.
func nameOf(p corev1.ServicePort) string {
	return strings.Trim(p.Name+":"+strings.TrimPrefix(strconv.Itoa(int(p.Port)), "0"), ":")
}

// schemes are the URL schemes of application protocols, whose values are those of a Service port: IANA names, Kubernetes' own with a prefix
// (KEP-3726), and those in common use. The keys are in lower case.
var schemes = map[string]string{
	"http": "http", "http2": "http", "h2c": "http", "kubernetes.io/h2c": "http", "https": "https", "grpc": "grpc",
	"ws": "ws", "kubernetes.io/ws": "ws", "wss": "wss", "kubernetes.io/wss": "wss",
}

// makePublic replaces the host by the one of the domain template. The port and a requested scheme stay.
func makePublic(cfg *config.Addressable, as *v1.AddressableService, appProtocol string, a *duckv1.Addressable) *failures.Failure {
	host, err := cfg.Host(as.Namespace, as.Name)
	if err != nil {
		return failures.Newf(v1.ReasonHostInvalid, "%v; the template is domain-template in ConfigMap %s", err, config.AddressableName)
	}
	if port := a.URL.URL().Port(); port != "" {
		host = net.JoinHostPort(host, port)
	}
	a.URL.Host = host
	if appProtocol == "" {
		a.URL.Scheme = cfg.Scheme
	}
	// The target's certificate does not hold for the public name.
	a.CACerts = nil
	return nil
}

// withoutDefaultPort leaves out a port that the scheme implies.
func withoutDefaultPort(scheme, host string) string {
	return strings.TrimSuffix(host, map[string]string{"http": ":80", "ws": ":80", "https": ":443", "wss": ":443"}[scheme])
}
