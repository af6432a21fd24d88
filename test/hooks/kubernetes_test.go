/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hooks

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/hook"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// configMaps is a binding to the ConfigMaps of the scene with the label it.
func (s *scene) configMaps(change ...func(*hook.Kubernetes)) hook.Kubernetes {
	k := hook.Kubernetes{
		Kind:          "cm",
		LabelSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "it", Operator: "Exists"}}},
		Namespace:     &hook.NamespaceSelector{NameSelector: &hook.NameSelector{MatchNames: []string{s.ns}}},
	}
	for _, f := range change {
		f(&k)
	}
	return k
}

var it = map[string]string{"it": ""}

// describe describes contexts in one line.
func describe(contexts []hook.Context) string {
	var parts []string
	value := func(o hook.Snapshot) string {
		text, _, _ := unstructured.NestedString(o.Object.Object, "data", "value")
		return o.Object.GetName() + "=" + text
	}
	for _, c := range contexts {
		words := []string{c.Binding, string(c.Type) + string(c.WatchEvent)}
		for _, o := range c.Objects {
			words = append(words, value(o))
		}
		if c.Object != nil {
			words = append(words, value(c.Snapshot))
		}
		parts = append(parts, strings.TrimSpace(strings.Join(words, " ")))
	}
	return strings.Join(parts, "; ")
}

func (s *scene) hook(name string, bindings hook.Bindings, f func(context.Context, *hook.Run) error) *hook.Hook {
	return hook.Func(s.ns+"-"+name, bindings, f)
}

// 1: selectors, events, a filter, and a kind by its short name.
func TestKubernetes_Bindings_SelectObjectsAndEvents(t *testing.T) {
	s := newScene(t)
	var j journal
	s.create("first", "1", it)
	s.create("other", "1", nil)
	s.start(s.quick(), s.hook("all", hook.Bindings{Kubernetes: []hook.Kubernetes{s.configMaps(func(k *hook.Kubernetes) { k.JQFilter = ".data" })}},
		func(_ context.Context, run *hook.Run) error {
			j.addf("%s", describe(run.Contexts))
			return nil
		}))
	j.await(t, "kubernetes Synchronization first=1")
	s.patch("first", `{"metadata": {"annotations": {"a": "ignored by the filter"}}}`)
	s.patch("first", `{"data": {"value": "2"}}`)
	j.await(t, "kubernetes Synchronization first=1", "kubernetes EventModified first=2")
	s.create("second", "1", it)
	j.await(t, "kubernetes Synchronization first=1", "kubernetes EventModified first=2", "kubernetes EventAdded second=1")
	s.delete("first")
	j.await(t, "kubernetes Synchronization first=1", "kubernetes EventModified first=2", "kubernetes EventAdded second=1",
		"kubernetes EventDeleted first=2")
}

// 1: names, fields, and namespaces by labels, also if they begin to match later.
func TestKubernetes_NamespacesByLabels_AreThoseThatMatchNow(t *testing.T) {
	s := newScene(t)
	var j journal
	s.create("a", "1", it)
	label := func(value any) {
		s.env.Kubectl(t, "label", "namespace", s.ns, "--overwrite", fmt.Sprintf("hooks-test=%v", value))
	}
	label(s.ns)
	elsewhere := s.env.Namespace(t)
	begun := make(chan struct{})
	s.start(s.quick(), s.hook("all", hook.Bindings{Kubernetes: []hook.Kubernetes{{
		Kind: "ConfigMap", APIVersion: "v1", NameSelector: &hook.NameSelector{MatchNames: []string{"a", "b"}},
		FieldSelector:                &hook.FieldSelector{MatchExpressions: []hook.FieldExpression{{Field: "metadata.name", Operator: "NotEquals", Value: "b"}}},
		Namespace:                    &hook.NamespaceSelector{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"hooks-test": s.ns}}},
		ExecuteHookOnSynchronization: new(false),
	}, {
		// Its run shows that the events of the binding before have begun.
		Common: hook.Common{Name: "begun"}, Kind: "Namespace", APIVersion: "v1", NameSelector: &hook.NameSelector{MatchNames: []string{s.ns}},
		ExecuteHookOnEvent: []hook.WatchEvent{},
	}}}, func(_ context.Context, run *hook.Run) error {
		if run.Contexts[0].Binding == "begun" {
			close(begun)
			return nil
		}
		j.addf("%s", describe(run.Contexts))
		return nil
	}))
	harness.Eventually(t, "the binding watches the namespace", func(context.Context) error {
		if s.proxy.Watches(harness.Matching("watch", "configmaps").And(harness.InNamespace(s.ns))) == 0 {
			return errors.New("it does not")
		}
		return nil
	})
	select {
	case <-begun:
	case <-time.After(harness.Deadline):
		t.Fatal("the events of the binding have not begun")
	}
	s.create("b", "1", it)
	s.patch("a", `{"data": {"value": "2"}}`)
	j.await(t, "kubernetes EventModified a=2")
	if _, err := s.env.Kube.CoreV1().ConfigMaps(elsewhere).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.env.Kubectl(t, "label", "namespace", elsewhere, "hooks-test="+s.ns)
	j.await(t, "kubernetes EventModified a=2", "kubernetes EventAdded a=")
}

// T39: a hook that annotates what it watches.
func TestOwnWrites_HookAnnotatesWhatItWatches_DoesNotRunAgain(t *testing.T) {
	s := newScene(t)
	for name, repeats := range map[string]bool{"ignored": false, "repeated": true} {
		t.Run(name, func(t *testing.T) {
			s := &scene{T: t, env: s.env, ns: s.env.Namespace(t), config: s.config, proxy: s.proxy, temporary: t.TempDir(), ended: make(chan struct{})}
			var runs atomic.Int64
			annotate := func(_ context.Context, run *hook.Run) error {
				n := runs.Add(1)
				for _, c := range run.Contexts {
					for _, o := range append(c.Objects, c.Snapshot) {
						if o.Object != nil && n < 5 {
							run.Add(crud.MergePatch(crud.Ref{Kind: "ConfigMap", Namespace: s.ns, Name: o.Object.GetName()},
								map[string]any{"metadata": map[string]any{"annotations": map[string]any{"runs": strconv.FormatInt(n, 10)}}}))
						}
					}
				}
				return nil
			}
			for i := range 3 {
				s.create(fmt.Sprint("cm", i), "1", it)
			}
			s.start(s.quick(), s.hook("annotates", hook.Bindings{
				Kubernetes: []hook.Kubernetes{s.configMaps()}, Settings: hook.Settings{RunOnOwnWrites: repeats},
			}, annotate))
			if repeats {
				harness.Eventually(t, "the hook runs for its own writes", func(context.Context) error {
					if n := runs.Load(); n < 4 {
						return fmt.Errorf("it has run %d times", n)
					}
					return nil
				})
				return
			}
			expectMeasured(t, 1, "hook.runs", s.ns+"-annotates", "result", "success")
			// An event that arrives after those of its writes shows that these have passed.
			s.create("last", "1", it)
			expectMeasured(t, 2, "hook.runs", s.ns+"-annotates", "result", "success")
			s.patch("last", `{"data": {"value": "2"}}`)
			expectMeasured(t, 3, "hook.runs", s.ns+"-annotates", "result", "success")
		})
	}
}
