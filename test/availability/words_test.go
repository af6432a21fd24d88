/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package availability

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"knative.dev/pkg/apis"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/test/harness"
)

const (
	directory       = "knative-samples-directory"
	controllerLease = "controller.00-of-01"
	// leaseDuration is lease-duration of config/config-leader-election.yaml.
	leaseDuration = 15 * time.Second
	// patience is for what comes after that duration.
	patience = 60 * time.Second
)

const target = `
apiVersion: v1
kind: Service
metadata: {name: target}
spec:
  ports: [{name: http, port: 80}]
`

const subject = `
apiVersion: samples.knative.dev/v1
kind: AddressableService
metadata: {name: subject}
spec:
  ref: {apiVersion: v1, kind: Service, name: target}
`

// twoControllers starts an environment in which each replica can be told from the other.
func twoControllers(t *testing.T) *harness.Env {
	t.Helper()
	return harness.Own(t, harness.WithReplicas("controller", 2), harness.WithReplicas("webhook", 1),
		harness.WithProxy("controller"), harness.WithProxy("controller-1"))
}

// holder is the process that holds a lease of the controller, or empty.
func holder(ctx context.Context, env *harness.Env) (string, error) {
	lease, err := env.Kube.CoordinationV1().Leases(env.SystemNamespace).Get(ctx, controllerLease, metav1.GetOptions{})
	if err != nil || lease.Spec.HolderIdentity == nil {
		return "", err
	}
	// The identity begins with the name of the Pod.
	switch pod, _, _ := strings.Cut(*lease.Spec.HolderIdentity, "_"); pod {
	case "controller-0":
		return "controller", nil
	case "controller-1":
		return "controller-1", nil
	default:
		return "", nil
	}
}

// roles are the process that leads and the one that stands by.
func roles(t *testing.T, env *harness.Env) (leader, standby string) {
	t.Helper()
	harness.Eventually(t, "one of the controllers leads", func(ctx context.Context) (err error) {
		if leader, err = holder(ctx, env); err == nil && leader == "" {
			err = errors.New("nobody does")
		}
		return err
	})
	if leader == "controller" {
		return leader, "controller-1"
	}
	return leader, "controller"
}

// work keeps what a leader alone does: writes, but of leases and events.
func work(e harness.AuditEntry) bool {
	return harness.Writes(e) && e.Resource != "leases" && e.Resource != "events"
}

// stream creates this many objects a second, each with an alias, until it is told to stop.
type stream struct {
	env       *harness.Env
	namespace string
	stopping  chan struct{}
	tasks     sync.WaitGroup
	mu        sync.Mutex
	made      int
	err       error
}

const perSecond = 20

func startStream(t *testing.T, env *harness.Env) *stream {
	t.Helper()
	s := &stream{env: env, namespace: env.Namespace(t), stopping: make(chan struct{})}
	env.Apply(t, s.namespace, target)
	ctx := t.Context()
	s.tasks.Go(func() {
		ticks := time.NewTicker(time.Second / perSecond)
		defer ticks.Stop()
		for {
			select {
			case <-s.stopping:
				return
			case <-ctx.Done():
				return
			case <-ticks.C:
				s.create(ctx)
			}
		}
	})
	return s
}

func (s *stream) create(ctx context.Context) {
	s.mu.Lock()
	name := fmt.Sprintf("s-%04d", s.made)
	s.mu.Unlock()
	as := &v1.AddressableService{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1.AddressableServiceSpec{
		Ref:     v1.TargetReference{APIVersion: "v1", Kind: "Service", Name: "target"},
		Publish: &v1.Publication{Alias: name},
	}}
	_, err := s.env.Samples.SamplesV1().AddressableServices(s.namespace).Create(ctx, as, metav1.CreateOptions{})
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.err = errors.Join(s.err, fmt.Errorf("creating %s: %w", name, err))
		return
	}
	s.made++
}

func (s *stream) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.made
}

// awaitMore waits until n more objects have been made.
func (s *stream) awaitMore(t *testing.T, n int) {
	t.Helper()
	want := s.count() + n
	harness.Eventually(t, "more objects are made", func(context.Context) error {
		if made := s.count(); made < want {
			return fmt.Errorf("there are %d of %d", made, want)
		}
		return nil
	})
}

// end stops the stream and waits until all that it made is Ready, and nothing else is there.
func (s *stream) end(t *testing.T) {
	t.Helper()
	close(s.stopping)
	s.tasks.Wait()
	if s.err != nil {
		t.Errorf("creating failed: %v", s.err)
	}
	harness.EventuallyWithin(t, patience, "every object is Ready", func(ctx context.Context) error {
		list, err := s.env.Samples.SamplesV1().AddressableServices(s.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if len(list.Items) != s.made {
			return fmt.Errorf("there are %d objects, %d were made", len(list.Items), s.made)
		}
		for i := range list.Items {
			if ready := list.Items[i].Status.GetCondition(apis.ConditionReady); ready == nil || !ready.IsTrue() {
				return fmt.Errorf("%s is not Ready: %+v", list.Items[i].Name, ready)
			}
		}
		return nil
	})
	var aliases *corev1.ServiceList
	aliases, err := s.env.Kube.CoreV1().Services(directory).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(aliases.Items) != s.made {
		t.Errorf("%d objects have %d aliases", s.made, len(aliases.Items))
	}
}
