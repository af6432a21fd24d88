/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package environment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"github.com/mallard-dev/mallard/localcluster/env/controlplane"
	"github.com/mallard-dev/mallard/localcluster/env/manifest"
	"github.com/mallard-dev/mallard/localcluster/env/procgroup"
)

const (
	// availablePeriod is the interval at which that is checked.
	availablePeriod = 200 * time.Millisecond
	// buildGrace is the time that an interrupted go command gets to end its compilers before all are killed.
	buildGrace = 5 * time.Second
)

// registryHosting is the ConfigMap in which a cluster for development publishes the address of its registry (KEP-1755).
const registryHosting = "local-registry-hosting"

// stuckReasons are those for which kubelets let a container wait that will not start as it is.
var stuckReasons = []string{"CrashLoopBackOff", "ImagePullBackOff", "InvalidImageName", "CreateContainerConfigError"}

var errNoRegistry = errors.New("the ConfigMap " + metav1.NamespacePublic + "/" + registryHosting + " does not name the registry's host")

// buildKo builds the ko that the repository pins, or finds it in the go command's cache.
func (e *Env) buildKo(ctx context.Context, options Options) error {
	end := options.Begin(BuildKo)
	modfile := "-modfile=" + filepath.Join("hack", "tools", "ko", "go.mod")
	// The go command builds a tool silently, so that its packages are compiled before.
	if err := controlplane.Compile(ctx, options.Progress, "ko", options.Module, options.Dir, "github.com/google/ko/pkg/commands", modfile); err != nil {
		return err
	}
	cmd := exec.Command("go", "tool", modfile, "-n", "ko")
	cmd.Dir, cmd.Stderr = options.Module, options.Progress
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOTMPDIR="+options.Dir) // an interrupted build leaves its files there
	path, err := procgroup.Output(ctx, cmd, buildGrace)
	if err != nil {
		return fmt.Errorf("building ko: %w", err)
	}
	e.ko = strings.TrimSpace(path)
	end()
	return nil
}

// registry reads the host of the control plane's registry.
func (e *Env) registry(ctx context.Context) (string, error) {
	client, err := kubernetes.NewForConfig(e.Config)
	if err != nil {
		return "", fmt.Errorf("making a client to find the registry: %w", err)
	}
	hosting, err := client.CoreV1().ConfigMaps(metav1.NamespacePublic).Get(ctx, registryHosting, metav1.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("finding the registry: %w", err)
	}
	var v1 struct {
		Host string `json:"host"`
	}
	if err := yaml.Unmarshal([]byte(hosting.Data["localRegistryHosting.v1"]), &v1); err != nil {
		return "", fmt.Errorf("finding the registry: %w", err)
	}
	if v1.Host == "" {
		return "", errNoRegistry
	}
	return v1.Host, nil
}

// applyImages builds the images of a folder's manifests, pushes them, and applies the manifests with the images' digests.
// Only this machine's platform is built, for no other machine pulls from its registry.
func (e *Env) applyImages(ctx context.Context, dir string) error {
	if _, err := e.Ko(ctx, e.options.Module, "apply", "--platform", "linux/"+runtime.GOARCH, "--sbom", "none", "--recursive", "--filename", dir); err != nil {
		return fmt.Errorf("applying %s: %w", dir, err)
	}
	return nil
}

// waitAvailable waits until every Deployment of the manifests has all its Pods ready, none of them of an earlier template.
// A Pod that cannot get there by itself ends the wait.
func (e *Env) waitAvailable(ctx context.Context, options Options) error {
	end := options.Begin(StartOperator)
	client, err := kubernetes.NewForConfig(e.Config)
	if err != nil {
		return fmt.Errorf("making a client for the Deployments: %w", err)
	}
	var missing string
	err = wait.PollUntilContextTimeout(ctx, availablePeriod, options.ReadyTimeout, true, func(ctx context.Context) (bool, error) {
		var err error
		missing, err = e.unavailable(ctx, client)
		return missing == "", err
	})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s is not available within %v\n%s", missing, options.ReadyTimeout, e.DescribePods(ctx)) //nolint:err113 // a text for people
	case err != nil:
		return fmt.Errorf("waiting until %s is available: %w\n%s", missing, err, e.DescribePods(ctx))
	}
	limited, cancel := context.WithTimeout(ctx, options.ReadyTimeout)
	defer cancel()
	if err := e.waitRegistered(limited, func(service string) bool { return service != "" }); err != nil {
		return err
	}
	end()
	return nil
}

// unavailable names a Deployment that has not converged with all its replicas available, if there is one.
func (e *Env) unavailable(ctx context.Context, client kubernetes.Interface) (string, error) {
	for _, object := range e.Manifests {
		if object.GetKind() != "Deployment" {
			continue
		}
		name := manifest.Name(object, "Deployment")
		deployment, err := client.AppsV1().Deployments(object.GetNamespace()).Get(ctx, object.GetName(), metav1.GetOptions{})
		if err != nil {
			return name, fmt.Errorf("reading it: %w", err)
		}
		if available(deployment) {
			continue
		}
		selector := metav1.FormatLabelSelector(deployment.Spec.Selector)
		pods, err := client.CoreV1().Pods(object.GetNamespace()).List(ctx, metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			return name, fmt.Errorf("listing its Pods: %w", err)
		}
		return name, stuck(pods.Items)
	}
	return "", nil
}

// available reports whether a Deployment has the state that `kubectl rollout status` waits for.
func available(d *appsv1.Deployment) bool {
	return d.Status.ObservedGeneration >= d.Generation && d.Spec.Replicas != nil &&
		d.Status.UpdatedReplicas == *d.Spec.Replicas && d.Status.Replicas == *d.Spec.Replicas && d.Status.AvailableReplicas == *d.Spec.Replicas
}

// stuck returns an error when a container waits for something that a user has to fix.
func stuck(pods []corev1.Pod) error {
	for i := range pods {
		for _, c := range pods[i].Status.ContainerStatuses {
			if waiting := c.State.Waiting; waiting != nil && slices.Contains(stuckReasons, waiting.Reason) {
				return fmt.Errorf("container %s of Pod %s: %s", c.Name, pods[i].Name, waiting.Reason) //nolint:err113 // a text for people
			}
		}
	}
	return nil
}
