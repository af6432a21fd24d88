/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"strings"
	"testing"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// createThree creates objects, and returns the events of an observer that starts afterwards.
func (o *operator) createThree(t *testing.T) (listed []string) {
	t.Helper()
	for _, name := range []string{"a", "b", "c"} {
		o.create(t, name, "1")
		listed = append(listed, "Added "+name+" listed")
	}
	o.settle(t, 3)
	return listed
}

// expectWaiting checks that a replica waits for the caches of its observers, and then that it is ready and they have received the objects.
func (r *replica) expectWaiting(t *testing.T, listed []string, heal func()) {
	t.Helper()
	if err := r.ready(t.Context()); err == nil || !strings.Contains(err.Error(), "the caches are not filled yet") {
		t.Errorf("before the first list the readiness of the process is %v, want the reason", err)
	}
	if got := append(r.received("leading"), r.received("everywhere")...); len(got) > 0 {
		t.Errorf("before the first list the observers received %q", got)
	}
	heal()
	r.await(t, "leading", listed...)
	r.await(t, "everywhere", listed...)
	harness.Eventually(t, "the process is ready", r.ready)
}

func TestReplica_FirstListIsHeld_IsNotReadyBeforeIt(t *testing.T) {
	eachOperator(t, func(t *testing.T, o *operator) {
		listed := o.createThree(t)
		config, proxy := o.Proxied(t)
		o.connect(t, func(cluster *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
			cluster.Server, cluster.CertificateAuthorityData = config.Host, config.CAData
		})
		held := proxy.Hold(harness.Matching("*", "configmaps").And(harness.InNamespace(o.ns)))
		r := o.start(t, "held")
		held.Wait(t)
		r.expectWaiting(t, listed, held.Release)
	})
}
