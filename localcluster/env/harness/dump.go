/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/mallard-dev/mallard/localcluster/env/processes"
)

const (
	dumpLines   = 20
	dumpObjects = 20
	dumpTimeout = 10 * time.Second
)

// Dump logs what a namespace holds (the first objects of each of the operator's kinds, Services, events) and the last
// lines of each process. It is called for the namespace of each test that fails.
func (e *Env) Dump(t testing.TB, namespace string) {
	t.Helper()
	// The context of a test that has ended is over.
	ctx, cancel := context.WithTimeout(context.Background(), dumpTimeout)
	defer cancel()
	resources := []schema.GroupVersionResource{{Version: "v1", Resource: "services"}}
	crds, err := e.CRDs.ApiextensionsV1().CustomResourceDefinitions().List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Logf("state of namespace %s: reading the kinds: %v", namespace, err)
	} else {
		for _, crd := range crds.Items {
			for _, version := range crd.Spec.Versions {
				if version.Storage {
					resources = append(resources, schema.GroupVersionResource{Group: crd.Spec.Group, Version: version.Name, Resource: crd.Spec.Names.Plural})
				}
			}
		}
	}
	var state strings.Builder
	for _, resource := range resources {
		list, err := e.Dynamic.Resource(resource).Namespace(namespace).List(ctx, metav1.ListOptions{Limit: dumpObjects})
		if err != nil {
			fmt.Fprintf(&state, "--- %s: %v\n", resource.Resource, err)
			continue
		}
		for i := range list.Items {
			fmt.Fprintf(&state, "--- %s %s\n%s", resource.Resource, list.Items[i].GetName(), text(&list.Items[i]))
		}
	}
	events, err := e.Dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "events"}).Namespace(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		fmt.Fprintf(&state, "--- events: %v\n", err)
	} else {
		for _, event := range events.Items {
			fmt.Fprintf(&state, "--- event %s\n", eventLine(event))
		}
	}
	t.Logf("state of namespace %s:\n%s", namespace, state.String())
	e.dumpProcesses(t, namespace)
}

func eventLine(event unstructured.Unstructured) string {
	get := func(path ...string) string { s, _, _ := unstructured.NestedString(event.Object, path...); return s }
	return fmt.Sprintf("%s %s %s/%s: %s", get("type"), get("reason"), get("involvedObject", "kind"), get("involvedObject", "name"), get("message"))
}

// dumpProcesses logs the last lines of each process that name a namespace, or of all if it is empty. An operator that
// runs from images shows its Pods.
func (e *Env) dumpProcesses(t testing.TB, namespace string) {
	t.Helper()
	if e.environment.Runner == nil && !e.attached {
		e.DumpPods(t)
		return
	}
	const searched = 1000
	logs, _ := filepath.Glob(e.environment.LogFile("*"))
	for _, log := range logs {
		lines, err := processes.LastLines(log, searched)
		if err != nil {
			t.Log(err)
			continue
		}
		var chosen []string
		for _, line := range lines {
			if strings.Contains(line, namespace) {
				chosen = append(chosen, line)
			}
		}
		chosen = chosen[max(len(chosen)-dumpLines, 0):]
		name, state := strings.TrimSuffix(filepath.Base(log), filepath.Ext(log)), ""
		if !e.attached {
			if p, err := e.environment.Runner.Process(name); err == nil {
				state = fmt.Sprintf(" (running: %t, ready: %t)", p.Running(), p.Ready())
			}
		}
		t.Logf("process %s%s, last lines:\n%s", name, state, indent(chosen))
	}
}

// DumpPods logs how the operator's Pods are, and their last lines.
func (e *Env) DumpPods(t testing.TB) {
	t.Helper()
	t.Log(e.environment.DescribePods(context.WithoutCancel(t.Context())))
}

func indent(lines []string) string {
	var out strings.Builder
	for _, line := range lines {
		out.WriteString("    " + line + "\n")
	}
	return out.String()
}
