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
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"github.com/mallard-dev/mallard/localcluster/env/controlplane"
	"github.com/mallard-dev/mallard/localcluster/env/manifest"
	"github.com/mallard-dev/mallard/localcluster/env/processes"
)

const (
	// kubectlGrace is the time that kubectl has to exit after SIGTERM.
	kubectlGrace = 2 * time.Second
	// closeGrace is the time that processes have when the environment stops: they have no clients any more, so that their own grace periods are
	// longer than necessary.
	closeGrace = time.Second
)

// Env is a running environment.
type Env struct {
	// Kubeconfig is the path of the administrator's kubeconfig, and Config the same for client-go.
	Kubeconfig string
	Config     *rest.Config
	// AuditLog is the path of the API server's audit log, one JSON object a line.
	AuditLog string
	// Localcluster is the path of the control plane's program, which is kubectl too.
	Localcluster string
	// Manifests are the objects of the operator's manifests.
	Manifests []*unstructured.Unstructured
	// Runner runs the operator's processes; nil if they run from images, or belong to the program that started the environment.
	Runner *processes.Runner

	options Options
	cluster *controlplane.Cluster
	// created are the objects in an existing cluster.
	created *created
	// ko is the path of ko's program, if the operator runs from images.
	ko string
	// kubectlCache is the folder in which kubectl remembers which kinds there are.
	kubectlCache string
}

// Start brings the environment up. It returns when every process that it started is ready. On an error, and when ctx is
// done first, it has stopped again what it had started.
func Start(ctx context.Context, options Options) (_ *Env, err error) {
	options, err = options.withDefaults()
	if err != nil {
		return nil, err
	}
	e := &Env{options: options, kubectlCache: filepath.Join(options.Dir, "kubectl-cache")}
	if e.Manifests, err = manifest.ReadDir(options.Config...); err != nil {
		return nil, err
	}
	if options.AllVersions {
		folder, err := e.serveAllVersions(options.Dir)
		if err != nil {
			return nil, err
		}
		options.Config = []string{folder}
	}
	folders := strings.Join(options.Config, ", ")
	importPaths, err := processes.ImportPaths(e.Manifests)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", folders, err)
	}
	if len(importPaths) == 0 && !options.Bare {
		return nil, fmt.Errorf("%s: no Deployment has an image in ko's form (ko://IMPORTPATH), so there is no operator to run", folders)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.Stop())
		}
	}()
	if options.Existing != nil {
		if err := e.useExisting(ctx, options); err != nil {
			return nil, err
		}
	}
	if options.Images {
		if err := controlplane.CheckPods(); err != nil {
			return nil, err
		}
	}
	var binaries map[string]processes.Binary
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error {
		if options.Existing != nil {
			return nil
		}
		return e.startCluster(groupCtx, options)
	})
	group.Go(func() (err error) {
		if options.Images || options.Existing != nil {
			return e.buildKo(groupCtx, options)
		}
		if len(importPaths) == 0 {
			return nil // the control plane alone
		}
		end := options.Begin(BuildOperator)
		cache := filepath.Join(options.Module, ".cache", "operator")
		if binaries, err = processes.Build(groupCtx, options.Module, importPaths, cache, filepath.Join(options.Dir, "bin")); err != nil {
			return err
		}
		end()
		return nil
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if options.Bare {
		return e, nil
	}
	if err := e.applyConfig(ctx, options); err != nil {
		return nil, err
	}
	if options.Images || options.Existing != nil {
		return e, e.waitAvailable(ctx, options)
	}
	return e, e.startOperator(ctx, options, binaries)
}

// serveAllVersions changes the manifests' CRDs, and returns a folder with the manifests.
func (e *Env) serveAllVersions(dir string) (string, error) {
	if err := manifest.ServeAllVersions(e.Manifests); err != nil {
		return "", err
	}
	var text []byte
	for _, object := range e.Manifests {
		document, err := yaml.Marshal(object)
		if err != nil {
			return "", fmt.Errorf("writing %s: %w", manifest.Name(object, object.GetKind()), err)
		}
		text = append(append(text, "---\n"...), document...)
	}
	dir = filepath.Join(dir, "manifests")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", fmt.Errorf("creating a folder for the manifests: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "all.yaml"), text, 0o600); err != nil {
		return "", fmt.Errorf("writing the manifests: %w", err)
	}
	return dir, nil
}

// startOperator starts the processes and waits until they are ready.
func (e *Env) startOperator(ctx context.Context, options Options, binaries map[string]processes.Binary) error {
	end := options.Begin(StartOperator)
	if options.Applied != nil {
		if err := options.Applied(ctx, e); err != nil {
			return err
		}
	}
	processOptions := processes.Options{
		Config: e.Config, Dir: e.processesDir(), Binaries: binaries, Replicas: options.Replicas,
		OnExit: options.OnExit, OnError: options.OnError,
	}
	var err error
	if options.Overrides != nil {
		if processOptions.Overrides, err = options.Overrides(e.Config); err != nil {
			return err
		}
	}
	if e.Runner, err = processes.New(ctx, processOptions); err != nil {
		return err
	}
	held := map[string]bool{}
	for _, name := range options.Hold {
		if _, err := e.Runner.Process(name); err != nil {
			return err
		}
		held[name] = true
	}
	starts, startCtx := errgroup.WithContext(ctx)
	for _, p := range e.Runner.Processes() {
		if !held[p.Name()] {
			starts.Go(func() error { return p.Start(startCtx) })
		}
	}
	if err := starts.Wait(); err != nil {
		if ctx.Err() != nil {
			// Some processes may run already, and their logs may name the reason for the interruption.
			err = errors.Join(err, e.Runner.WaitReady(ctx))
		}
		return err
	}
	limited, cancel := context.WithTimeoutCause(ctx, options.ReadyTimeout,
		fmt.Errorf("it took longer than %v", options.ReadyTimeout)) //nolint:err113 // a text for people
	defer cancel()
	if err := e.Runner.WaitReady(limited); err != nil {
		return err
	}
	if err := e.waitRegistered(limited, func(service string) bool {
		_, err := e.Runner.Process(service)
		return err == nil && !held[service]
	}); err != nil {
		return err
	}
	end()
	return nil
}

// Apply applies the manifests of a folder, in which the CustomResourceDefinitions have to be ready for use before it
// returns.
func (e *Env) Apply(ctx context.Context, dir string) error {
	if e.created != nil {
		objects, err := manifest.ReadDir(dir)
		if err != nil {
			return err
		}
		return e.created.create(ctx, objects)
	}
	if _, err := e.Kubectl(ctx, nil, "apply", "-f", dir); err != nil {
		return fmt.Errorf("applying %s: %w", dir, err)
	}
	return nil
}

// Dir is the folder of the environment: that of the program that started it.
func (e *Env) Dir() string { return filepath.Dir(e.clusterDir()) }

// clusterDir is the folder of the control plane's files.
func (e *Env) clusterDir() string { return filepath.Dir(e.Kubeconfig) }

// LogFile is the path of the log of a process.
func (e *Env) LogFile(process string) string { return processes.LogFile(e.processesDir(), process) }

func (e *Env) processesDir() string { return filepath.Join(e.Dir(), "processes") }

// Stop stops the processes and then the control plane, or removes from an existing cluster what the environment has created there. Processes that
// have not exited within a grace period are killed.
func (e *Env) Stop() error {
	var failures []error
	if e.created != nil {
		failures = append(failures, e.created.removeInstances(e.options.Hurry))
	}
	if e.Runner != nil {
		ctx, cancel := context.WithTimeout(e.options.Hurry, closeGrace)
		defer cancel()
		failures = append(failures, e.Runner.Close(ctx))
	}
	if e.created != nil {
		failures = append(failures, e.created.remove(e.options.Hurry, 0))
	}
	if e.cluster != nil {
		failures = append(failures, e.cluster.Stop(e.options.Hurry))
	}
	return errors.Join(failures...)
}

func adminConfig(kubeconfig string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading the administrator's kubeconfig: %w", err)
	}
	// The API server's priority and fairness decides who has to wait.
	config.QPS = -1
	return config, nil
}
