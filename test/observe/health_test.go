/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/observe"
)

const reader = `
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{kind: User, name: reader, apiGroup: rbac.authorization.k8s.io}]
`

// awaitHealth waits until observe.Health returns an error with a text, or none if the text is empty.
func (s *scene) awaitHealth(t *testing.T, want string) {
	t.Helper()
	harness.Eventually(t, fmt.Sprintf("the health is %q", want), func(context.Context) error {
		err := observe.Health(s.ctx)
		if err == nil && want == "" || err != nil && want != "" && strings.Contains(err.Error(), want) {
			return nil
		}
		return fmt.Errorf("it is %w", errors.Join(errors.New("another"), err))
	})
}

func TestSource_RoleIsMissingAtTheStart_IsReportedAndHealsOnceItIsGranted(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		as := rest.CopyConfig(s.Config)
		as.Impersonate.UserName = "reader"
		client, err := kubernetes.NewForConfig(as)
		if err != nil {
			t.Fatal(err)
		}
		source := observe.Selected[*corev1.ConfigMap](func(context.Context) kubernetes.Interface { return client },
			coreinformers.NewFilteredConfigMapInformer, observe.InNamespace(s.ns), observe.Labels("it,it notin (other)"))
		var j journal
		subscription, err := observe.Subscribe(s.ctx, "forbidden", source, j.record)
		if err != nil {
			t.Fatal(err)
		}
		s.awaitHealth(t, `the source of forbidden fails since `)
		s.awaitHealth(t, `User "reader" cannot`)
		if subscription.HasSynced() {
			t.Error("the observer has synced without a permission")
		}
		s.create(t, "it", "1")
		s.Apply(t, s.ns, reader)
		s.awaitHealth(t, "")
		j.await(t, "Added it listed")
		if err := subscription.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
