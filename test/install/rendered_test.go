/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package install

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/mallard-dev/mallard/localcluster/env/manifest"
)

// withoutWebhook is the overlay that needs kubernetes136, the version whose API has its policies.
const withoutWebhook, kubernetes136 = "no-webhooks", "1.36"

// overlays are the folders below kustomize/overlays.
var overlays = []string{"all-versions", "default", "ha", "hooks", withoutWebhook, "single-namespace"}

// installations are the overlays, and those that have the overlay hooks as their base instead of config/.
var installations = append(slices.Clone(overlays), "ha+hooks", "single-namespace+hooks")

// folderOf returns the folder of an installation, which is a copy if two overlays are combined.
func folderOf(t *testing.T, installation string) string {
	t.Helper()
	overlay, base, combined := strings.Cut(installation, "+")
	path := filepath.Join("kustomize", "overlays", overlay)
	if !combined {
		return path
	}
	path = filepath.Join(manifests(t), path)
	file := filepath.Join(path, "kustomization.yaml")
	content, err := os.ReadFile(file)
	if err != nil || strings.Count(string(content), "- ../../../config\n") != 1 {
		t.Fatalf("%s does not have config/ as its base: %v\n%s", file, err, content)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(content), "- ../../../config\n", "- ../"+base+"\n", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// manifests returns a folder with copies of config/ and kustomize/.
func manifests(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, folder := range []string{"config", "kustomize"} {
		if err := os.CopyFS(filepath.Join(dir, folder), os.DirFS(filepath.Join(root, folder))); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// installation holds the applied objects, by name, and typed where a test reads their fields.
type installation struct {
	objects     map[string]*unstructured.Unstructured
	deployments map[string]*appsv1.Deployment
	services    []*corev1.Service
	budgets     []*policyv1.PodDisruptionBudget
	policies    []*networkingv1.NetworkPolicy
	namespaces  map[string]map[string]string // labels by name
}

// rendered is an installation as `kubectl kustomize` renders it.
func rendered(t *testing.T, overlay string) *installation {
	t.Helper()
	text := renderedText(t, overlay)
	objects, err := manifest.Parse([]byte(text))
	if err != nil {
		t.Fatalf("overlay %s: %v", overlay, err)
	}
	return newInstallation(t, objects)
}

// texts holds what kubectl rendered, by installation.
var texts = struct {
	sync.Mutex

	of map[string]string
}{of: map[string]string{}}

func renderedText(t *testing.T, overlay string) string {
	t.Helper()
	texts.Lock()
	defer texts.Unlock()
	if texts.of[overlay] == "" {
		texts.of[overlay] = kubectl(t, localcluster(t), "/nowhere", "", "kustomize", folderOf(t, overlay))
	}
	return texts.of[overlay]
}

// config returns the objects in the folder config/.
func config(t *testing.T) *installation {
	t.Helper()
	objects, err := manifest.ReadDir(filepath.Join(root, "config"))
	if err != nil {
		t.Fatal(err)
	}
	return newInstallation(t, objects)
}

func newInstallation(t *testing.T, objects []*unstructured.Unstructured) *installation {
	t.Helper()
	i := &installation{
		objects: map[string]*unstructured.Unstructured{}, deployments: map[string]*appsv1.Deployment{}, namespaces: map[string]map[string]string{},
	}
	for _, object := range objects {
		name := manifest.Name(object, object.GetKind())
		if i.objects[name] != nil {
			t.Errorf("%s is defined twice", name)
		}
		i.objects[name] = object
		switch object.GetKind() {
		case "Namespace":
			// The API server adds this one.
			i.namespaces[object.GetName()] = map[string]string{corev1.LabelMetadataName: object.GetName()}
			maps.Copy(i.namespaces[object.GetName()], object.GetLabels())
		case "Deployment":
			i.deployments[object.GetName()] = typed[appsv1.Deployment](t, object)
		case "Service":
			i.services = append(i.services, typed[corev1.Service](t, object))
		case "PodDisruptionBudget":
			i.budgets = append(i.budgets, typed[policyv1.PodDisruptionBudget](t, object))
		case "NetworkPolicy":
			i.policies = append(i.policies, typed[networkingv1.NetworkPolicy](t, object))
		}
	}
	return i
}

func typed[T any](t *testing.T, object *unstructured.Unstructured) *T {
	t.Helper()
	var into T
	// Strict: a field that the type does not have is a mistake.
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, &into, true); err != nil {
		t.Fatalf("%s: %v", manifest.Name(object, object.GetKind()), err)
	}
	return &into
}
