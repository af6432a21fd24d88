//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package faults

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/fixtures"
)

func TestMain(m *testing.M) { os.Exit(harness.MainWithoutEnvironment(m)) }

// scene is a namespace in which an object of each kind works.
type scene struct {
	*harness.Env

	ns, alias string

	as, deployment, binding, pods harness.Ref
}

func newScene(t *testing.T, env *harness.Env) *scene {
	t.Helper()
	s := &scene{Env: env, ns: env.Namespace(t)}
	s.alias = s.ns[len(s.ns)-5:]
	env.ExpectErrors(t, s.ns) // of the faults
	refs := env.Apply(t, s.ns, fmt.Sprintf(fixtures.Target+`---
apiVersion: samples.knative.dev/v1
kind: AddressableService
metadata:
  name: it
  annotations: {samples.knative.dev/addressableservice.class: mallard}
spec:
  visibility: ClusterLocal
  ref: {apiVersion: v1, kind: Service, name: target}
  publish: {alias: a-%s}
---`+strings.ReplaceAll(fixtures.Bound, "NAME", "it")+`---
apiVersion: samples.knative.dev/v1alpha1
kind: SimpleDeployment
metadata: {name: it}
spec: {image: main, replicas: 2}
`, s.alias))
	s.as, s.deployment, s.binding, s.pods = refs[1], refs[2], refs[3], refs[4]
	return s
}

// working waits until everything of the scene works.
func (s *scene) working(t *testing.T) {
	t.Helper()
	s.Await(t, s.as, harness.Ready)
	s.Await(t, s.deployment, bound(""))
	s.Await(t, s.pods, harness.Ready)
}

func (s *scene) aliasRef(prefix string) harness.Ref {
	return harness.Ref{Resource: alias.Resource, Namespace: directory, Name: prefix + s.alias}
}

// works checks the invariants under any failure: there is an address, a name for it, a variable with it, and a Pod.
func (s *scene) works(ctx context.Context) error {
	as, err := fixtures.Client(s.Env).SamplesV1().AddressableServices(s.ns).Get(ctx, "it", metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading the AddressableService: %w", err)
	}
	if as.Status.Address == nil {
		return fmt.Errorf("the address is lost: %+v", as.Status.Conditions)
	}
	services, err := s.Kube.CoreV1().Services(directory).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing the aliases: %w", err)
	}
	names := 0
	for i := range services.Items {
		if strings.HasSuffix(services.Items[i].Name, "-"+s.alias) {
			names++
		}
	}
	if names == 0 {
		return fmt.Errorf("the alias is lost: %+v", as.Status.Conditions)
	}
	deployment, err := s.Kube.AppsV1().Deployments(s.ns).Get(ctx, "it", metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading the Deployment: %w", err)
	}
	if len(deployment.Spec.Template.Spec.Containers[0].Env) == 0 {
		return errors.New("the variable is lost")
	}
	pods, err := s.Kube.CoreV1().Pods(s.ns).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing the Pods: %w", err)
	}
	if len(pods.Items) == 0 {
		return errors.New("every Pod is lost")
	}
	return nil
}

// bound is the condition of a Deployment whose container has the address with a path.
func bound(path string) harness.Condition {
	return func(o *unstructured.Unstructured) error {
		containers, _, _ := unstructured.NestedSlice(o.Object, "spec", "template", "spec", "containers")
		container, _ := containers[0].(map[string]any)
		if text := fmt.Sprint(container["env"]); !strings.Contains(text, ".svc.cluster.local"+path+"]") {
			return fmt.Errorf("its container has the environment %s, want the address with path %q", text, path)
		}
		return nil
	}
}
