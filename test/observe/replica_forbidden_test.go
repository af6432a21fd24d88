//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"testing"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

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
