//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/localcluster/env/processes"
)

func TestMain(m *testing.M) { os.Exit(harness.MainWithoutEnvironment(m)) }

// probed is a process whose probes can be called.
type probed struct {
	*harness.Process
	env  *harness.Env
	name string
}

// newProbed gives a process a Service for its probes, because that is what learns of the local port.
func newProbed(t *testing.T, env *harness.Env, name string) probed {
	t.Helper()
	deployment, err := env.Kube.AppsV1().Deployments(env.SystemNamespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = env.Kube.CoreV1().Services(env.SystemNamespace).Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name + "-probes"},
		Spec: corev1.ServiceSpec{
			Selector: deployment.Spec.Selector.MatchLabels,
			Ports:    []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromString("probes")}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return probed{env.Process(t, name), env, name}
}

// probe requests a path, and returns an error with the response unless that is 200.
func (p probed) probe(ctx context.Context, path string) error {
	service, err := p.env.Kube.CoreV1().Services(p.env.SystemNamespace).Get(ctx, p.name+"-probes", metav1.GetOptions{})
	if err != nil {
		return err
	}
	address, ok := strings.CutPrefix(service.Annotations[processes.EndpointsAnnotation], "80=")
	if !ok {
		return errors.New("the process has no port yet")
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%d %s", response.StatusCode, body)
	}
	return nil
}

// awaitUnready waits until the process says that it is not ready, for a reason, and is healthy nevertheless.
func (p probed) awaitUnready(t *testing.T, reason string) {
	t.Helper()
	harness.Eventually(t, "the process is not ready: "+reason, func(ctx context.Context) error {
		switch err := p.probe(ctx, "/readiness"); {
		case err == nil:
			return errors.New("it is ready")
		case !strings.HasPrefix(err.Error(), "503 ") || !strings.Contains(err.Error(), reason):
			return err
		}
		if err := p.probe(ctx, "/health"); err != nil {
			return fmt.Errorf("it is not healthy either: %w", err)
		}
		return nil
	})
}

func (p probed) awaitReady(t *testing.T) {
	t.Helper()
	harness.Eventually(t, "the process is ready", func(ctx context.Context) error { return p.probe(ctx, "/readiness") })
}

// start starts a process without waiting for it. Once the test is about to end, ended returns the result of the start.
func (p probed) start(t *testing.T) (ended func()) {
	t.Helper()
	result := make(chan error, 1)
	go func() { result <- p.TryStart(t) }()
	return func() {
		t.Helper()
		if err := <-result; err != nil {
			t.Error(err)
		}
	}
}
