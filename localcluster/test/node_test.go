//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package test

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"
)

// node is a cluster that runs images, with the test's own image in its registry.
type node struct {
	*process

	kube kubernetes.Interface
	host string
	// image is the name of the test's image.
	image string
}

// sharedNodes is the one that tests share which do not care how it was started.
var sharedNodes = share("up", "--registry", "--until-eof")

func sharedNode(t *testing.T) *node {
	t.Helper()
	p, err := sharedNodes()
	if err != nil {
		t.Fatal(err)
	}
	return newNode(t, p)
}

// upNode starts a cluster that runs images for one test.
func upNode(t *testing.T, args ...string) *node {
	t.Helper()
	return newNode(t, up(t, append([]string{"--registry"}, args...)...))
}

func newNode(t *testing.T, p *process) *node {
	t.Helper()
	n := &node{process: p, kube: p.client(t)}
	n.host = registryOf(t, n.kube)
	n.image = push(t, n.host+"/duck:latest", duckImage(t))
	return n
}

// registryOf reads the registry's address where tools read it.
func registryOf(t *testing.T, client kubernetes.Interface) string {
	t.Helper()
	found, err := client.CoreV1().ConfigMaps("kube-public").Get(t.Context(), "local-registry-hosting", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var hosting struct {
		Host string `json:"host"`
	}
	if err := yaml.Unmarshal([]byte(found.Data["localRegistryHosting.v1"]), &hosting); err != nil || hosting.Host == "" {
		t.Fatalf("the ConfigMap has %q: %v", found.Data, err)
	}
	return hosting.Host
}

// duck is the test's program, built once.
var duck = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "duck-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "duck")
	cmd := exec.Command("go", "build", "-o", path, "./testdata/duck")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building the test's program: %w\n%s", err, out)
	}
	return os.ReadFile(path)
})

func duckImage(t *testing.T) v1.Image {
	t.Helper()
	program, err := duck()
	if err != nil {
		t.Fatal(err)
	}
	return makeImage(t, map[string]string{"app/duck": string(program), "app/data": "quack\n"},
		v1.Config{Entrypoint: []string{"/app/duck"}, User: "65532:65532", Env: []string{"FROM_IMAGE=yes"}})
}

// makeImage makes an image of one layer with the given files, each of which can be run.
func makeImage(t *testing.T, files map[string]string, config v1.Config) v1.Image {
	t.Helper()
	var layer bytes.Buffer
	archive := tar.NewWriter(&layer)
	for path, content := range files {
		header := &tar.Header{Name: path, Mode: 0o755, Size: int64(len(content)), Typeflag: tar.TypeReg}
		if err := archive.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	image, err := mutate.AppendLayers(empty.Image, static.NewLayer(layer.Bytes(), types.DockerUncompressedLayer))
	if err != nil {
		t.Fatal(err)
	}
	if image, err = mutate.Config(image, config); err != nil {
		t.Fatal(err)
	}
	return image
}

func push(t *testing.T, image string, content v1.Image) string {
	t.Helper()
	reference, err := name.ParseReference(image)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(reference, content, remote.WithContext(t.Context())); err != nil {
		t.Fatal(err)
	}
	return image
}

// duckPod returns a Pod that runs the test's program with the given arguments once.
func (n *node) duckPod(name string, args ...string) *corev1.Pod {
	p := pod(name)
	p.Spec.RestartPolicy = corev1.RestartPolicyNever
	p.Spec.Containers[0].Image, p.Spec.Containers[0].Args = n.image, args
	p.Spec.Containers[0].Ports = nil
	// By its UID a Pod's processes are found among all of the machine.
	p.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "UID", ValueFrom: &corev1.EnvVarSource{
		FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.uid"},
	}}}
	return p
}

func (n *node) create(t *testing.T, namespace string, pod *corev1.Pod) {
	t.Helper()
	if _, err := n.kube.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// until waits until a Pod is as the check wants it, and returns it.
func (n *node) until(t *testing.T, namespace, name, what string, check func(*corev1.Pod) bool) *corev1.Pod {
	t.Helper()
	var found *corev1.Pod
	eventually(t, "Pod "+name+" "+what, func(ctx context.Context) error {
		var err error
		if found, err = n.kube.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{}); err != nil {
			return err
		}
		if !check(found) {
			return fmt.Errorf("its status is %s %+v", found.Status.Phase, found.Status.ContainerStatuses)
		}
		return nil
	})
	return found
}

// output runs the test's program to its end and returns what it wrote.
func (n *node) output(t *testing.T, namespace string, pod *corev1.Pod) string {
	t.Helper()
	n.create(t, namespace, pod)
	n.until(t, namespace, pod.Name, "over", over)
	return n.logs(t, namespace, pod.Name)
}

func (n *node) logs(t *testing.T, namespace, name string, args ...string) string {
	t.Helper()
	out, err := kubectl(n.process, append([]string{"logs", "--namespace", namespace, name}, args...)...)
	if err != nil {
		t.Fatalf("kubectl logs: %v\n%s", err, out)
	}
	return out
}

func over(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

func running(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning }

func ready(p *corev1.Pod) bool { return hasCondition(p, corev1.PodReady) }

// waitsFor checks that the first container waits for a reason.
func waitsFor(reason string) func(*corev1.Pod) bool {
	return func(p *corev1.Pod) bool {
		s := p.Status.ContainerStatuses
		return len(s) > 0 && s[0].State.Waiting != nil && s[0].State.Waiting.Reason == reason
	}
}

// event waits for an event of a Pod with a reason whose message contains all words.
func (n *node) event(t *testing.T, namespace, pod, reason string, words ...string) {
	t.Helper()
	eventually(t, "the event "+reason, func(ctx context.Context) error {
		events, err := n.kube.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=" + pod})
		if err != nil {
			return err
		}
		var seen []string
		for _, e := range events.Items {
			seen = append(seen, e.Reason+": "+e.Message)
			matches := e.Reason == reason
			for _, word := range words {
				matches = matches && strings.Contains(e.Message, word)
			}
			if matches {
				return nil
			}
		}
		return fmt.Errorf("there are only:\n%s", strings.Join(seen, "\n"))
	})
}
