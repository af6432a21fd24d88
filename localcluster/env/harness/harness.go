/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/mallard-dev/mallard/localcluster/env/controlplane"
	"github.com/mallard-dev/mallard/localcluster/env/internal/environment"
	"github.com/mallard-dev/mallard/localcluster/env/processes"
	"github.com/mallard-dev/mallard/localcluster/env/procgroup"
)

// startTimeout bounds the start of an environment. It is long since the first one on a machine builds the control plane.
const startTimeout = 30 * time.Minute

// killedTimeout is the time after which a killed process no longer exists.
const killedTimeout = 5 * time.Second

// Env is a running API server with the operator's configuration and processes, and an administrator's clients for it.
// The clients have no rate limit.
type Env struct {
	// Config is the configuration of the clients.
	Config *rest.Config
	// Kubeconfig is the path of a file with the same configuration.
	Kubeconfig string
	Kube       kubernetes.Interface
	Dynamic    dynamic.Interface
	// CRDs is the client for CustomResourceDefinitions.
	CRDs apiextensions.Interface
	// SystemNamespace is the namespace of the operator's Deployments.
	SystemNamespace string

	environment *environment.Env
	// test is the one that has started the environment with Own.
	test testing.TB
	// attached reports whether another program has started the environment, which other suites use at the same time.
	attached bool
	auditLog string
	dir      string
	proxies  map[string]*Proxy
	mapper   *restmapper.DeferredDiscoveryRESTMapper

	mu    sync.Mutex
	exits []error
	// namespaces are those of the suite's tests, and expected the parts of the errors that they have declared.
	namespaces, expected []string
}

// shared is the environment of the test binary, set by Main before any test runs.
var shared *Env

// Main starts the environment of a test binary, runs its tests, stops the environment and exits. It fails the run when a
// process of the operator ended unasked or has logged an error that no test declares, when anything was left behind, and when a [Canary] is where it
// must not be.
//
// If the environment variable LOCALCLUSTER_KUBECONFIG is set, the suite shares the running environment with that kubeconfig instead: the one that
// make test starts for all suites, or one of make run. A suite whose options change the operator starts its own all the same.
func Main(m *testing.M, options ...Option) {
	flag.Parse()
	if list := flag.Lookup("test.list"); list != nil && list.Value.String() != "" {
		os.Exit(m.Run())
	}
	os.Exit(run(m, options))
}

func run(m *testing.M, options []Option) int {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	env, err := start(ctx, options)
	if err != nil {
		fmt.Fprintln(os.Stderr, "harness: starting the environment:", err)
		return 1
	}
	interrupted := context.AfterFunc(ctx, func() {
		_ = env.stop()
		os.Exit(1)
	})
	shared = env
	var others map[string][]string
	if env.attached {
		others = env.logs() // of suites that have ended
	}
	code, err := runRecorded(m)
	if !interrupted() {
		// The other goroutine is about to exit.
		select {}
	}
	err = errors.Join(err, env.checkErrors(others))
	if code == 0 {
		err = errors.Join(err, env.search(context.Background()))
	}
	err = errors.Join(err, env.stop())
	reportSelf()
	// Environments of single tests have been stopped by now, so nothing may be left of them either. A process that was killed exists until its parent,
	// which may be the init process, has waited for it.
	err = errors.Join(err, eventually(context.Background(), killedTimeout, func(context.Context) error {
		if left := procgroup.Alive(); len(left) > 0 {
			return fmt.Errorf("processes are left running: %v", left)
		}
		return nil
	}))
	if err != nil {
		fmt.Fprintln(os.Stderr, "harness: after the tests:", err)
		return 1
	}
	return code
}

// MainWithoutEnvironment runs the tests of a suite that start their environments with [Own] or a program, and returns their exit status. It fails
// the run when a [Canary] or a private key is in what the tests print, or in what [Search] adds.
func MainWithoutEnvironment(m *testing.M) int {
	code, err := runRecorded(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "harness: after the tests:", err)
		return 1
	}
	return code
}

// reportSelf reports the CPU time of the suite itself, without the programs that it has started.
func reportSelf() {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return
	}
	procgroup.Report(time.Duration(usage.Utime.Nano()+usage.Stime.Nano()), []string{os.Args[0]})
}

// Shared returns the environment that Main has started.
func Shared(t testing.TB) *Env {
	t.Helper()
	if shared == nil {
		t.Fatal("there is no shared environment: TestMain of this package must call harness.Main")
	}
	return shared
}

// Own starts an environment for one test, which is stopped at its end. The test fails when a process of the operator
// ended unasked or has logged an error that the test does not declare, or when a [Canary] is where it must not be.
func Own(t testing.TB, options ...Option) *Env {
	t.Helper()
	env, err := start(t.Context(), append(options, Separate()))
	if err != nil {
		t.Fatalf("starting an environment: %v", err)
	}
	env.test = t
	t.Cleanup(func() {
		if t.Failed() {
			env.dumpProcesses(t, "")
		}
		err := env.checkErrors(nil)
		if !t.Failed() { // a test that fails may leave an API server that does not answer
			all := slices.Collect(maps.Keys(maps.Collect(canaries.Range)))
			err = errors.Join(err, env.searchObjects(context.Background(), all...), env.search(context.Background()))
		}
		if err := errors.Join(err, env.stop()); err != nil {
			t.Errorf("stopping an environment: %v", err)
		}
	})
	return env
}

func start(ctx context.Context, options []Option) (_ *Env, err error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	module, err := controlplane.Repository()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "mallard-harness-")
	if err != nil {
		return nil, fmt.Errorf("making a folder: %w", err)
	}
	env := &Env{dir: dir, proxies: map[string]*Proxy{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, env.stop())
		}
	}()
	settings := settings{env: map[string]map[string]string{}, replicas: map[string]int{}}
	for _, option := range options {
		option(&settings)
	}
	if running := os.Getenv(environment.Variable); running != "" && !settings.separate {
		env.attached = true
		env.environment, err = environment.Attach(ctx, running, environment.Options{Module: module, Dir: dir, Progress: os.Stderr})
		if err != nil {
			return nil, err
		}
		return env, env.connect()
	}
	config := []string{cmp.Or(settings.config, filepath.Join(module, "config"))}
	if settings.overlay != "" {
		config = append(config, filepath.Join(module, "kustomize", "overlays", settings.overlay))
	}
	env.environment, err = environment.Start(ctx, environment.Options{
		Module: module, Dir: dir, Config: config, Images: settings.images, Bare: settings.bare, Hold: settings.hold, Replicas: settings.replicas,
		AllVersions: settings.allVersions,
		Overrides: func(config *rest.Config) (map[string]processes.Override, error) {
			return env.overrides(ctx, config, settings)
		},
		Applied:  settings.applied,
		Progress: os.Stderr,
		OnExit:   env.noteExit,
		OnError:  func(err error) { fmt.Fprintln(os.Stderr, "harness:", err) },
	})
	if err != nil {
		return nil, err
	}
	return env, env.connect()
}

// connect makes the administrator's clients.
func (e *Env) connect() error {
	e.Kubeconfig, e.auditLog = e.environment.Kubeconfig, e.environment.AuditLog
	e.SystemNamespace = e.environment.SystemNamespace()
	return e.connectWith(e.environment.Config)
}

func (e *Env) connectWith(config *rest.Config) (err error) {
	e.Config = config
	if e.Kube, err = kubernetes.NewForConfig(e.Config); err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	if e.Dynamic, err = dynamic.NewForConfig(e.Config); err != nil {
		return fmt.Errorf("making a dynamic client: %w", err)
	}
	if e.CRDs, err = apiextensions.NewForConfig(e.Config); err != nil {
		return fmt.Errorf("creating a client for CRDs: %w", err)
	}
	e.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(e.Kube.Discovery()))
	return nil
}

func (e *Env) noteExit(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.exits = append(e.exits, err)
}

// stop stops everything, removes the folder, and reports faults.
func (e *Env) stop() error {
	var problems []error
	if e.environment != nil && !e.attached {
		problems = append(problems, e.environment.Stop())
	}
	for _, p := range e.proxies {
		problems = append(problems, p.close())
	}
	if err := os.RemoveAll(e.dir); err != nil {
		problems = append(problems, fmt.Errorf("removing the folder of the environment: %w", err))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return errors.Join(append(problems, e.exits...)...)
}
