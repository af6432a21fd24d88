/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package processes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
)

const (
	// grace is the time between SIGTERM and SIGKILL. It is shorter than the 30 s of a Pod, so that a process that does not end is noticed.
	grace = 10 * time.Second
	// reportTimeout bounds how long a process waits for the cluster to take note of it.
	reportTimeout = 10 * time.Second
)

// Options configure a runner. Replicas and Overrides may be nil.
type Options struct {
	// Config is an administrator's access to the API server.
	Config *rest.Config
	// Dir is a folder of the runner's own, for logs, tokens and kubeconfigs. It is made if it does not exist.
	Dir string
	// Binaries are the programs by import path, as [Build] returns them.
	Binaries map[string]Binary
	// Replicas changes how many processes a Deployment gets, by its name. Default: one, or none if spec.replicas is 0. More replicas protect from the
	// loss of a machine, and all of these processes are on one.
	Replicas map[string]int
	// Overrides are in force from the first start on, by process name.
	Overrides map[string]Override
	// OnExit is called, from another goroutine, for each process that exits unexpectedly; the error wraps an [ExitError].
	OnExit func(error)
	// OnError is called, from another goroutine, for each error in the background: a token that could not be
	// renewed, a status that could not be written.
	OnError func(error)
}

// Runner runs the processes of the Deployments of one cluster.
type Runner struct {
	options   Options
	kube      kubernetes.Interface
	server    Server
	dir       string
	tokens    *tokens
	processes []*Process

	ctx    context.Context //nolint:containedctx // the life of the runner, which no single call owns
	cancel context.CancelFunc
	tasks  sync.WaitGroup
	// reporting keeps an older state from being written over a newer one.
	reporting sync.Mutex
}

// New reads the Deployments of every namespace and prepares a process for each of their containers whose image is in ko's
// form, without starting any. A Deployment that cannot run here is an error that names the field.
func New(ctx context.Context, options Options) (*Runner, error) {
	config := rest.CopyConfig(options.Config)
	config.QPS = -1
	if err := rest.LoadTLSFiles(config); err != nil {
		return nil, fmt.Errorf("reading the certificates of the API server's clients: %w", err)
	}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client for the local processes: %w", err)
	}
	dir, err := filepath.Abs(options.Dir)
	if err != nil {
		return nil, fmt.Errorf("finding the folder for the local processes: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the folder for the local processes: %w", err)
	}
	r := &Runner{options: options, kube: kube, server: Server{URL: config.Host, CA: config.CAData}, dir: dir}
	r.ctx, r.cancel = context.WithCancel(context.WithoutCancel(ctx))
	r.tokens = &tokens{ctx: r.ctx, kube: kube, dir: dir, onError: options.OnError, files: map[types.NamespacedName]string{}}
	if err := r.load(ctx); err != nil {
		r.cancel()
		return nil, err
	}
	return r, nil
}

func (r *Runner) load(ctx context.Context) error {
	deployments, err := r.kube.AppsV1().Deployments(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing the deployments that run as local processes: %w", err)
	}
	seen := map[string]types.NamespacedName{}
	for i := range deployments.Items {
		deployment := &deployments.Items[i]
		containers, err := workloads(deployment)
		if err != nil {
			return err
		}
		key := types.NamespacedName{Namespace: deployment.Namespace, Name: deployment.Name}
		for _, w := range containers {
			if _, ok := r.options.Binaries[w.importPath]; !ok {
				return fmt.Errorf("deployment %s: %s: %s has not been built", key, w.path.Child("image"), w.importPath)
			}
			for ordinal := range replicas(deployment, r.options.Replicas) {
				name := deployment.Name
				if len(containers) > 1 {
					name += "-" + w.container.Name
				}
				if ordinal > 0 {
					name += "-" + strconv.Itoa(ordinal)
				}
				if other, ok := seen[name]; ok {
					return fmt.Errorf("deployments %s and %s both make a local process named %s: names must differ", other, key, name)
				}
				seen[name] = key
				r.processes = append(r.processes, &Process{
					name: name, deployment: key, container: w.container.Name, ordinal: ordinal, uid: uuid.NewUUID(), runner: r,
					log: LogFile(r.dir, name), override: r.options.Overrides[name],
				})
			}
		}
	}
	return nil
}

func replicas(deployment *appsv1.Deployment, wanted map[string]int) int {
	if n, ok := wanted[deployment.Name]; ok {
		return n
	}
	return min(int(ptr.Deref(deployment.Spec.Replicas, 1)), 1)
}

// Processes are all processes, whether they run or not.
func (r *Runner) Processes() []*Process { return slices.Clone(r.processes) }

// Process returns the process with a name, or an error that lists the valid names.
func (r *Runner) Process(name string) (*Process, error) {
	var names []string
	for _, p := range r.processes {
		if p.name == name {
			return p, nil
		}
		names = append(names, p.name)
	}
	return nil, fmt.Errorf("there is no local process %q, only %q", name, names)
}

// WaitReady waits until each of the processes that run is ready. Its error names all that are not, each as a [NotReadyError], or the first that has ended.
func (r *Runner) WaitReady(ctx context.Context) error {
	var failures []error
	for _, p := range r.processes {
		if !p.Running() {
			continue
		}
		err := p.WaitReady(ctx)
		if _, notReady := errors.AsType[*NotReadyError](err); err != nil && !notReady {
			return err
		}
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}

// Close stops every process, all at a time, and ends what renews their tokens. The cluster's status is not updated, since the cluster ends, too. When
// ctx is done, what is left is killed.
func (r *Runner) Close(ctx context.Context) error {
	r.cancel()
	failures := make([]error, len(r.processes))
	var stops sync.WaitGroup
	for i, p := range r.processes {
		stops.Go(func() { failures[i] = p.Stop(ctx) })
	}
	stops.Wait()
	r.tasks.Wait()
	r.tokens.tasks.Wait()
	return errors.Join(failures...)
}
