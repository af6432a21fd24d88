//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package test

import (
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestVolumes_Containers_FindTheirContent checks the content of the volumes of one Pod, each in its own container.
func TestVolumes_Containers_FindTheirContent(t *testing.T) {
	n := sharedNode(t)
	namespace := newNamespace(t, n.kube)
	if _, err := n.kube.CoreV1().ConfigMaps(namespace).Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "pond"}, Data: map[string]string{"color": "green", "depth": "deep"},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := n.kube.CoreV1().Secrets(namespace).Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "nest"}, StringData: map[string]string{"eggs": "five"},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	p := n.duckPod("looks", "")
	group, private, yes := int64(2000), int32(0o400), true
	p.Spec.SecurityContext = &corev1.PodSecurityContext{FSGroup: &group}
	downward := []corev1.DownwardAPIVolumeFile{
		{Path: "labels", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels"}},
		{Path: "cpu", ResourceFieldRef: &corev1.ResourceFieldSelector{ContainerName: "labels", Resource: "limits.cpu"}},
	}
	pond := corev1.LocalObjectReference{Name: "pond"}
	p.Spec.Volumes = []corev1.Volume{
		{Name: "water", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		{Name: "pond", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: pond}}},
		{Name: "nest", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "nest", DefaultMode: &private}}},
		{Name: "self", VolumeSource: corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: downward}}},
		{Name: "all", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
			{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: pond, Items: []corev1.KeyToPath{{Key: "depth", Path: "a/depth"}}}},
			{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "nest"}}},
			{DownwardAPI: &corev1.DownwardAPIProjection{Items: downward}},
		}}}},
	}
	checks := []struct {
		name, volume, at, sub, expr string
		readOnly                    bool
		args                        []string
		want                        string
		code                        int32
		root                        bool
	}{
		{name: "root", readOnly: true, args: []string{"write", "/new", "1"}, want: "read-only file system", code: 1, root: true},
		{name: "root-open", args: []string{"write", "/tmp/new", "1"}, want: "no such file or directory", code: 1},
		{name: "volume", volume: "water", at: "/water", readOnly: true, args: []string{"write", "/water/new", "1"}, want: "group 2000\n", root: true},
		{name: "sub", volume: "water", at: "/part", sub: "a/b", args: []string{"write", "/part/new", "1"}, want: "group 2000\n", root: true},
		{name: "expression", volume: "water", at: "/part", expr: "$(UID)/c", args: []string{"write", "/part/new", "1"}, want: "group 2000\n", root: true},
		{name: "file", volume: "pond", at: "/etc/color", sub: "color", args: []string{"read", "/etc/color"}, want: "green"},
		{name: "secret", volume: "nest", at: "/nest", args: []string{"read", "/nest/eggs"}, want: "five"},
		{name: "labels", volume: "self", at: "/self", args: []string{"read", "/self/labels"}, want: `app="looks"`},
		{name: "cpu", volume: "self", at: "/self", args: []string{"read", "/self/cpu"}, want: "64"},
		{name: "projected-map", volume: "all", at: "/all", args: []string{"read", "/all/a/depth"}, want: "deep"},
		{name: "projected-secret", volume: "all", at: "/all", args: []string{"read", "/all/eggs"}, want: "five"},
		{name: "projected-self", volume: "all", at: "/all", args: []string{"read", "/all/labels"}, want: `app="looks"`},
	}
	template := p.Spec.Containers[0]
	p.Spec.Containers = nil
	for _, check := range checks {
		c := *template.DeepCopy()
		c.Name, c.Args = check.name, check.args
		c.SecurityContext = &corev1.SecurityContext{}
		if check.readOnly {
			c.SecurityContext.ReadOnlyRootFilesystem = &yes
		}
		if check.volume != "" {
			c.VolumeMounts = []corev1.VolumeMount{{Name: check.volume, MountPath: check.at, SubPath: check.sub, SubPathExpr: check.expr}}
		}
		p.Spec.Containers = append(p.Spec.Containers, c)
	}
	n.create(t, namespace, p)
	found := n.until(t, namespace, p.Name, "over", over)
	for i, check := range checks {
		if check.root && os.Geteuid() != 0 {
			t.Logf("%s is left out: without separate root folders there are neither read-only roots nor groups, so that it needs root", check.name)
			continue
		}
		ended := found.Status.ContainerStatuses[i].State.Terminated
		out := n.logs(t, namespace, p.Name, "--container", check.name)
		if ended == nil || ended.ExitCode != check.code || !strings.Contains(out, check.want) {
			t.Errorf("%s: it has ended as %+v and said:\n%s", check.name, ended, out)
		}
	}

	missing := n.duckPod("nameless", "env")
	missing.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "water", MountPath: "/water", SubPathExpr: "$(MISSING)"}}
	missing.Spec.Volumes = p.Spec.Volumes[:1]
	n.create(t, namespace, missing)
	n.event(t, namespace, missing.Name, "Failed", `missing value for "MISSING"`)
}
