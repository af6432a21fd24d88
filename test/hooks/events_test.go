/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hooks

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/hook"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// eventsAbout returns the Events of the processes of the test with a reason about a ConfigMap.
func (s *scene) eventsAbout(ctx context.Context, name, reason string) ([]corev1.Event, error) {
	list, err := s.env.Kube.CoreV1().Events(s.ns).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=" + name + ",reason=" + reason})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list.Items, func(e corev1.Event) bool {
		return e.Source.Component != "hooks-test" || e.InvolvedObject.Kind != "ConfigMap" || e.InvolvedObject.APIVersion != "v1"
	}), nil
}

// awaitEvent waits for one Event about an object that was recorded at least so many times, and checks its object and its message.
func (s *scene) awaitEvent(about *corev1.ConfigMap, eventType, reason string, count int32, message ...string) {
	s.Helper()
	harness.Eventually(s, fmt.Sprintf("there is an Event %s about %s", reason, about.Name), func(ctx context.Context) error {
		found, err := s.eventsAbout(ctx, about.Name, reason)
		if err == nil && (len(found) != 1 || found[0].Count < count || found[0].Type != eventType || found[0].InvolvedObject.UID != about.UID) {
			err = fmt.Errorf("there are %v", found)
		}
		for _, part := range message {
			if err == nil && !strings.Contains(found[0].Message, part) {
				err = fmt.Errorf("its message lacks %q: %s", part, found[0].Message)
			}
		}
		return err
	})
}

// The object changes each time. The conflicts up to the limit are one failure, also in the log and as an Event.
func TestT31_Conflict_AgainAndAgain_IsOneFailureAndOneEvent(t *testing.T) {
	for name, tc := range map[string]struct {
		allowFailure bool
		logged       string
	}{
		"dropped":  {true, "A hook failed, which its binding allows"},
		"repeated": {false, "A hook failed"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			object := s.create("it", "0", it)
			h, _ := s.decides("decides", tc.allowFailure, func(run int64) {
				if run <= 4 {
					s.patch("it", fmt.Sprintf(`{"metadata": {"annotations": {"run": "%d"}}}`, run))
				}
			})
			s.start(s.quick(), h)
			s.awaitData("it", "value", "0+hook") // the next run receives the last change
			s.awaitEvent(object, corev1.EventTypeWarning, hook.ReasonConflicts, 1,
				"Hook "+s.ns+"-decides failed", "during each of 4 runs", "FilterPatchOptimistic ConfigMap "+s.ns+"/it")
			expectMeasured(t, 1, "hook.run.errors", s.ns+"-decides")
			expectMeasured(t, 4, "hook.run.conflicts", s.ns+"-decides")
			if n := s.logs.FilterMessage(tc.logged).Len(); n != 1 {
				t.Errorf("%d lines of the log report %q, want 1", n, tc.logged)
			}
			if found, err := s.eventsAbout(t.Context(), "it", hook.ReasonConflicts); err != nil || len(found) != 1 || found[0].Count != 1 {
				t.Errorf("the Events are %v (%v), want one with count 1", found, err)
			}
		})
	}
}

// A hook in shell has the resourceVersion of the object, and not its UID.
func TestConflict_Executable_EventHasTheUIDOfTheObject(t *testing.T) {
	s := newScene(t)
	object := s.create("it", "0", it)
	s.script("outdated", "configVersion: v1\nkubernetes:\n- kind: ConfigMap\n  allowFailure: true"+selected, `
crud::merge_patch -n "$ns" --resource-version 1 ConfigMap it '{"data": {"value": "1"}}'
`)
	options := s.quick()
	options.Conflicts = 2
	s.start(options, s.load(options)...)
	s.awaitEvent(object, corev1.EventTypeWarning, hook.ReasonConflicts, 1, "MergePatch ConfigMap "+s.ns+"/it")
}

func TestConflict_Secret_EventHasNoValue(t *testing.T) {
	s := newScene(t)
	stored, written := harness.Canary(t), harness.Canary(t)
	if _, err := s.env.Kube.CoreV1().Secrets(s.ns).Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "it", Labels: it}, StringData: map[string]string{"password": stored},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.script("outdated", "configVersion: v1\nkubernetes:\n- kind: Secret\n  allowFailure: true"+selected, `
crud::merge_patch -n "$ns" --resource-version 1 Secret it '{"stringData": {"password": "`+written+`"}}'
`)
	options := s.quick()
	options.Conflicts = 2
	s.start(options, s.load(options)...)
	harness.Eventually(t, "there is an Event about the Secret", func(ctx context.Context) error {
		events, err := s.env.Kube.CoreV1().Events(s.ns).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.kind=Secret,reason=" + hook.ReasonConflicts})
		if err == nil && len(events.Items) != 1 {
			err = fmt.Errorf("there are %d", len(events.Items))
		}
		if err == nil && harness.Leaked(fmt.Sprint(events.Items), stored)+harness.Leaked(fmt.Sprint(events.Items), written) != "" {
			t.Errorf("it has a value: %s", events.Items[0].Message)
		}
		return err
	})
}

func TestDeletion_FinalizerDelaysIt_EventNamesTheFinalizer(t *testing.T) {
	s := newScene(t)
	deleted, needed := s.create("deleted", "1", nil), s.create("needed", "1", nil)
	for _, name := range []string{"deleted", "needed"} {
		s.patch(name, `{"metadata": {"finalizers": ["`+finalizer+`"]}}`)
	}
	s.delete("needed")
	ref := crud.Ref{Kind: "ConfigMap", Namespace: s.ns, Name: "deleted"}
	inQueue := func(queue string) hook.Bindings {
		return hook.Bindings{Kubernetes: []hook.Kubernetes{s.configMaps(func(k *hook.Kubernetes) { k.Queue = queue })}}
	}
	deletes := s.hook("deletes", inQueue("deletes"), func(_ context.Context, run *hook.Run) error {
		run.Add(crud.EnsureDeleted(ref))
		return nil
	})
	creates := s.hook("creates", inQueue("creates"), func(_ context.Context, run *hook.Run) error {
		run.Add(crud.CreateIfNotExists(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: "needed"}}))
		return nil
	})
	s.start(s.quick(), deletes, creates)
	s.awaitEvent(deleted, corev1.EventTypeNormal, hook.ReasonDeletionDelayed, 1, s.ns+"-deletes has requested the deletion", finalizer)
	s.awaitEvent(needed, corev1.EventTypeNormal, hook.ReasonDeletionDelayed, 2, s.ns+"-creates waits for the deletion", finalizer)
}

func TestWriteFight_AnotherWriterUndoesTheHook_EventNamesIt(t *testing.T) {
	s := newScene(t)
	fought := s.create("fought", "other", it)
	s.start(s.quick(), s.hook("fights", hook.Bindings{Kubernetes: []hook.Kubernetes{s.configMaps()}}, func(_ context.Context, run *hook.Run) error {
		run.Add(crud.CreateOrUpdate(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: "fought"}, Data: map[string]string{"value": "hook"}}))
		return nil
	}))
	const untilDelayed = 7
	for range untilDelayed {
		s.awaitData("fought", "value", "hook")
		if _, err := s.env.Kube.CoreV1().ConfigMaps(s.ns).Patch(t.Context(), "fought", types.MergePatchType, []byte(`{"data": {"value": "other"}}`),
			metav1.PatchOptions{FieldManager: "other"}); err != nil {
			t.Fatal(err)
		}
	}
	s.awaitEvent(fought, corev1.EventTypeWarning, hook.ReasonWriteFight, 1, "What hook "+s.ns+"-fights writes", "field manager other, which writes .data.value")
}
