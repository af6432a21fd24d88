/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package environment

import (
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

var (
	yes  = true
	pond = corev1.LocalObjectReference{Name: "pond"}
	none = corev1.LocalObjectReference{Name: "none"}
)

func newResolver(c *corev1.Container) *Resolver {
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "lake", Name: name} }
	return &Resolver{
		Client: fake.NewClientset(
			&corev1.ConfigMap{ObjectMeta: meta("pond"), Data: map[string]string{"color": "green", "port": "8080"}},
			&corev1.Secret{ObjectMeta: meta("nest"), Data: map[string][]byte{"eggs": []byte("five")}},
		),
		Pod: &corev1.Pod{ObjectMeta: meta("duck"), Spec: corev1.PodSpec{
			NodeName: "process", ServiceAccountName: "drake", Containers: []corev1.Container{*c},
		}},
		PodIP: "10.244.0.7", NodeIP: "10.0.0.1",
		Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("64")},
		Ports:       map[int32]int{8080: 40001},
		Base:        map[string]string{"HOSTNAME": "duck", "PATH": "/bin"},
	}
}

func from(source corev1.EnvVarSource) []corev1.EnvVar {
	return []corev1.EnvVar{{Name: "VALUE", ValueFrom: &source}}
}

// TestVariables_Sources_HavePrecedence checks the variables of each source, and their precedence.
func TestVariables_Sources_HavePrecedence(t *testing.T) {
	for _, c := range []struct {
		name string
		from []corev1.EnvFromSource
		env  []corev1.EnvVar
		want map[string]string
	}{
		{name: "no variables", want: map[string]string{}},
		{
			name: "its own wins over the base", env: []corev1.EnvVar{{Name: "PATH", Value: "/app:$(PATH)"}},
			want: map[string]string{"PATH": "/app:/bin"},
		},
		{
			name: "an earlier one is known, a later one is not",
			env:  []corev1.EnvVar{{Name: "A", Value: "a"}, {Name: "B", Value: "$(A)$(C)$$(A)"}, {Name: "C", Value: "c"}},
			want: map[string]string{"A": "a", "B": "a$(C)$(A)", "C": "c"},
		},
		{
			name: "all of a ConfigMap with a prefix, and a secret that may be missing",
			from: []corev1.EnvFromSource{
				{Prefix: "POND_", ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: pond}},
				{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: none, Optional: &yes}},
			},
			want: map[string]string{"POND_color": "green", "POND_port": "8080"},
		},
		{
			name: "a variable wins over a ConfigMap, and may refer to it",
			from: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: pond}}},
			env:  []corev1.EnvVar{{Name: "color", Value: "dark $(color)"}},
			want: map[string]string{"color": "dark green", "port": "8080"},
		},
		{name: "a declared port", env: []corev1.EnvVar{{Name: "PORT", Value: "8080"}}, want: map[string]string{"PORT": "40001"}},
		{name: "no declared port", env: []corev1.EnvVar{{Name: "PORT", Value: "08080"}}, want: map[string]string{"PORT": "08080"}},
		{
			name: "a secret", want: map[string]string{"VALUE": "five"},
			env: from(corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "nest"}, Key: "eggs"}}),
		},
		{
			name: "a key that may be missing", want: map[string]string{},
			env: from(corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: pond, Key: "depth", Optional: &yes}}),
		},
		{name: "its address", env: from(corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}), want: map[string]string{"VALUE": "10.244.0.7"}},
		{name: "its Node's address", env: from(corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.hostIP"}}), want: map[string]string{"VALUE": "10.0.0.1"}},
		{name: "its account", env: from(corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.serviceAccountName"}}), want: map[string]string{"VALUE": "drake"}},
		{name: "a limit that it does not have", env: from(corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.cpu"}}), want: map[string]string{"VALUE": "64"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			container := &corev1.Container{Name: "main", EnvFrom: c.from, Env: c.env}
			r := newResolver(container)
			want := maps.Clone(r.Base)
			maps.Copy(want, c.want)
			got, err := r.Variables(t.Context(), container)
			if err != nil || !maps.Equal(got, want) {
				t.Errorf("the variables are %v instead of %v (%v)", got, want, err)
			}
		})
	}
}

// TestVariables_MissingSources_AreNamedAsByAKubelet checks that what is missing is named as by a kubelet.
func TestVariables_MissingSources_AreNamedAsByAKubelet(t *testing.T) {
	for want, c := range map[string]corev1.Container{
		`configmap "none" not found`: {EnvFrom: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: none}}}},
		`secret "none" not found`:    {Env: from(corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: none, Key: "eggs"}})},
		"couldn't find key depth in ConfigMap lake/pond": {
			Env: from(corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: pond, Key: "depth"}}),
		},
		"env VALUE: this source of a value is not known": {Env: from(corev1.EnvVarSource{})},
		"field metadata.color":                           {Env: from(corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.color"}})},
	} {
		if _, err := newResolver(&c).Variables(t.Context(), &c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v instead of %q", err, want)
		}
	}
}

// TestExpand_Arguments_ReferToVariables checks that arguments refer to variables as in a manifest.
func TestExpand_Arguments_ReferToVariables(t *testing.T) {
	got := Expand([]string{"$(A)", "$$(A)", "$(B)", "$A"}, map[string]string{"A": "a"})
	if want := []string{"a", "$(A)", "$(B)", "$A"}; !slices.Equal(got, want) {
		t.Errorf("the arguments are %q instead of %q", got, want)
	}
}
