//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pods

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/apis/config"
)

// TestPods_SyntaxErrorInAConfigMap_StatusReportsIt starts the webhook with a ConfigMap that cannot be read: the status of its Pods names
// the map, the key and the error, their events report the restarts, and once the ConfigMap is fixed they become ready by themselves.
func TestPods_SyntaxErrorInAConfigMap_StatusReportsIt(t *testing.T) {
	env := harness.Shared(t)
	awaitRunning(t, env, "webhook", 2)
	// The map is as it was when this one ends.
	t.Run("bad", func(t *testing.T) {
		scale(t, env, "webhook", 0)
		awaitNoPods(t, env, "webhook")
		defer scale(t, env, "webhook", 2)
		// It is not validated, for the webhook is down.
		env.SetConfig(t, config.AddressableName, map[string]string{"domain-template": "{{.Name"})
		scale(t, env, "webhook", 2)

		const told = "ConfigMap config-addressable: domain-template: "
		harness.Eventually(t, "two Pods report the error of the ConfigMap", func(ctx context.Context) error {
			pods, err := podsOf(ctx, env, "webhook")
			if err != nil {
				return err
			}
			if len(pods) != 2 {
				return fmt.Errorf("there are %d", len(pods))
			}
			for i := range pods {
				if err := explains(&pods[i], told, "must be a template with"); err != nil {
					return fmt.Errorf("%s: %w", pods[i].Name, err)
				}
			}
			return nil
		})
		described := env.Kubectl(t, "describe", "pods", "--namespace", env.SystemNamespace, "--selector", labelOf("webhook"))
		for _, want := range []string{told, "Back-off restarting failed container webhook"} {
			if strings.Count(described, want) < 2 {
				t.Errorf("kubectl describe does not show of each Pod %q:\n%s", want, described)
			}
		}
		if n := len(running(t, env, "controller")); n != 2 {
			t.Errorf("%d Pods of the controller are ready, want 2, with the last good ConfigMap", n)
		}
	})
	awaitRunning(t, env, "webhook", 2)
}

// explains returns an error unless a Pod is restarted with a back-off after an exit whose message contains all of these texts.
func explains(pod *corev1.Pod, parts ...string) error {
	if len(pod.Status.ContainerStatuses) != 1 {
		return errors.New("it has no status of its container yet")
	}
	s := pod.Status.ContainerStatuses[0]
	if s.State.Waiting == nil || s.State.Waiting.Reason != "CrashLoopBackOff" || s.LastTerminationState.Terminated == nil {
		return fmt.Errorf("its container's state is %+v", s.State)
	}
	ended := s.LastTerminationState.Terminated
	for _, part := range parts {
		if ended.ExitCode != 1 || !strings.Contains(ended.Message, part) {
			return fmt.Errorf("it ended with %d and %q, want 1 and %q", ended.ExitCode, ended.Message, part)
		}
	}
	return nil
}
