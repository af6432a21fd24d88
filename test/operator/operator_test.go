//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package operator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
)

func TestMain(m *testing.M) { harness.Main(m) }

// scene has the objects of samples/ in a namespace.
type scene struct {
	*harness.Env

	ns string
	// others are the objects of kinds that are not the operator's.
	objects, others []harness.Ref
}

// apply creates the objects of samples/ in a new namespace.
func apply(t *testing.T, env *harness.Env) *scene {
	t.Helper()
	s := &scene{Env: env, ns: env.Namespace(t)}
	files, err := filepath.Glob("../../samples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("finding the samples: %v (%d files)", err, len(files))
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, ref := range env.Apply(t, s.ns, strings.ReplaceAll(string(content), "namespace: default\n", "namespace: "+s.ns+"\n")) {
			if ref.Resource.Group == samples.GroupName {
				s.objects = append(s.objects, ref)
			} else {
				s.others = append(s.others, ref)
			}
		}
	}
	if len(s.objects) == 0 {
		t.Fatalf("the samples have no object of %s", samples.GroupName)
	}
	return s
}

func (s *scene) awaitReady(t *testing.T) {
	t.Helper()
	for _, object := range s.objects {
		s.Await(t, object, harness.Ready)
	}
}

// delete deletes all objects, and waits until the controller has removed its finalizers.
func (s *scene) delete(t *testing.T) {
	t.Helper()
	for _, object := range s.objects {
		s.Delete(t, object)
	}
	for _, object := range s.objects {
		s.Await(t, object, harness.Deleted)
	}
}

// awaitReconciliations waits until the log of a controller, from an offset on, has the end of a reconciliation of each object.
func (s *scene) awaitReconciliations(t *testing.T, controller *harness.Process, from int) {
	t.Helper()
	harness.Eventually(t, "a reconciliation of each object", func(context.Context) error {
		log := controller.Log(t)[from:]
		for _, object := range s.objects {
			found := false
			for line := range strings.Lines(log) {
				found = found || strings.Contains(line, `"Reconcile succeeded"`) && strings.Contains(line, `"`+object.Namespace+"/"+object.Name+`"`)
			}
			if !found {
				return fmt.Errorf("%s has not been reconciled", object)
			}
		}
		return nil
	})
}

// isWork matches requests other than those for leases.
func isWork(e harness.AuditEntry) bool { return e.Resource != "leases" }

func TestPermissions_LifeOfEachObject_NeedsNoOthers(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.WithOverlay("hooks"))
	mark := env.Mark(t)
	s := apply(t, env)
	s.awaitReady(t)
	env.Process(t, "controller").Restart(t)
	s.delete(t)
	system := "system:serviceaccount:" + env.SystemNamespace + ":"
	for _, e := range mark.Entries(t, func(e harness.AuditEntry) bool { return strings.HasPrefix(e.User, system) }) {
		if e.Code == http.StatusForbidden || e.Code == http.StatusUnauthorized {
			t.Errorf("%s was rejected: %s %s/%s %s/%s", e.User, e.Verb, e.Group, e.Resource, e.Namespace, e.Name)
		}
	}
}

// TestOverlays_Each_IsAccepted sends the manifests to an API server without an operator, which validates and does not store them.
func TestOverlays_Each_IsAccepted(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.Bare())
	// An object is validated only if its namespace exists.
	namespaces, err := filepath.Glob("../../config/100-*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range namespaces {
		env.Kubectl(t, "apply", "--filename", file)
	}
	overlays, err := filepath.Glob("../../kustomize/overlays/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range append(overlays, "../../config") {
		if filepath.Base(folder) == "no-webhooks" { // needs a later Kubernetes, on which test/admission applies it
			continue
		}
		rendered, err := env.TryKubectl(t, "", "kustomize", folder)
		if err == nil {
			rendered, err = env.TryKubectl(t, rendered, "apply", "--dry-run=server", "--filename", "-")
		}
		if err != nil {
			t.Errorf("%s: %v\n%s", folder, err, rendered)
		}
	}
}

// One replica after the other dies. Whichever leads, the other one replaces it.
func TestAvailability_EachReplicaDies_ObjectsAreReconciled(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.WithReplicas("controller", 2))
	for _, name := range []string{"controller", "controller-1"} {
		process := env.Process(t, name)
		process.Kill(t)
		s := apply(t, env)
		s.awaitReady(t)
		s.delete(t)
		process.Start(t)
	}
}

func TestCosts_ObjectsThatHaveNotChanged_AreNotWritten(t *testing.T) {
	t.Parallel()
	env := harness.Own(t)
	s := apply(t, env)
	s.awaitReady(t)
	controller := env.Process(t, "controller")
	from := len(controller.Log(t))
	mark := env.Mark(t)
	controller.Restart(t)
	s.awaitReconciliations(t, controller, from)
	// Another program may have created objects because of the samples, which are not Ready yet.
	ofSamples := func(e harness.AuditEntry) bool {
		return e.Group != samples.GroupName || slices.ContainsFunc(s.objects, func(o harness.Ref) bool { return o.Name == e.Name })
	}
	for _, e := range mark.Entries(t, harness.Writes, harness.ByUser(env.User("controller")), isWork, ofSamples) {
		t.Errorf("the reconciliation of an object that has not changed writes: %s %s/%s %s/%s", e.Verb, e.Resource, e.Subresource, e.Namespace, e.Name)
	}
}

// The controller dies between its writes, and its requests fail. Afterwards each object is Ready, and can be deleted.
func TestFaults_ControllerDiesAndRequestsFail_ObjectsConverge(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.WithProxy("controller"))
	proxy, controller := env.Proxy(t, "controller"), env.Process(t, "controller")
	status := harness.Match(func(r harness.Request) bool { return r.Group == samples.GroupName && r.Subresource == "status" })
	held := proxy.Hold(status)
	s := apply(t, env)
	env.ExpectErrors(t, s.ns) // of the faults
	held.Wait(t)
	controller.Kill(t)
	held.Release()
	undo := proxy.Fail(status, http.StatusInternalServerError)
	controller.Start(t)
	harness.Eventually(t, "requests fail", func(context.Context) error {
		for answer, n := range proxy.Requests() {
			if answer.Code == http.StatusInternalServerError && n > 0 {
				return nil
			}
		}
		return errors.New("none did")
	})
	undo()
	s.awaitReady(t)
	s.delete(t)
}
