/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package environment

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/mallard-dev/mallard/localcluster/env/manifest"
	"github.com/mallard-dev/mallard/localcluster/env/procgroup"
)

// Existing is a cluster that the user has: the current context of a kubeconfig.
type Existing struct {
	// Context is the name of the context, and Server the URL of its API server.
	Context, Server string

	config clientcmdapi.Config
}

// ReadExisting reads the current context of a kubeconfig, or of a list of them as in KUBECONFIG.
func ReadExisting(kubeconfig string) (*Existing, error) {
	rules := &clientcmd.ClientConfigLoadingRules{Precedence: filepath.SplitList(kubeconfig)}
	for _, path := range rules.Precedence {
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("KUBECONFIG=%s: must be the path of a kubeconfig: %w", kubeconfig, err)
		}
	}
	config, err := rules.Load()
	if err != nil {
		return nil, fmt.Errorf("KUBECONFIG=%s: %w", kubeconfig, err)
	}
	if err := errors.Join(clientcmdapi.MinifyConfig(config), clientcmdapi.FlattenConfig(config)); err != nil {
		return nil, fmt.Errorf("KUBECONFIG=%s: its current context cannot be used: %w", kubeconfig, err)
	}
	cluster := config.Clusters[config.Contexts[config.CurrentContext].Cluster]
	if cluster == nil {
		return nil, fmt.Errorf("KUBECONFIG=%s: its current context %q must name a cluster", kubeconfig, config.CurrentContext)
	}
	return &Existing{Context: config.CurrentContext, Server: cluster.Server, config: *config}, nil
}

// useExisting prepares the environment for a cluster that exists. The kubeconfig is copied, so that the run stays in this cluster when the user
// switches contexts.
func (e *Env) useExisting(ctx context.Context, options Options) error {
	e.Kubeconfig = filepath.Join(options.Dir, "cluster", "admin.kubeconfig")
	if err := clientcmd.WriteToFile(options.Existing.config, e.Kubeconfig); err != nil {
		return fmt.Errorf("writing the kubeconfig of context %s: %w", options.Existing.Context, err)
	}
	var err error
	if e.Config, err = adminConfig(e.Kubeconfig); err != nil {
		return err
	}
	if e.created, err = newCreated(e.Config); err != nil {
		return err
	}
	samples, err := manifest.ReadDir(options.Samples)
	if err != nil {
		return err
	}
	return e.created.expectNone(ctx, append(samples, e.Manifests...))
}

// install builds the images of the operator's manifests, pushes them to KO_DOCKER_REPO, and creates the manifests with the images' digests.
func (e *Env) install(ctx context.Context, dir string) error {
	platforms, err := e.platforms(ctx)
	if err != nil {
		return err
	}
	cmd := exec.Command(e.ko, "resolve", "--platform", platforms, "--sbom", "none", "--recursive", "--filename", dir)
	cmd.Dir, cmd.Stderr = e.options.Module, e.options.Progress
	cmd.Env = append(os.Environ(), "GOTMPDIR="+e.options.Dir)
	resolved, err := procgroup.Output(ctx, cmd, buildGrace)
	if err != nil {
		return fmt.Errorf("building the images of %s for KO_DOCKER_REPO=%s: %w", dir, os.Getenv("KO_DOCKER_REPO"), err)
	}
	objects, err := manifest.Parse([]byte(resolved))
	if err != nil {
		return fmt.Errorf("reading what ko resolved: %w", err)
	}
	err = e.created.create(ctx, objects)
	e.created.installed = len(e.created.objects)
	e.created.mapper.Reset() // the kinds are new
	return err
}

// platforms are those of the cluster's nodes, as OS/ARCHITECTURE, separated by commas.
func (e *Env) platforms(ctx context.Context) (string, error) {
	client, err := kubernetes.NewForConfig(e.Config)
	if err != nil {
		return "", fmt.Errorf("making a client for the nodes: %w", err)
	}
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", fmt.Errorf("listing the nodes, which images are built for: %w", err)
	}
	platforms := map[string]bool{}
	for i := range nodes.Items {
		if info := nodes.Items[i].Status.NodeInfo; info.OperatingSystem == "linux" {
			platforms["linux/"+info.Architecture] = true
		}
	}
	if len(platforms) == 0 {
		return "", errors.New("the cluster of KUBECONFIG has no node with Linux, so that no image can run in it")
	}
	return strings.Join(slices.Sorted(maps.Keys(platforms)), ","), nil
}
