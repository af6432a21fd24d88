//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package availability

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/fixtures"
)

func TestMain(m *testing.M) { os.Exit(harness.MainWithoutEnvironment(m)) }

const (
	directory = "knative-samples-directory"
	// leaseDuration is lease-duration of config/config-leader-election.yaml.
	leaseDuration = 15 * time.Second
	// patience is for what comes after that duration.
	patience = 2 * time.Minute
)

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

// holder is the process that holds the lease of AddressableServices, or empty.
func holder(t *testing.T, env *harness.Env) (string, error) {
	t.Helper()
	return fixtures.LeadingProcess(t, env, "controller", "controller-1")
}

// roles are the leader and the standby.
func roles(t *testing.T, env *harness.Env) (leader, standby string) {
	t.Helper()
	harness.Eventually(t, "one of the controllers leads", func(context.Context) (err error) {
		if leader, err = holder(t, env); err == nil && leader == "" {
			err = errors.New("no process does")
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

// perSecond is the number of objects that the stream of creates makes in a second.
const perSecond = 20

// awaitPublished waits until the objects are Ready, no others exist, and each has its alias.
func awaitPublished(t *testing.T, env *harness.Env, namespace string, made int) {
	t.Helper()
	fixtures.AwaitReady(t, env, namespace, made)
	aliases, err := env.Kube.CoreV1().Services(directory).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(aliases.Items) != made {
		t.Errorf("%d objects have %d aliases", made, len(aliases.Items))
	}
}
