//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

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
		lease, err := o.Kube.CoordinationV1().Leases(o.system).Get(t.Context(), "replica.leading.00-of-01", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if holder := ptr.Deref(lease.Spec.HolderIdentity, ""); holder != "" {
			t.Errorf("the lease is held by %q after the end, want no holder", holder)
		}
		const reason = "An observer ends before it has received all events"
		for _, line := range r.output() {
			// Secrets of other suites may change until the process ends.
			if strings.Contains(line, reason) && !strings.Contains(line, `"stuck"`) && !strings.Contains(line, `"secret-audit"`) {
				t.Errorf("the process ends with %q, want only the observer that is stuck", line)
			}
		}
		r.awaitLine(t, reason, `"stuck"`)
	})
}
