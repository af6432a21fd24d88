//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package operations

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"knative.dev/pkg/apis"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/fixtures"
)

const (
	system    = "knative-samples"
	directory = "knative-samples-directory"
	// period is that of the creates while versions change.
	period = 300 * time.Millisecond
	// settling is the age from which an object has to be Ready while more are created.
	settling = 5 * time.Second
)

// TestUpgrade_AndRollback_KeepsObjects goes from the version before the last change of what is installed to the present one and back,
// with objects in place and more of them created all the while.
func TestUpgrade_AndRollback_KeepsObjects(t *testing.T) {
	env := harness.Shared(t)
	previous := previousVersion(t)
	install(t, env, previous)
	defer remove(t, env, root)
	defer remove(t, env, previous) // it may have installed objects that are an overlay now
	ns := env.Namespace(t)
	env.Apply(t, ns, fixtures.Target)
	objects := fixtures.Client(env).SamplesV1().AddressableServices(ns)
	old, err := objects.Create(t.Context(), fixtures.Published(ns, "old"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	awaitReady(t, env, ns, 0)
	stream := fixtures.StartStream(t, env, ns, period)
	for _, version := range []string{root, previous} {
		install(t, env, version)
		awaitReady(t, env, ns, settling)
	}
	t.Logf("%d objects were created until then", len(stream.Stop(t)))
	awaitReady(t, env, ns, 0)
	now, err := objects.Get(t.Context(), "old", metav1.GetOptions{})
	if err != nil || now.UID != old.UID || now.Generation != old.Generation {
		t.Errorf("the object from before is %+v, %v; want that of generation %d", now, err, old.Generation)
	}
	began := time.Now()
	deleteObjects(t, env, ns)
	t.Logf("deleting them took %v", time.Since(began))
}

// install applies the manifests of a checkout, as docs/how-to/upgrade.md says.
func install(t *testing.T, env *harness.Env, checkout string) {
	t.Helper()
	env.Ko(t, checkout, "apply", platform, "--sbom=none", "--filename", "config/")
	for _, deployment := range []string{"webhook", "controller"} {
		env.Kubectl(t, "--namespace", system, "rollout", "status", "deployment/"+deployment, "--timeout=2m")
	}
}

// remove removes what install has applied.
func remove(t testing.TB, env *harness.Env, checkout string) {
	t.Helper()
	env.Ko(t, checkout, "delete", "--recursive", "--filename", "config/", "--timeout=5m", "--ignore-not-found")
}

func deleteObjects(t *testing.T, env *harness.Env, ns string) {
	t.Helper()
	objects := fixtures.Client(env).SamplesV1().AddressableServices(ns)
	harness.EventuallyWithin(t, 5*time.Minute, "no object is left", func(ctx context.Context) error {
		// The API server ends the request after a minute, which is too short for hundreds of objects on a busy machine.
		if err := objects.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
			return fmt.Errorf("deleting them: %w", err)
		}
		list, err := objects.List(ctx, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("listing them: %w", err)
		}
		if len(list.Items) > 0 {
			return fmt.Errorf("%d are", len(list.Items))
		}
		return nil
	})
}

// awaitReady waits until all objects of an age that there are at one moment are Ready. kubectl wait looks at one after the other,
// which takes longer than its timeout when there are hundreds.
func awaitReady(t *testing.T, env *harness.Env, ns string, age time.Duration) {
	t.Helper()
	harness.Eventually(t, "every object is Ready", func(ctx context.Context) error {
		list, err := fixtures.Client(env).SamplesV1().AddressableServices(ns).List(ctx, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("listing them: %w", err)
		}
		for i := range list.Items {
			if created := list.Items[i].CreationTimestamp; time.Since(created.Time) < age {
				continue
			}
			if !list.Items[i].Status.GetCondition(apis.ConditionReady).IsTrue() {
				return fmt.Errorf("%s is not", list.Items[i].Name)
			}
		}
		return nil
	})
}

// TestUninstall_StuckObjects_AreReleased takes the controller away before the objects, and frees them as docs/how-to/troubleshoot.md says.
func TestUninstall_StuckObjects_AreReleased(t *testing.T) {
	env := harness.Shared(t)
	install(t, env, root)
	defer remove(t, env, root)
	ns := env.Namespace(t)
	env.Apply(t, ns, fixtures.Target)
	objects := fixtures.Client(env).SamplesV1().AddressableServices(ns)
	stuck, err := objects.Create(t.Context(), fixtures.Published(ns, "stuck"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	awaitReady(t, env, ns, 0)
	env.Kubectl(t, "--namespace", system, "scale", "deployment/controller", "--replicas=0")
	env.Kubectl(t, "--namespace", system, "wait", "pod", "--selector=app.kubernetes.io/component=controller", "--for=delete", "--timeout=5m")
	env.Kubectl(t, "delete", "asvc", "stuck", "--namespace", ns, "--wait=false")

	listed := env.Kubectl(t, "get", "asvc", "--all-namespaces", "--output", "go-template="+stuckTemplate)
	if want := ns + "/stuck "; !strings.HasPrefix(listed, want) || !strings.Contains(listed, stuck.Finalizers[0]) {
		t.Errorf("what is stuck is listed as %q, want a line that begins with %q and names the finalizer", listed, want)
	}
	patch := []byte(`[{"op":"remove","path":"/metadata/finalizers"}]`)
	if _, err := objects.Patch(t.Context(), "stuck", types.JSONPatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, "the object is deleted", func(ctx context.Context) error {
		_, err := objects.Get(ctx, "stuck", metav1.GetOptions{})
		if err == nil {
			return errors.New("it still exists")
		}
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("reading it: %w", err)
		}
		return nil
	})
	env.Kubectl(t, "delete", "service", stuck.Spec.Publish.Alias, "--namespace", directory)
}

// stuckTemplate is that of docs/how-to/troubleshoot.md.
const stuckTemplate = `{{range .items}}{{with .metadata}}{{if .deletionTimestamp}}{{.namespace}}/{{.name}} {{.deletionTimestamp}} {{.finalizers}}{{"\n"}}{{end}}{{end}}{{end}}`
