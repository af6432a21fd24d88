/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/lru"

	"github.com/mallard-dev/mallard/observe"
)

// tasks is a process whose hook has two bindings in a queue and one in another queue.
type tasks struct {
	*testing.T

	term *term
	hook *Hook
}

func newTasks(t *testing.T) *tasks {
	h := &Hook{name: "h", own: lru.New(ownVersions)}
	of := &tasks{t, &term{runner: &runner{ctx: t.Context(), options: Options{FieldManager: "m"}}, monitors: map[*Hook][]*monitor{}}, h}
	for name, queue := range map[string]string{"x": mainQueue, "y": mainQueue, "z": "other"} {
		m := newMonitor(t.Context(), h, &Kubernetes{Common: Common{Name: name, Queue: queue}})
		m.changed = func(cache.ObjectName) {}
		of.term.monitors[h] = append(of.term.monitors[h], m)
	}
	return of
}

func (of *tasks) monitor(name string) *monitor {
	i := slices.IndexFunc(of.term.monitors[of.hook], func(m *monitor) bool { return m.Name == name })
	return of.term.monitors[of.hook][i]
}

// observe has a binding observe a state of an object.
func (of *tasks) observe(binding, name, version string, isDeleted ...bool) trigger {
	of.Helper()
	m, u := of.monitor(binding), &unstructured.Unstructured{}
	u.SetName(name)
	u.SetUID(types.UID("uid of " + name))
	u.SetResourceVersion(version)
	e := observe.Event[*unstructured.Unstructured]{Name: cache.MetaObjectToName(u), Object: u}
	if len(isDeleted) > 0 {
		e.Type = observe.Deleted
	}
	if err := m.observed(of.Context(), e); err != nil {
		of.Fatal(err)
	}
	return trigger{of.hook, TypeEvent, &m.Common, m, e.Name}
}

func (of *tasks) synchronization(binding string) trigger {
	m := of.monitor(binding)
	return trigger{of.hook, TypeSynchronization, &m.Common, m, cache.ObjectName{}}
}

// begin returns a run and its task.
func (of *tasks) begin(all ...trigger) (*Run, string) {
	run := of.term.runOf(&task{hook: of.hook, triggers: all}, all[0].common.Queue)
	return run, of.term.taskOf(of.hook, run)
}

// run returns the task of a run, and has it succeed.
func (of *tasks) run(all ...trigger) string {
	run, id := of.begin(all...)
	for _, received := range run.received {
		received()
	}
	return id
}

// Each run of a process has another task, and a process that starts again has that of the last run.
func TestTaskOf_ProcessStartsAgain_ContinuesTheTaskOfTheLastRun(t *testing.T) {
	first, all := newTasks(t), []string{}
	first.observe("x", "a", "1")
	run := func(name string, states map[string]string, triggers ...trigger) {
		t.Helper()
		id := first.run(triggers...)
		if slices.Contains(all, id) {
			t.Errorf("%s: the task is that of an earlier run", name)
		}
		all = append(all, id)
		again := newTasks(t)
		for object, version := range states {
			again.observe(object[:1], object[2:], version)
		}
		if restarted := again.run(again.synchronization("y"), again.synchronization("x")); restarted == id != (states != nil) {
			t.Errorf("%s: that the Synchronization of the next process has the same task is %t", name, restarted == id)
		}
	}
	run("Synchronization", map[string]string{"x a": "1"}, first.synchronization("x"), first.synchronization("y"))
	b := first.observe("x", "b", "2")
	run("Added", map[string]string{"x a": "1", "x b": "2"}, b)
	// The events of two objects, with the run of another hook between them.
	a, b := first.observe("x", "a", "3"), first.observe("x", "b", "4")
	run("Modified", map[string]string{"x a": "3", "x b": "2"}, a)
	run("also Modified", map[string]string{"x a": "3", "x b": "4"}, b)
	c := first.observe("y", "c", "5")
	run("event of another binding", map[string]string{"x a": "3", "x b": "4", "y c": "5"}, c)
	first.observe("z", "d", "6")
	c = first.observe("y", "c", "7")
	run("event, while another queue has an object", map[string]string{"x a": "3", "x b": "4", "y c": "7"}, c)
	c = first.observe("y", "c", "8", true)
	run("Deleted", nil, c)
	schedule := trigger{hook: first.hook, kind: TypeSchedule, common: &Common{Name: "schedule", Queue: mainQueue}}
	run("Schedule", nil, schedule)
	run("the next Schedule", nil, schedule)
}

// The order of triggers does not matter. Bindings of other queues, hooks and field managers are others.
func TestTaskOf_OtherCause_IsAnotherTask(t *testing.T) {
	synchronize := func(name, manager string, bindings ...string) string {
		of := newTasks(t)
		of.hook.name, of.term.options.FieldManager = name, manager
		of.observe("x", "a", "1")
		var all []trigger
		for _, binding := range bindings {
			all = append(all, of.synchronization(binding))
		}
		return of.run(all...)
	}
	want := synchronize("h", "m", "x", "y")
	if got := synchronize("h", "m", "y", "x"); got != want {
		t.Error("another order is another task")
	}
	for _, other := range []string{
		synchronize("h", "m", "x"), synchronize("h", "m", "y"), synchronize("h", "m", "z"), synchronize("other", "m", "x", "y"), synchronize("h", "other", "x", "y"),
	} {
		if other == want {
			t.Error("another cause is the same task")
		}
	}
	_, id := newTasks(t).begin(trigger{common: startup})
	if _, next := newTasks(t).begin(trigger{common: startup}); next != id {
		t.Error("two starts have different tasks")
	}
}

// A change that leaves the result of the filter as it was does not run the hook, and the next process has the object with the change.
func TestTaskOf_ChangeThatTheFilterIgnores_IsPartOfTheState(t *testing.T) {
	filtered := func() *tasks {
		of := newTasks(t)
		of.monitor("x").JQFilter = ".metadata.name"
		return of
	}
	first := filtered()
	first.observe("x", "a", "1")
	first.run(first.synchronization("x"), first.synchronization("y"))
	first.observe("x", "a", "2")
	want := first.run(first.observe("x", "b", "3"))
	again := filtered()
	again.observe("x", "a", "2")
	again.observe("x", "b", "3")
	if got := again.run(again.synchronization("x"), again.synchronization("y")); got != want {
		t.Error("the Synchronization has another task than the interrupted run")
	}
}
