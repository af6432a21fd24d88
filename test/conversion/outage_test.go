//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// An object stored at a version is not converted for clients of that version, so they need no webhook.
func TestConversion_WebhookStopped_StoredVersionIsServed(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.AllVersions(), harness.WithReplicas("webhook", 1), harness.WithReplicas("controller", 1))
	ns := env.Namespace(t)
	env.Apply(t, ns, target)
	env.Apply(t, ns, plain("subject"))
	env.Apply(t, ns, plain("leaving"))
	stored, older := at(hub, ns, "subject"), at("v1alpha1", ns, "subject")
	before := env.Await(t, stored, harness.Ready)
	env.Await(t, at(hub, ns, "leaving"), harness.Ready)
	// Without admission, writes do not need the webhook, either.
	excluded := at(hub, env.Namespace(t), "excluded")
	env.Patch(t, harness.Ref{Resource: corev1.SchemeGroupVersion.WithResource("namespaces"), Name: excluded.Namespace},
		`{"metadata": {"labels": {"webhooks.knative.dev/exclude": "true"}}}`)
	create(t, env, excluded.Namespace, foreign(excluded.Name))

	webhook := env.Process(t, "webhook")
	webhook.Stop(t)
	events, err := client(env, stored).Watch(t.Context(), metav1.ListOptions{
		FieldSelector: "metadata.name=subject", ResourceVersion: get(t, env, stored).GetResourceVersion(),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	if got := get(t, env, stored).GetResourceVersion(); got != before.GetResourceVersion() {
		t.Errorf("the object was written to: its resource version was %s and is %s", before.GetResourceVersion(), got)
	}
	if list, err := client(env, stored).List(t.Context(), metav1.ListOptions{}); err != nil || len(list.Items) != 2 {
		t.Errorf("listing at %s: %v", hub, err)
	}
	// The webhook is not called for a status, so the operator continues, removes finalizers, and deleted objects disappear.
	status := json.RawMessage(`{"status": {"annotations": {"example.com/note": "written in the outage"}}}`)
	if _, err := client(env, stored).Patch(t.Context(), "subject", types.MergePatchType, status, metav1.PatchOptions{}, "status"); err != nil {
		t.Errorf("writing the status at %s: %v", hub, err)
	}
	next(t, events, watch.Modified)
	env.Delete(t, at(hub, ns, "leaving"))
	env.Await(t, at(hub, ns, "leaving"), harness.Deleted)

	update(t, env, excluded, func(o *unstructured.Unstructured) { set(t, o, "/new", "spec", "path") })

	// What has to be converted fails, and says at what.
	_, err = client(env, older).Get(t.Context(), "subject", metav1.GetOptions{})
	if err == nil || !strings.Contains(err.Error(), "conversion webhook for samples.knative.dev/v1, Kind=AddressableService failed") {
		t.Errorf("reading at %s: %v, want an error that names the conversion webhook", older.Resource.Version, err)
	}

	webhook.Start(t)
	harness.Eventually(t, "reads at "+older.Resource.Version+" work again", func(ctx context.Context) error {
		if _, err := client(env, older).Get(ctx, "subject", metav1.GetOptions{}); err != nil {
			return fmt.Errorf("getting it: %w", err)
		}
		list, err := client(env, older).List(ctx, metav1.ListOptions{})
		if err == nil && len(list.Items) != 1 {
			err = fmt.Errorf("the list has %d objects", len(list.Items))
		}
		return err
	})
	env.Patch(t, older, `{"metadata": {"labels": {"color": "green"}}}`)
	env.Await(t, stored, harness.Ready)
}

// While an object cannot be converted, API servers up to 1.35 drop who owns which field when it is written other than by
// apply. A manager that applies again owns its fields again.
func TestApply_AfterAnOutage_OwnsItsFieldsAgain(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.AllVersions(), harness.WithReplicas("webhook", 1), harness.Without("controller"))
	env.ExpectErrors(t, "failed to fetch secret") // the API server has objects converted before the certificate exists
	ns := env.Namespace(t)
	late, early := at(hub, ns, "subject"), at("v1alpha1", ns, "subject")
	mustApply(t, env, early, "m1", false, `{"serviceName": "target"}`)

	webhook := env.Process(t, "webhook")
	webhook.Stop(t)
	status := json.RawMessage(`{"status": {"observedGeneration": 1}}`)
	if _, err := client(env, late).Patch(t.Context(), "subject", types.MergePatchType, status, metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
	t.Logf("after a status was written during the outage the owners are %q", managers(t, env, late))
	webhook.Start(t)

	want := spec(t, env, late)
	mustApply(t, env, early, "m1", false, `{"serviceName": "target"}`)
	expectEqual(t, "spec at v1 after applying again", want, spec(t, env, late))
	owned := false
	for _, line := range managers(t, env, late) {
		owned = owned || strings.HasPrefix(line, "m1 v1alpha1:") && strings.Contains(line, nameOwned)
	}
	if !owned {
		t.Errorf("m1 does not own what it has applied: %q", managers(t, env, late))
	}
}
