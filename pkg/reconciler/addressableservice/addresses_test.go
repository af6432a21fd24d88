/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"knative.dev/pkg/apis"
	duckv1 "knative.dev/pkg/apis/duck/v1"

	"github.com/mallard-dev/mallard/pkg/apis/config"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/test/addressableservice/urls"
)

// named gives the addresses these names, in their order.
func named(addresses []duckv1.Addressable, names ...string) []duckv1.Addressable {
	for i, name := range names {
		if name != "" {
			addresses[i].Name = &name
		}
	}
	return addresses
}

func port(name string, number int32, appProtocol string) v1.AddressPort {
	return v1.AddressPort{Name: name, Port: number, AppProtocol: appProtocol}
}

// headless makes a Service headless, with a name as the targetPort of its ports.
func headless(s *corev1.Service) *corev1.Service {
	s.Spec.ClusterIP = corev1.ClusterIPNone
	for i := range s.Spec.Ports {
		s.Spec.Ports[i].TargetPort = intstr.FromString("http")
	}
	return s
}

// sameURL compares URLs as they are written.
func sameURL(a, b apis.URL) bool { return a.String() == b.String() }

func TestPlanAddresses_ServicePorts_ReturnsURLs(t *testing.T) {
	at := func(urls ...string) target { return target{addresses: addressesAt(urls...)} }
	svc := func(mods ...func(*corev1.Service)) target { return target{service: service(ns, "target", mods...)} }
	web := withServicePort("web", 8080, "")
	certs := "CERTS"
	withCerts := target{addresses: []duckv1.Addressable{{URL: mustParse("https://d.example.com"), CACerts: &certs}}}

	for name, tc := range map[string]struct {
		mods    []mod
		target  target
		cfg     *config.Addressable
		want    []duckv1.Addressable
		problem string
	}{
		"a number beats a name": {
			[]mod{withPorts(port("web", 9090, ""))},
			svc(web, withServicePort("other", 9090, "")), nil,
			named(addressesAt("http://"+host+":9090"), "web"), "",
		},
		"protocol from the spec beats the Service's": {
			[]mod{withPorts(port("web", 0, "grpc"))}, svc(withServicePort("web", 8443, "https")), nil, named(addressesAt("grpc://"+host+":8443"), "web"), "",
		},
		"path":                           {[]mod{withPath("/a/b")}, svc(), nil, addressesAt("http://" + host + "/a/b"), ""},
		"path after a path":              {[]mod{withPath("/b")}, at("http://d/a"), nil, addressesAt("http://d/a/b"), ""},
		"path after a slash":             {[]mod{withPath("/b")}, at("http://d/a/"), nil, addressesAt("http://d/a/b"), ""},
		"path before a query":            {[]mod{withPath("/b")}, at("http://d/a?q=1"), nil, addressesAt("http://d/a/b?q=1"), ""},
		"path after an escaped slash":    {[]mod{withPath("/b")}, at("http://d/a%2Fb/"), nil, addressesAt("http://d/a%2Fb/b"), ""},
		"Addressable":                    {nil, at("http://d.example.com"), nil, addressesAt("http://d.example.com"), ""},
		"first of several":               {nil, at("http://first", "http://second"), nil, addressesAt("http://first"), ""},
		"Addressable loses its own name": {nil, target{addresses: named(addressesAt("http://d"), "theirs")}, nil, addressesAt("http://d"), ""},
		"Addressable keeps its scheme":   {nil, at("https://d:8443"), nil, addressesAt("https://d:8443"), ""},
		"Addressable keeps its CA":       {nil, withCerts, nil, withCerts.addresses, ""},
		"default port of an Addressable": {nil, at("https://d:443"), nil, addressesAt("https://d"), ""},
		"number replaces the port":       {[]mod{withPorts(port("p", 9, ""))}, at("http://d:8080/x"), nil, named(addressesAt("http://d:9/x"), "p"), ""},
		"number for IPv6":                {[]mod{withPorts(port("p", 9, ""))}, at("http://[::1]:8080"), nil, named(addressesAt("http://[::1]:9"), "p"), ""},
		"name picks an address":          {[]mod{withPorts(port("b", 0, ""))}, target{addresses: named(addressesAt("http://x", "http://y"), "a", "b")}, nil, named(addressesAt("http://y"), "b"), ""},
		"protocol replaces scheme":       {[]mod{withPorts(port("p", 9, "kubernetes.io/wss"))}, at("http://d"), nil, named(addressesAt("wss://d:9"), "p"), ""},
		"name that no address has":       {[]mod{withPorts(port("c", 0, ""))}, target{addresses: named(addressesAt("http://x"), "a")}, nil, nil, `Service target has no address named "c"`},
		"named address without host":     {[]mod{withPorts(port("b", 0, ""))}, target{addresses: named(append(addressesAt("http://x"), duckv1.Addressable{}), "a", "b")}, nil, nil, `Service target has no address named "b"`},
		"public":                         {[]mod{public}, svc(), nil, addressesAt("https://a.ns.example.com"), ""},
		"public with path":               {[]mod{public, withPath("/p")}, svc(), nil, addressesAt("https://a.ns.example.com/p"), ""},
		"public without ports":           {[]mod{public}, svc(withServicePort("web", 8443, "grpc")), nil, addressesAt("https://a.ns.example.com"), ""},
		"public keeps the port of a headless Service": {
			[]mod{public, withPorts(port("web", 0, ""))}, target{service: headless(service(ns, "target", web))}, nil, named(addressesAt("https://a.ns.example.com:8080"), "web"), "",
		},
		"public without a TCP port": {[]mod{public}, svc(func(s *corev1.Service) {
			s.Spec.Ports = []corev1.ServicePort{{Port: 514, Protocol: corev1.ProtocolUDP}}
		}), nil, nil, "protocol UDP"},
		"public keeps a port":              {[]mod{public, withPorts(port("p", 8080, ""))}, svc(web), nil, named(addressesAt("https://a.ns.example.com:8080"), "p"), ""},
		"public drops port 80 of http":     {[]mod{public, withPorts(port("p", 80, ""))}, svc(withServicePort("", 80, "")), nil, named(addressesAt("https://a.ns.example.com"), "p"), ""},
		"public drops port 443 of https":   {[]mod{public, withPorts(port("p", 443, ""))}, svc(withServicePort("", 443, "")), nil, named(addressesAt("https://a.ns.example.com"), "p"), ""},
		"public keeps a protocol":          {[]mod{public, withPorts(port("p", 8080, "grpc"))}, svc(web), nil, named(addressesAt("grpc://a.ns.example.com:8080"), "p"), ""},
		"public replaces an IPv6 address":  {[]mod{public}, at("http://[::1]:8080"), nil, addressesAt("https://a.ns.example.com:8080"), ""},
		"public drops the target's CA":     {[]mod{public}, withCerts, nil, addressesAt("https://a.ns.example.com"), ""},
		"public by http":                   {[]mod{public}, svc(), testConfig(func(c *config.Addressable) { c.Scheme = "http" }), addressesAt("http://a.ns.example.com"), ""},
		"public in another domain":         {[]mod{public}, svc(), testConfig(func(c *config.Addressable) { c.Domain = "example.org" }), addressesAt("https://a.ns.example.org"), ""},
		"public in a domain that is wrong": {[]mod{public}, svc(), testConfig(func(c *config.Addressable) { c.Domain = "A" }), nil, `host name "a.ns.A"`},
		"one bad port takes all": {
			[]mod{withPorts(port("web", 0, ""), port("p", 0, ""))}, svc(web), nil, nil, "Service target has no port p, which spec.ports requests; its TCP ports are [web:8080]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := tc.cfg
			if cfg == nil {
				cfg = testConfig()
			}
			before := target{service: tc.target.service.DeepCopy()}
			for _, a := range tc.target.addresses {
				before.addresses = append(before.addresses, *a.DeepCopy())
			}
			got, p := planAddresses(cfg, object("a", tc.mods...), tc.target)
			if diff := cmp.Diff(tc.want, got, cmp.Comparer(sameURL)); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
			if !says(p, tc.problem) {
				t.Errorf("the problem is %+v, want %q", p, tc.problem)
			}
			if diff := cmp.Diff(before.addresses, tc.target.addresses); diff != "" {
				t.Errorf("the target's addresses were changed (-before, +after):\n%s", diff)
			}
			if diff := cmp.Diff(before.service, tc.target.service); diff != "" {
				t.Errorf("the Service was changed (-before, +after):\n%s", diff)
			}
		})
	}
}

func TestPlanAddresses_EachServiceOfTheReference_HasTheURLOrTheReason(t *testing.T) {
	for _, row := range urls.Rows(t, "target", ns) {
		t.Run(row.Spec+row.Ports, func(t *testing.T) {
			as, found := object("a"), target{service: row.Service(t, service(ns, "target").ObjectMeta)}
			if err := yaml.UnmarshalStrict([]byte(row.Ports), &as.Spec.Ports); err != nil {
				t.Fatal(err)
			}
			addresses, p := planAddresses(testConfig(), as, found)
			var url, reason, message string
			if p != nil {
				reason, message = p.Reason, p.Message
			} else {
				url = addresses[0].URL.String()
			}
			if url != row.URL || reason != row.Reason || message != row.Message {
				t.Errorf("got  %q %q %q\nwant %q %q %q", url, reason, message, row.URL, row.Reason, row.Message)
			}
		})
	}
}

// valuesOf returns the values that a row has in the dimensions of the table, those of the type together with the other ones, too.
func valuesOf(t *testing.T, row urls.Row) []string {
	t.Helper()
	service := row.Service(t, service(ns, "target").ObjectMeta)
	var requested []v1.AddressPort
	if err := yaml.UnmarshalStrict([]byte(row.Ports), &requested); err != nil {
		t.Fatal(err)
	}
	sort := string(service.Spec.Type)
	if sort == "ClusterIP" && service.Spec.ClusterIP == corev1.ClusterIPNone {
		sort = "headless"
	}
	values := []string{sort, fmt.Sprintf("%s with a selector: %t", sort, len(service.Spec.Selector) > 0)}
	if policy := service.Spec.IPFamilyPolicy; policy != nil {
		values = append(values, string(*policy))
	}
	for _, port := range service.Spec.Ports {
		target := "no targetPort"
		switch {
		case port.TargetPort.StrVal != "":
			target = "targetPort by name"
		case port.TargetPort.IntVal != 0:
			target = "targetPort by number"
		}
		appProtocol := strings.ToLower(ptr.Deref(port.AppProtocol, ""))
		values = append(values, target, sort+" "+target, sort+" "+string(port.Protocol), "appProtocol "+appProtocol)
		if appProtocol != "" {
			values = append(values, sort+" with appProtocol")
		}
		if port.Port == 443 {
			values = append(values, sort+" 443")
		}
	}
	for _, port := range requested {
		if port.Port == 0 {
			values = append(values, sort+" by name")
		} else {
			values = append(values, sort+" by number")
		}
	}
	if len(requested) == 0 {
		values = append(values, sort+" without spec.ports")
	}
	return values
}

func TestURLs_EachValueOfEachDimension_OccursInARow(t *testing.T) {
	missing := sets.New(
		"SingleStack", "PreferDualStack", "RequireDualStack", "headless targetPort by number", "ExternalName targetPort by number", "ClusterIP targetPort by number",
		"appProtocol redis", "appProtocol example.com/own",
	)
	for _, sort := range []string{"ClusterIP", "headless", "NodePort", "LoadBalancer", "ExternalName"} {
		missing.Insert(sort, sort+" TCP", sort+" UDP", sort+" SCTP", sort+" 443", sort+" by name", sort+" by number", sort+" without spec.ports",
			sort+" no targetPort", sort+" targetPort by name", sort+" with appProtocol")
		if sort != "ExternalName" { // whose selector has no effect
			missing.Insert(sort+" with a selector: true", sort+" with a selector: false")
		}
	}
	for _, protocol := range []string{"", "http", "http2", "https", "grpc", "kubernetes.io/h2c", "kubernetes.io/ws", "kubernetes.io/wss"} {
		missing.Insert("appProtocol " + protocol)
	}
	for _, row := range urls.Rows(t, "target", ns) {
		missing.Delete(valuesOf(t, row)...)
	}
	if missing.Len() > 0 {
		t.Errorf("no row of the table has %q", sets.List(missing))
	}
}

func TestSchemes_Port_HasTheScheme(t *testing.T) {
	for appProtocol, want := range map[string]string{
		"http": "http", "HTTP": "http", "https": "https", "HTTPS": "https", "grpc": "grpc", "kubernetes.io/h2c": "http",
		"kubernetes.io/ws": "ws", "kubernetes.io/wss": "wss", "ws": "ws", "wss": "wss", "tcp": "", "example.com/own": "",
	} {
		if got := schemes[strings.ToLower(appProtocol)]; got != want {
			t.Errorf("the scheme of %q is %q, want %q", appProtocol, got, want)
		}
	}
}

func TestWithoutDefaultPort_URL_OmitsIt(t *testing.T) {
	for _, tc := range []struct{ scheme, host, want string }{
		{"http", "h:80", "h"},
		{"ws", "h:80", "h"},
		{"https", "h:443", "h"},
		{"wss", "h:443", "h"},
		{"http", "h:443", "h:443"},
		{"https", "h:80", "h:80"},
		{"http", "h:8080", "h:8080"},
		{"http", "h", "h"},
		{"grpc", "h:443", "h:443"},
		{"http", "[::1]:80", "[::1]"},
		{"http", "[::80]", "[::80]"},
	} {
		if got := withoutDefaultPort(tc.scheme, tc.host); got != tc.want {
			t.Errorf("withoutDefaultPort(%q, %q) = %q, want %q", tc.scheme, tc.host, got, tc.want)
		}
	}
}
