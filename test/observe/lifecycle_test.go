/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/runtime/leader"
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
	if err := r.ready(t.Context()); err == nil || !strings.Contains(err.Error(), "informer caches are not filled yet") {
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

const administrator = `
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: administrator}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: User, name: administrator, apiGroup: rbac.authorization.k8s.io}]
`

func TestReplica_RoleIsMissing_NamesTheObserversUntilItIsGranted(t *testing.T) {
	eachOperator(t, func(t *testing.T, o *operator) {
		listed := o.createThree(t)
		o.connect(t, func(_ *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo) { user.Impersonate = "administrator" })
		o.variables = append(o.variables, "WATCH_NAMESPACE="+o.ns)
		o.Apply(t, o.system, administrator)
		r := o.start(t, "forbidden")
		for _, name := range []string{"leading", "everywhere"} {
			r.awaitLine(t, "An observer waits for the first list of its source", `"observer":"`+name+`"`, "forbidden")
		}
		r.expectWaiting(t, listed, func() { o.Apply(t, o.ns, administrator) })
	})
}

func TestReplica_Terminated_DrainsWhatIsPendingAndNamesTheObserverThatIsStuck(t *testing.T) {
	const objects = 100
	eachOperator(t, func(t *testing.T, o *operator) {
		o.create(t, stuck, stuck)
		o.settle(t, 1)
		r := o.start(t, "only")
		r.await(t, "everywhere", "Added stuck listed")
		r.await(t, "leading", "Added stuck listed")
		want := []string{"Added stuck listed"}
		for i := range objects {
			o.create(t, strconv.Itoa(i), pending)
			want = append(want, fmt.Sprintf("Added %d", i))
		}
		// What has not arrived in the queues is lost with the informer.
		for _, observer := range []string{"everywhere", "leading"} {
			r.awaitLine(t, fmt.Sprint(arrivalPrefix, observer, " ", objects-1))
		}
		if err := r.group.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		r.awaitEnd(t)
		for _, observer := range []string{"everywhere", "leading"} {
			r.await(t, observer, want...)
		}
		lease, err := o.Kube.CoordinationV1().Leases(o.system).Get(t.Context(), leader.LeaseNames(replicaComponent, 1)[0], metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if holder := ptr.Deref(lease.Spec.HolderIdentity, ""); holder != "" {
			t.Errorf("the lease is held by %q after the end, want no holder", holder)
		}
		last := r.output()[len(r.output())-1]
		if reason := `observer "stuck": the events of 1 objects were not delivered`; !strings.Contains(last, reason) || strings.Contains(last, `"leading"`) {
			t.Errorf("the process ends with %q, want %q and no other observer", last, reason)
		}
		if exit, ok := errors.AsType[*exec.ExitError](r.group.Err()); !ok || exit.ExitCode() != 1 {
			t.Errorf("the process ends with %v, want exit code 1", r.group.Err())
		}
	})
}
