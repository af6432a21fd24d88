/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package install

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// party is one end of a connection.
type party struct {
	namespace string
	// labels are those of the Pod. A party without labels is not a Pod, but a node, the API server or an external client.
	labels map[string]string
	ports  []corev1.ContainerPort
}

// network evaluates network policies as their documentation defines: a Pod that no policy selects for
// a direction is open in it; what any of the policies that select it allows is allowed. It knows the selectors of Pods and
// namespaces and ports by number or name, and fails on what it does not know.
type network struct {
	t          *testing.T
	policies   []*networkingv1.NetworkPolicy
	namespaces map[string]map[string]string
}

// reaches reports whether a connection is allowed at both ends.
func (n network) reaches(from, to party, protocol corev1.Protocol, port int32) bool {
	return n.allowed(networkingv1.PolicyTypeEgress, from, to, to, protocol, port) &&
		n.allowed(networkingv1.PolicyTypeIngress, to, from, to, protocol, port)
}

// allowed looks at one end: subject is the Pod there, peer the other end, server the one with the port.
func (n network) allowed(direction networkingv1.PolicyType, subject, peer, server party, protocol corev1.Protocol, port int32) bool {
	if subject.labels == nil {
		return true
	}
	selected := false
	for _, policy := range n.policies {
		if policy.Namespace != subject.namespace || !slices.Contains(policy.Spec.PolicyTypes, direction) ||
			!n.matches(&policy.Spec.PodSelector, subject.labels) {
			continue
		}
		selected = true
		for _, rule := range rules(policy, direction) {
			if n.peerMatches(rule.peers, policy.Namespace, peer) && n.portMatches(rule.ports, server, protocol, port) {
				return true
			}
		}
	}
	return !selected
}

type rule struct {
	peers []networkingv1.NetworkPolicyPeer
	ports []networkingv1.NetworkPolicyPort
}

func rules(policy *networkingv1.NetworkPolicy, direction networkingv1.PolicyType) []rule {
	var found []rule
	if direction == networkingv1.PolicyTypeIngress {
		for _, r := range policy.Spec.Ingress {
			found = append(found, rule{r.From, r.Ports})
		}
		return found
	}
	for _, r := range policy.Spec.Egress {
		found = append(found, rule{r.To, r.Ports})
	}
	return found
}

func (n network) matches(selector *metav1.LabelSelector, set map[string]string) bool {
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		n.t.Fatal(err)
	}
	return parsed.Matches(labels.Set(set))
}

func (n network) peerMatches(peers []networkingv1.NetworkPolicyPeer, namespace string, peer party) bool {
	if len(peers) == 0 {
		return true
	}
	return slices.ContainsFunc(peers, func(p networkingv1.NetworkPolicyPeer) bool {
		if p.IPBlock != nil {
			n.t.Fatal("blocks of addresses are not known here")
		}
		if peer.labels == nil {
			return false
		}
		if p.NamespaceSelector == nil {
			return peer.namespace == namespace && n.matches(p.PodSelector, peer.labels)
		}
		return n.matches(p.NamespaceSelector, n.namespaces[peer.namespace]) && (p.PodSelector == nil || n.matches(p.PodSelector, peer.labels))
	})
}

func (n network) portMatches(ports []networkingv1.NetworkPolicyPort, server party, protocol corev1.Protocol, port int32) bool {
	if len(ports) == 0 {
		return true
	}
	return slices.ContainsFunc(ports, func(p networkingv1.NetworkPolicyPort) bool {
		if p.Protocol == nil || *p.Protocol != protocol {
			return false
		}
		if p.EndPort != nil {
			n.t.Fatal("ranges of ports are not known here")
		}
		if p.Port == nil {
			return true
		}
		if name := p.Port.StrVal; name != "" {
			return slices.ContainsFunc(server.ports, func(c corev1.ContainerPort) bool { return c.Name == name && c.ContainerPort == port })
		}
		return p.Port.IntVal == port
	})
}

// No network plugin runs here, so the policies are read as one would.
func TestNetworkPolicies_Ports_AllowTheDocumentedPeers(t *testing.T) {
	for _, overlay := range installations {
		if overlay == withoutWebhook {
			continue // a peer is missing; TestOverlays_NoWebhooks_HasPoliciesInPlaceOfTheWebhook compares the policies
		}
		t.Run(overlay, func(t *testing.T) {
			i := rendered(t, overlay)
			n := network{t: t, policies: i.policies, namespaces: i.namespaces}
			n.namespaces["monitoring"] = map[string]string{"metrics": "enabled"}
			n.namespaces["shop"] = map[string]string{"metrics": "disabled"}
			pod := func(d string) party {
				template := i.deployments[d].Spec.Template
				return party{"knative-samples", template.Labels, template.Spec.Containers[0].Ports}
			}
			controller, webhook := pod("controller"), pod("webhook")
			stranger := party{"knative-samples", map[string]string{"app": "stranger"}, []corev1.ContainerPort{{Name: "metrics", ContainerPort: 9090}}}
			prometheus := party{"monitoring", map[string]string{"app": "prometheus"}, nil}
			shop := party{"shop", map[string]string{"app": "shop"}, nil}
			outside := party{} // as the API server is
			const tcp, udp = corev1.ProtocolTCP, corev1.ProtocolUDP
			for _, c := range []struct {
				name     string
				from, to party
				protocol corev1.Protocol
				port     int32
				want     bool
			}{
				{"the API server to the webhook", outside, webhook, tcp, 8443, true},
				{"the API server to the controller, at that port", outside, controller, tcp, 8443, false},
				{"any Pod to the controller's metrics", outside, controller, tcp, 9090, false},
				{"Prometheus to the controller's metrics", prometheus, controller, tcp, 9090, true},
				{"Prometheus to the webhook's metrics", prometheus, webhook, tcp, 9090, true},
				{"Prometheus to the controller's profiler", prometheus, controller, tcp, 8008, false},
				{"Prometheus to the controller's probes", prometheus, controller, tcp, 8080, false},
				{"Prometheus to the metrics of a Pod that is not ours", prometheus, stranger, tcp, 9090, false},
				{"a namespace without the label to metrics", shop, controller, tcp, 9090, false},
				{"a namespace without the label to the webhook's profiler", shop, webhook, tcp, 8008, false},
				{"any Pod to the profiler", outside, webhook, tcp, 8008, false},
				{"the own namespace to metrics", stranger, controller, tcp, 9090, false},
				{"the webhook to the controller's metrics", webhook, controller, tcp, 9090, false},
				{"the metrics' port by another protocol", prometheus, controller, udp, 9090, false},
				{"the controller to the API server's Service", controller, outside, tcp, 443, true},
				{"the webhook to the API server behind it", webhook, outside, tcp, 6443, true},
				{"a stranger in the namespace to the API server", stranger, outside, tcp, 443, false},
				{"the controller to names", controller, outside, udp, 53, true},
				{"the controller to a collector", controller, prometheus, tcp, 4317, true},
				{"the webhook to a collector over HTTP", webhook, prometheus, tcp, 4318, true},
				{"the controller to a collector where none may be", controller, shop, tcp, 4317, false},
				{"the controller to the web", controller, outside, tcp, 80, false},
				{"two others", shop, prometheus, tcp, 9090, true},
			} {
				if got := n.reaches(c.from, c.to, c.protocol, c.port); got != c.want {
					t.Errorf("%s, %s %d: reaches is %t, want %t", c.name, c.protocol, c.port, got, c.want)
				}
			}
		})
	}
}
