/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hooks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/injection/sharedmain"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/system"
	"knative.dev/pkg/webhook"

	"github.com/mallard-dev/mallard/crud/hook"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/measured"
)

func TestMain(m *testing.M) {
	hook.Main() // the shell functions call this program
	if err := errors.Join(os.Setenv(system.NamespaceEnvKey, "knative-samples"), setMeterProvider()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if os.Getenv(killEnv) != "" {
		if err := runAndKill(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
	spans := measured.Spans()
	harness.Search("the spans and metrics", func() string {
		families, err := registry.Gather()
		return measured.Exported(spans, metrics) + fmt.Sprint(families, err)
	})
	harness.Main(m, harness.Bare())
}

// scene is a process with hooks, whose requests pass a proxy, in a separate namespace.
type scene struct {
	*testing.T

	env    *harness.Env
	ns     string
	config *rest.Config
	proxy  *harness.Proxy
	// hooks, runs and temporary are folders: of the executables, of what they record, and of their files.
	hooks, runs, temporary string
	logs                   *observer.ObservedLogs
	// end ends the process as SIGTERM does, and ended is closed when its workers have ended.
	end   context.CancelFunc
	ended chan struct{}
}

func newScene(t *testing.T) *scene {
	t.Helper()
	env := harness.Shared(t)
	config, proxy := env.Proxied(t)
	earlier = measured.Earlier(t, metrics)
	s := &scene{
		T: t, env: env, ns: env.Namespace(t), config: config, proxy: proxy, hooks: t.TempDir(), runs: t.TempDir(), temporary: t.TempDir(),
		ended: make(chan struct{}),
	}
	harness.SearchFolder(t, s.temporary)
	return s
}

// quick are options with short delays.
func (s *scene) quick() hook.Options {
	return hook.Options{
		FieldManager: "hooks-test", Folder: s.temporary, RetryDelay: 50 * time.Millisecond, MaxRetryDelay: 400 * time.Millisecond,
		Timeout: time.Minute, Grace: 500 * time.Millisecond, Conflicts: 4,
	}
}

// start starts a process with hooks, which ends with the test.
func (s *scene) start(options hook.Options, hooks ...*hook.Hook) {
	s.Helper()
	construct, err := hook.NewController(options, hooks...)
	if err != nil {
		s.Fatal(err)
	}
	s.run(context.Background(), construct)
}

// run runs the controllers and the webhooks of a process, as sharedmain does.
func (s *scene) run(ctx context.Context, constructors ...injection.ControllerConstructor) {
	s.Helper()
	core, logs := observer.New(zap.DebugLevel)
	s.logs = logs
	harness.Search("the log of the process of "+s.Name(), func() string { return measured.Log(logs.All()...) })
	ctx, cancel := context.WithCancel(ctx)
	s.end = cancel
	ctx = injection.WithConfig(logging.WithLogger(ctx, zap.New(core).Sugar()), s.config)
	ctx, informers := injection.Default.SetupInformers(ctx, s.config)
	controllers, webhooks := sharedmain.ControllersAndWebhooksFromCtors(ctx, nil, constructors...)
	if err := controller.StartInformers(ctx.Done(), informers...); err != nil {
		s.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() { _ = controller.StartAll(ctx, controllers...) })
	if len(webhooks) > 0 {
		server, err := webhook.New(ctx, webhooks)
		if err != nil {
			s.Fatal(err)
		}
		running.Go(func() {
			if err := server.Run(ctx.Done()); err != nil {
				s.Error(err)
			}
		})
	}
	go func() {
		running.Wait()
		close(s.ended)
	}()
	s.Cleanup(func() {
		cancel()
		<-s.ended
		if s.Failed() {
			for _, entry := range logs.All() {
				if entry.Message != "Reconcile succeeded" {
					s.Log(entry.Message, entry.ContextMap())
				}
			}
		}
	})
}

// journal records what happens in hooks in Go.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) addf(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf(format, args...))
}

func (j *journal) all() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.lines)
}

// await waits until the output has these lines, and no others.
func (j *journal) await(t testing.TB, want ...string) {
	t.Helper()
	harness.Eventually(t, "the journal is complete", func(context.Context) error {
		if diff := cmp.Diff(want, j.all()); diff != "" {
			return errors.New("-want, +got:\n" + diff)
		}
		return nil
	})
}

func (s *scene) create(name, value string, labels map[string]string) *corev1.ConfigMap {
	s.Helper()
	created, err := s.env.Kube.CoreV1().ConfigMaps(s.ns).Create(s.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Data: map[string]string{"value": value},
	}, metav1.CreateOptions{})
	if err != nil {
		s.Fatal(err)
	}
	return created
}

func (s *scene) patch(name, patch string) {
	s.Helper()
	if _, err := s.env.Kube.CoreV1().ConfigMaps(s.ns).Patch(context.WithoutCancel(s.Context()), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		s.Fatal(err)
	}
}

func (s *scene) delete(name string) {
	s.Helper()
	if err := s.env.Kube.CoreV1().ConfigMaps(s.ns).Delete(s.Context(), name, metav1.DeleteOptions{}); err != nil {
		s.Fatal(err)
	}
}

// awaitData waits until a ConfigMap has a value.
func (s *scene) awaitData(name, key, want string) {
	s.Helper()
	harness.Eventually(s, fmt.Sprintf("ConfigMap %s has %s=%q", name, key, want), func(ctx context.Context) error {
		cm, err := s.env.Kube.CoreV1().ConfigMaps(s.ns).Get(ctx, name, metav1.GetOptions{})
		if err == nil && cm.Data[key] != want {
			err = fmt.Errorf("it has %q", cm.Data)
		}
		return err
	})
}
