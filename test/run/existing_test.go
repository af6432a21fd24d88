//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package run

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// makeRun starts make run with variables on its command line.
func makeRun(t *testing.T, env []string, variables ...string) *program {
	t.Helper()
	return startCommand(t, append(env, "MAKEFLAGS=", "MAKELEVEL="), "make", append([]string{"run"}, variables...)...)
}

const https = "https://192.0.2.1:6443"

// unreachable writes the kubeconfig of a cluster that does not exist: no request may be sent before the confirmation.
func unreachable(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	write(t, path, `
apiVersion: v1
kind: Config
current-context: production
contexts:
  - {name: production, context: {cluster: production, user: admin}}
clusters:
  - {name: production, cluster: {server: "`+https+`"}}
users:
  - {name: admin, user: {token: secret}}
`)
	return path
}

func TestMakeRun_KubeconfigOfACluster_InvalidInputIsRejected(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		variables []string
		want      []string
	}{
		"NotConfirmed": {nil, []string{
			"context production of KUBECONFIG, server " + https, "images in KO_DOCKER_REPO, example.com/images,",
			"CONFIRM: must be set to the current context of KUBECONFIG where no terminal can ask: CONFIRM=production",
		}},
		"AnotherContext": {[]string{"CONFIRM=staging"}, []string{"CONFIRM=staging: must be the current context of KUBECONFIG, production"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := makeRun(t, nil, append(test.variables,
				"KUBECONFIG="+unreachable(t), "KO_DOCKER_REPO=example.com/images")...)
			p.rejected(test.want...)
		})
	}
	t.Run("NoFile", func(t *testing.T) {
		t.Parallel()
		makeRun(t, nil, "KUBECONFIG=/nonexistent", "CONFIRM=a", "KO_DOCKER_REPO=example.com/images").
			rejected("KUBECONFIG=/nonexistent: must be the path of a kubeconfig")
	})
	t.Run("NoRepository", func(t *testing.T) {
		t.Parallel()
		makeRun(t, []string{"KO_DOCKER_REPO="}, "KUBECONFIG="+unreachable(t), "CONFIRM=production").rejected("KO_DOCKER_REPO: must be set with KUBECONFIG")
	})
	t.Run("ConfirmationAlone", func(t *testing.T) {
		t.Parallel()
		makeRun(t, []string{"KUBECONFIG=" + unreachable(t)}, "CONFIRM=production").rejected("make run KUBECONFIG=PATH CONFIRM=CONTEXT")
	})
}

// rejected expects the end of make with an error, before anything is built.
func (p *program) rejected(want ...string) {
	p.t.Helper()
	if status := p.exit(); status != 2 {
		p.t.Errorf("got exit status %d, want 2, which is make's for a failed recipe", status)
	}
	for _, text := range want {
		if !strings.Contains(p.text(), text) {
			p.t.Errorf("it did not print %q", text)
		}
	}
	if strings.Contains(p.text(), "Building") {
		p.t.Error("it began to build")
	}
	p.leavesNothing()
}

func TestMakeRun_KubeconfigOfACluster_ExistingInstallationIsRefused(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.Bare())
	env.Define(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: knative-samples}\n")
	env.Kubectl(t, "create", "deployment", "controller", "--namespace=knative-samples", "--image=example.com/other", "--replicas=0")
	before := objects(t, env)
	p := start(t, []string{"KO_DOCKER_REPO=example.com/images"}, "--kubeconfig="+env.Kubeconfig, "--confirm=localcluster")
	if status := p.exit(); status != 1 {
		t.Errorf("got exit status %d, want 1", status)
	}
	const want = "the cluster of KUBECONFIG already contains Namespace knative-samples, Deployment knative-samples/controller: "
	if !strings.Contains(p.text(), want) {
		t.Errorf("it did not print %q", want)
	}
	if strings.Contains(p.text(), "Building") {
		t.Error("it began to build")
	}
	p.leavesNothing()
	expectSame(t, before, objects(t, env))
}

// objects lists the objects of the kinds that the operator and the samples are made of.
func objects(t *testing.T, env *harness.Env) string {
	t.Helper()
	return env.Kubectl(t, "get", "--all-namespaces", "--output=name", strings.Join([]string{
		"clusterroles", "clusterrolebindings", "configmaps", "crds", "deployments", "mutatingwebhookconfigurations", "namespaces", "networkpolicies",
		"pdb", "priorityclasses", "roles", "rolebindings", "secrets", "services", "serviceaccounts",
		"validatingwebhookconfigurations", "leases", "pods", "replicasets",
	}, ","))
}

func expectSame(t *testing.T, before, after string) {
	t.Helper()
	if diff := cmp.Diff(strings.Split(before, "\n"), strings.Split(after, "\n")); diff != "" {
		t.Errorf("the cluster has other objects after the run (-before +after):\n%s", diff)
	}
}
