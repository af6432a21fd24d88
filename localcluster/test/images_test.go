//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestImages_Base_ExistsForEachArchitecture checks that there is an image to build upon for each architecture.
func TestImages_Base_ExistsForEachArchitecture(t *testing.T) {
	n := sharedNode(t)
	reference, err := name.ParseReference(n.host + "/base")
	if err != nil {
		t.Fatal(err)
	}
	index, err := remote.Index(reference)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, m := range manifest.Manifests {
		found = append(found, m.Platform.String())
		image, err := index.Image(m.Digest)
		if err != nil {
			t.Fatal(err)
		}
		config, err := image.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if layers, err := image.Layers(); err != nil || len(layers) != 0 || config.Config.User != "65532:65532" {
			t.Errorf("%s has %d layers (%v) and the user %q", m.Platform, len(layers), err, config.Config.User)
		}
	}
	if !slices.Equal(found, []string{"linux/amd64", "linux/arm64"}) {
		t.Errorf("it is for %q", found)
	}
}

// TestImages_Process_HasTheSettingsOfItsPod runs a program that prints its settings.
func TestImages_Process_HasTheSettingsOfItsPod(t *testing.T) {
	n := sharedNode(t)
	namespace := newNamespace(t, n.kube)
	for _, object := range []any{
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "pond"}, Data: map[string]string{"color": "green", "depth": "deep"}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "nest"}, StringData: map[string]string{"eggs": "five"}},
	} {
		var err error
		switch object := object.(type) {
		case *corev1.ConfigMap:
			_, err = n.kube.CoreV1().ConfigMaps(namespace).Create(t.Context(), object, metav1.CreateOptions{})
		case *corev1.Secret:
			_, err = n.kube.CoreV1().Secrets(namespace).Create(t.Context(), object, metav1.CreateOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	p := n.duckPod("shows", "env", "$(COLOR)-$(NAME)", "$$(COLOR)", "$(UNKNOWN)")
	c := &p.Spec.Containers[0]
	c.Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}}
	c.EnvFrom = []corev1.EnvFromSource{{Prefix: "POND_", ConfigMapRef: &corev1.ConfigMapEnvSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: "pond"},
	}}}
	optional := true
	field := func(path string) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}
	}
	c.Env = []corev1.EnvVar{
		{Name: "NAME", ValueFrom: field("metadata.name")},
		{Name: "UID", ValueFrom: field("metadata.uid")},
		{Name: "IP", ValueFrom: field("status.podIP")},
		{Name: "NODE", ValueFrom: field("spec.nodeName")},
		{Name: "APP", ValueFrom: field("metadata.labels['app']")},
		{Name: "COLOR", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: "pond"}, Key: "color",
		}}},
		{Name: "EGGS", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: "nest"}, Key: "eggs",
		}}},
		{Name: "MISSING", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: "none"}, Key: "none", Optional: &optional,
		}}},
		{Name: "BOTH", Value: "$(COLOR) $(EGGS)"},
		{Name: "PORT", Value: "8080"},
		{Name: "OTHER_NUMBER", Value: "8081"},
	}
	out := n.output(t, namespace, p)
	found := n.until(t, namespace, "shows", "over", over)
	values := map[string]string{}
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		values[key] = value
	}
	for key, want := range map[string]string{
		"NAME": "shows", "UID": string(found.UID), "IP": found.Status.PodIP, "NODE": "process", "APP": "shows", "COLOR": "green",
		"EGGS": "five", "BOTH": "green five", "POND_depth": "deep", "OTHER_NUMBER": "8081", "FROM_IMAGE": "yes", "HOSTNAME": "shows",
	} {
		if values[key] != want {
			t.Errorf("%s is %q instead of %q", key, values[key], want)
		}
	}
	if _, there := values["MISSING"]; there || values["PORT"] == "8080" || values["PORT"] == "" {
		t.Errorf("MISSING is set: %t; PORT is %q", there, values["PORT"])
	}
	if want := "args [green-shows $(COLOR) $(UNKNOWN)]"; !strings.Contains(out, want) {
		t.Errorf("no %q in:\n%s", want, out)
	}
	if os.Geteuid() == 0 && !strings.Contains(out, "uid 65532 gid 65532") {
		t.Errorf("it did not run as the image's user:\n%s", out)
	}
	s := found.Status
	if s.Phase != corev1.PodSucceeded || s.ContainerStatuses[0].State.Terminated.Reason != "Completed" ||
		!strings.HasPrefix(s.ContainerStatuses[0].ImageID, n.host+"/duck@sha256:") {
		t.Errorf("its status is %+v", s)
	}
	for _, reason := range []string{"Scheduled", "Pulled", "Created", "Started"} {
		n.event(t, namespace, "shows", reason)
	}
}

// TestImages_ServiceAccountToken_IsThePodsOwn checks that a process is its service account to the API server and has its permissions only.
func TestImages_ServiceAccountToken_IsThePodsOwn(t *testing.T) {
	n := sharedNode(t)
	namespace := newNamespace(t, n.kube)
	out := n.output(t, namespace, n.duckPod("forbidden", "get", "/api/v1/namespaces/"+namespace+"/secrets"))
	if !strings.HasPrefix(out, "403 ") || !strings.Contains(out, "system:serviceaccount:"+namespace+":default") {
		t.Errorf("the API server says %s", out)
	}
	if out := n.output(t, namespace, n.duckPod("allowed", "get", "/version")); !strings.HasPrefix(out, "200 ") {
		t.Errorf("the API server says %s", out)
	}
	without := n.duckPod("without", "get", "/version")
	without.Spec.AutomountServiceAccountToken = new(bool)
	n.create(t, namespace, without)
	if p := n.until(t, namespace, "without", "over", over); p.Status.Phase != corev1.PodFailed {
		t.Errorf("a process without a token has asked the API server: %s", n.logs(t, namespace, "without"))
	}
}

// TestImages_FromOtherRegistries_AreNeverExecuted checks that a Pod with an image from elsewhere is only marked as running, and is rejected
// where it would be executed.
func TestImages_FromOtherRegistries_AreNeverExecuted(t *testing.T) {
	n := sharedNode(t)
	namespace := newNamespace(t, n.kube)
	foreign := pod("foreign")
	mixed := n.duckPod("mixed", "serve")
	mixed.Spec.Containers = append(mixed.Spec.Containers, corev1.Container{Name: "other", Image: "example.com/none"})
	for _, p := range []*corev1.Pod{foreign, mixed} {
		n.create(t, namespace, p)
		found := n.until(t, namespace, p.Name, "ready", ready)
		if found.Spec.NodeName != "localcluster" {
			t.Errorf("%s is on the Node %s", p.Name, found.Spec.NodeName)
		}
	}
	forced := pod("forced")
	forced.Spec.NodeName = "process"
	n.create(t, namespace, forced)
	found := n.until(t, namespace, "forced", "over", over)
	if found.Status.Reason != "ForeignImage" || !strings.Contains(found.Status.Message, "is not from the local registry "+n.host) {
		t.Errorf("its status is %+v", found.Status)
	}
	changed := n.duckPod("changed", "fail", "3")
	changed.Spec.RestartPolicy = corev1.RestartPolicyAlways
	n.create(t, namespace, changed)
	n.until(t, namespace, "changed", "started again", func(p *corev1.Pod) bool {
		return len(p.Status.ContainerStatuses) > 0 && p.Status.ContainerStatuses[0].RestartCount > 0
	})
	eventually(t, "the change of the image", func(context.Context) error {
		_, err := kubectl(n.process, "set", "image", "--namespace", namespace, "pod/changed", "main=example.com/none")
		return err
	})
	eventually(t, "the rejection of the image", func(ctx context.Context) error {
		p, err := n.kube.CoreV1().Pods(namespace).Get(ctx, "changed", metav1.GetOptions{})
		if err != nil {
			return err
		}
		w := p.Status.ContainerStatuses[0].State.Waiting
		if w == nil || !strings.Contains(w.Message, "is not from the local registry") {
			return fmt.Errorf("it is %+v", p.Status.ContainerStatuses[0].State)
		}
		return nil
	})
}
