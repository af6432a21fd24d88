//go:build nightly

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
	"k8s.io/utils/ptr"

	"github.com/mallard-dev/mallard/runtime/leader"
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
