/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"cmp"
	"net"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"knative.dev/pkg/apis"
	duckv1 "knative.dev/pkg/apis/duck/v1"
	"knative.dev/pkg/network"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/runtime/failures"
)

// serviceEndpoint decides by which URL clients reach a port of a Service. docs/reference/api/addressableservice.md has a table of the cases.
func serviceEndpoint(service *corev1.Service, port v1.AddressPort, visibility v1.Visibility) (endpoint, *failures.Failure) {
	if p := checkHost(service); p != nil {
		return endpoint{}, p
	}
	found, p := findPort(service, port)
	if p != nil {
		return endpoint{}, p
	}
	number := found.Port
	if visibility != v1.VisibilityPublic && !mapsPorts(service) {
		if found.TargetPort.Type == intstr.String {
			return endpoint{}, failures.Newf(v1.ReasonTargetPortUnknown,
				"Service %s maps no ports, so that clients connect to targetPort %q of its port %s, "+
					"and a URL needs the number; set targetPort to a number, or refer to a Service with a cluster IP",
				service.Name, found.TargetPort.StrVal, nameOf(found))
		}
		number = cmp.Or(found.TargetPort.IntVal, number)
	}
	appProtocol := cmp.Or(port.AppProtocol, ptr.Deref(found.AppProtocol, ""))
	if appProtocol != "" && schemeOf(appProtocol) == "" {
		return endpoint{}, failures.Newf(v1.ReasonUnsupportedProtocol,
			"port %s of Service %s has appProtocol %q, which has no URL scheme; "+
				"if clients reach it by another one, set appProtocol in spec.ports, for example to http or https",
			nameOf(found), service.Name, appProtocol)
	}
	scheme := "http"
	if found.Port == 443 {
		scheme = "https"
	}
	return endpoint{name: port.Name, appProtocol: appProtocol, address: serviceAddress(service, scheme, number)}, nil
}

// checkHost reports why no client can connect to the host name of a Service, whichever the port.
func checkHost(service *corev1.Service) *failures.Failure {
	switch name := service.Spec.ExternalName; {
	case service.Spec.Type != corev1.ServiceTypeExternalName && service.Spec.ClusterIP == "":
		return failures.Newf(v1.ReasonTargetHasNoAddress, "Service %s has no cluster IP yet", service.Name)
	case service.Spec.Type == corev1.ServiceTypeExternalName && net.ParseIP(strings.TrimSuffix(name, ".")) != nil:
		return failures.Newf(v1.ReasonTargetNotAddressable,
			"Service %s has the externalName %s, an IP address, which DNS does not resolve; use a headless Service with an EndpointSlice instead",
			service.Name, name)
	}
	return nil
}

// mapsPorts reports whether the connections of clients have a cluster IP as their destination, so that kube-proxy replaces the port.
func mapsPorts(service *corev1.Service) bool {
	return service.Spec.Type != corev1.ServiceTypeExternalName && service.Spec.ClusterIP != corev1.ClusterIPNone
}

// findPort returns the port that an entry of spec.ports selects, by its number or else by its name. Without either it returns the default:
// port 80, or else the first port of protocol TCP.
func findPort(service *corev1.Service, port v1.AddressPort) (corev1.ServicePort, *failures.Failure) {
	candidates := slices.DeleteFunc(slices.Clone(service.Spec.Ports), func(p corev1.ServicePort) bool {
		if port.Port != 0 {
			return p.Port != port.Port
		}
		return port.Name != "" && p.Name != port.Name
	})
	if len(candidates) == 0 {
		isListed := service.Spec.Type != corev1.ServiceTypeExternalName && len(service.Spec.Ports) > 0
		switch {
		case !isListed && (port.Port != 0 || port.Name == ""):
			return corev1.ServicePort{Port: port.Port}, nil
		case port.Port != 0:
			return corev1.ServicePort{}, failures.Newf(v1.ReasonPortNotFound, "Service %s exposes no port %d, which spec.ports[%s] requests; %s",
				service.Name, port.Port, port.Name, portsOf(service))
		default:
			return corev1.ServicePort{}, failures.Newf(v1.ReasonPortNotFound, "Service %s has no port named %q; %s",
				service.Name, port.Name, portsOf(service))
		}
	}
	found := slices.MinFunc(candidates, func(a, b corev1.ServicePort) int { return cmp.Compare(preference(a), preference(b)) })
	if !isTCP(found) {
		return found, failures.Newf(v1.ReasonUnsupportedProtocol, "port %s of Service %s has protocol %s, and a URL needs TCP; %s",
			nameOf(found), service.Name, found.Protocol, portsOf(service))
	}
	return found, nil
}

// preference orders the ports that match; findPort selects the least.
func preference(p corev1.ServicePort) int {
	switch {
	case !isTCP(p):
		return 2
	case p.Port != 80:
		return 1
	default:
		return 0
	}
}

func isTCP(p corev1.ServicePort) bool { return p.Protocol == corev1.ProtocolTCP || p.Protocol == "" }

func nameOf(p corev1.ServicePort) string {
	return strings.TrimPrefix(p.Name+":", ":") + strconv.Itoa(int(p.Port))
}

func portsOf(service *corev1.Service) string {
	var ports []string
	for _, p := range service.Spec.Ports {
		if isTCP(p) {
			ports = append(ports, nameOf(p))
		}
	}
	if len(ports) == 0 {
		return "it has no TCP port"
	}
	return "its TCP ports are " + strings.Join(ports, ", ")
}

func serviceAddress(service *corev1.Service, scheme string, port int32) duckv1.Addressable {
	host := network.GetServiceHostname(service.Name, service.Namespace)
	if port != 0 {
		host = net.JoinHostPort(host, strconv.Itoa(int(port)))
	}
	return duckv1.Addressable{URL: &apis.URL{Scheme: scheme, Host: host}}
}

// schemes are the URL schemes of application protocols, whose values are those of a Service port: IANA names, Kubernetes' own with a prefix
// (KEP-3726), and those in common use.
var schemes = map[string]string{
	"http": "http", "http2": "http", "h2c": "http", "kubernetes.io/h2c": "http", "https": "https", "grpc": "grpc",
	"ws": "ws", "kubernetes.io/ws": "ws", "wss": "wss", "kubernetes.io/wss": "wss",
}

// schemeOf returns the URL scheme of an application protocol, or nothing if it has none.
func schemeOf(appProtocol string) string { return schemes[strings.ToLower(appProtocol)] }
