/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package processes

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestExpand_References_AreReplaced(t *testing.T) {
	t.Parallel()
	known := map[string]string{"A": "1", "EMPTY": ""}
	for text, want := range map[string]string{
		"":             "",
		"plain":        "plain",
		"$(A)":         "1",
		"x$(A)y$(A)":   "x1y1",
		"$(EMPTY)":     "",
		"$(B)":         "$(B)",
		"$$(A)":        "$(A)",
		"$$$(A)":       "$1",
		"$A":           "$A",
		"$":            "$",
		"$(A":          "$(A",
		"cost: 5$ ($)": "cost: 5$ ($)",
	} {
		if got := expand(text, known); got != want {
			t.Errorf("expand(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestWorkloads_Manifests_ReturnsProcesses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		change func(*corev1.PodSpec)
		want   []string
		err    string
	}{
		"Plain": {reason: "the import path is what stands behind the prefix", change: func(*corev1.PodSpec) {}, want: []string{"example.com/cmd/a"}},
		"Foreign": {
			reason: "a Deployment of a foreign image is left alone, whatever it holds",
			change: func(p *corev1.PodSpec) {
				p.Containers[0].Image = "nginx"
				p.Containers[0].Command = []string{"sh"}
			},
		},
		"Ignored": {
			reason: "what has no meaning for a local process does not keep it from running",
			change: func(p *corev1.PodSpec) {
				p.SecurityContext = &corev1.PodSecurityContext{}
				p.NodeSelector = map[string]string{"a": "b"}
				p.Containers[0].LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{}}}
				p.Volumes = []corev1.Volume{{Name: "unused"}}
			},
			want: []string{"example.com/cmd/a"},
		},
		"Sidecar": {
			reason: "half a Pod would not do what its author means",
			change: func(p *corev1.PodSpec) {
				p.Containers = append(p.Containers, corev1.Container{Name: "b", Image: "nginx"})
			},
			err: `spec.template.spec.containers[1].image: Invalid value: "nginx"`,
		},
		"Init":       {reason: "named", change: func(p *corev1.PodSpec) { p.InitContainers = []corev1.Container{{}} }, err: "spec.template.spec.initContainers: Forbidden"},
		"Command":    {reason: "named", change: func(p *corev1.PodSpec) { p.Containers[0].Command = []string{"sh"} }, err: "containers[0].command: Forbidden"},
		"WorkingDir": {reason: "named", change: func(p *corev1.PodSpec) { p.Containers[0].WorkingDir = "/x" }, err: "containers[0].workingDir: Forbidden"},
		"Mount":      {reason: "named", change: func(p *corev1.PodSpec) { p.Containers[0].VolumeMounts = []corev1.VolumeMount{{}} }, err: "containers[0].volumeMounts[0]: Forbidden"},
		"Lifecycle":  {reason: "named", change: func(p *corev1.PodSpec) { p.Containers[0].Lifecycle = &corev1.Lifecycle{} }, err: "containers[0].lifecycle: Forbidden"},
		"UDP": {
			reason: "an address is found for TCP only",
			change: func(p *corev1.PodSpec) { p.Containers[0].Ports = []corev1.ContainerPort{{Protocol: "UDP"}} },
			err:    `containers[0].ports[0].protocol: Unsupported value: "UDP"`,
		},
		"ExecProbe": {
			reason: "there is no container to run the command in",
			change: func(p *corev1.PodSpec) { p.Containers[0].ReadinessProbe = &corev1.Probe{} },
			err:    "containers[0].readinessProbe.httpGet: Required value",
		},
		"ProbePort": {
			reason: "a port that is not declared has no local port",
			change: func(p *corev1.PodSpec) {
				p.Containers[0].ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromString("x")}}}
			},
			err: `containers[0].readinessProbe.httpGet.port: Invalid value: "x"`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &appsv1.Deployment{}
			d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "a", Image: "ko://example.com/cmd/a"}}
			test.change(&d.Spec.Template.Spec)
			found, err := workloads(d)
			if !matches(err, test.err) {
				t.Fatalf("%s: got error %v, want %q", test.reason, err, test.err)
			}
			var got []string
			for _, w := range found {
				got = append(got, w.importPath)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

func TestResolve_Variables_ReturnsTheirValues(t *testing.T) {
	t.Parallel()
	fields := podFields(metav1.ObjectMeta{Name: "pod", Namespace: "ns", UID: "1", Labels: map[string]string{"app": "a", "b": "c"}}, "sa")
	ref := func(path string) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}
	}
	limit := func(name string) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: name}}
	}
	port := []corev1.ContainerPort{{ContainerPort: 8443}}
	tests := map[string]struct {
		reason string
		env    []corev1.EnvVar
		ports  []corev1.ContainerPort
		want   map[string]string
		err    string
	}{
		"Values": {
			reason: "a variable may refer to one before it, not to one after it",
			env:    []corev1.EnvVar{{Name: "A", Value: "$(B)"}, {Name: "B", Value: "b"}, {Name: "C", Value: "$(B)!"}},
			want:   map[string]string{"A": "$(B)", "B": "b", "C": "b!"},
		},
		"Fields": {
			reason: "the Pod is one that might exist",
			env: []corev1.EnvVar{
				{Name: "N", ValueFrom: ref("metadata.namespace")},
				{Name: "P", ValueFrom: ref("metadata.name")},
				{Name: "S", ValueFrom: ref("spec.serviceAccountName")},
				{Name: "L", ValueFrom: ref("metadata.labels['app']")},
				{Name: "LS", ValueFrom: ref("metadata.labels")},
				{Name: "I", ValueFrom: ref("status.podIP")},
			},
			want: map[string]string{"N": "ns", "P": "pod", "S": "sa", "L": "a", "LS": "app=\"a\"\nb=\"c\"", "I": "127.0.0.1"},
		},
		"Port": {
			reason: "the process receives the local port, also in values made of the variable",
			env:    []corev1.EnvVar{{Name: "P", Value: "8443"}, {Name: "U", Value: "https://x:$(P)"}, {Name: "OTHER", Value: "8444"}},
			ports:  port,
			want:   map[string]string{"P": "20001", "U": "https://x:20001", "OTHER": "8444"},
		},
		"PortUntold":   {reason: "the field is named", ports: port, err: "c.ports[0].containerPort: Invalid value: 8443"},
		"UnknownField": {reason: "the field is named", env: []corev1.EnvVar{{Name: "A", ValueFrom: ref("spec.x")}}, err: `c.env[0] (A): valueFrom.fieldRef.fieldPath "spec.x"`},
		"Limit": {
			reason: "the limit is that of the container",
			env:    []corev1.EnvVar{{Name: "A", ValueFrom: limit("limits.memory")}},
			want:   map[string]string{"A": "536870912"},
		},
		"UnknownLimit": {
			reason: "the field is named",
			env:    []corev1.EnvVar{{Name: "A", ValueFrom: limit("limits.cpu")}},
			err:    `c.env[0] (A): valueFrom.resourceFieldRef.resource "limits.cpu"`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := &environment{namespace: "ns", fields: fields, ports: map[int32]int{8443: 20001}}
			got, err := e.resolve(t.Context(), &corev1.Container{
				Env: test.env, Ports: test.ports,
				Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: apiresource.MustParse("512Mi")}},
			}, field.NewPath("c"))
			if !matches(err, test.err) {
				t.Fatalf("%s: got error %v, want %q", test.reason, err, test.err)
			}
			if diff := cmp.Diff(test.want, got); err == nil && diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

func TestEndpoints_Services_ReturnsTheirPorts(t *testing.T) {
	t.Parallel()
	labels := map[string]string{"app": "a"}
	first := backend{namespace: "ns", labels: labels, declared: []corev1.ContainerPort{{Name: "https", ContainerPort: 8443}, {ContainerPort: 9090}}, local: map[int32]int{8443: 1, 9090: 2}}
	second := first
	second.local, second.ready = map[int32]int{8443: 3, 9090: 4}, true
	service := func(selector map[string]string, ports ...corev1.ServicePort) *corev1.Service {
		s := &corev1.Service{Spec: corev1.ServiceSpec{Selector: selector, Ports: ports}}
		s.Name, s.Namespace = "s", "ns"
		return s
	}
	ports := []corev1.ServicePort{{Port: 443, TargetPort: intstr.FromString("https")}, {Port: 9090}}

	got, err := endpoints(service(labels, ports...), selectedBy(service(labels), []backend{first}))
	if want := "443=127.0.0.1:1 9090=127.0.0.1:2"; err != nil || got != want {
		t.Errorf("ports by name and by number: got %q, %v, want %q", got, err, want)
	}
	got, err = endpoints(service(labels, ports...), selectedBy(service(labels), []backend{first, second}))
	if want := "443=127.0.0.1:3 9090=127.0.0.1:4"; err != nil || got != want {
		t.Errorf("a ready backend is preferred: got %q, %v, want %q", got, err, want)
	}
	_, err = endpoints(service(labels, corev1.ServicePort{Port: 1}), []backend{first})
	if !matches(err, "service ns/s: spec.ports[0].targetPort: no container that it selects declares port 1") {
		t.Errorf("a port that leads nowhere: got error %v", err)
	}
	for name, selector := range map[string]map[string]string{"none": nil, "another": {"app": "b"}, "narrower": {"app": "a", "x": "y"}} {
		if selected := selectedBy(service(selector), []backend{first}); len(selected) != 0 {
			t.Errorf("%s selector: selects %v", name, selected)
		}
	}
}

func TestFreePorts_Several_AreDistinct(t *testing.T) {
	t.Parallel()
	got, err := freePorts(t.Context(), []corev1.ContainerPort{{ContainerPort: 80}, {ContainerPort: 443}})
	if err != nil {
		t.Fatal(err)
	}
	if got[80] == got[443] || got[80] < firstPort || got[443] >= lastPort {
		t.Errorf("got %v, want two different ports from %d on and below %d", got, firstPort, lastPort)
	}
}

// matches reports whether an error contains the text, or is nil if the text is empty.
func matches(err error, text string) bool {
	if text == "" {
		return err == nil
	}
	return err != nil && strings.Contains(err.Error(), text)
}
