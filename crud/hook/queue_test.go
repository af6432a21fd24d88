/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/util/sets"

	"knative.dev/pkg/controller"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/operations"
)

// A letter is a hook. A capital one has a task that begins, a small one a task that was begun before; ~ has it wait, and = continue a plan.
func TestQueue_Next_NoHookDelaysAnotherByMoreThanOneRun(t *testing.T) {
	for tasks, want := range map[string]string{
		"":            "",
		"A B":         "AB",
		"A A B":       "AAB", //nolint:dupword // tasks of one hook, whose AllowFailure differs
		"~a B":        "B",
		"~a A B C":    "BC",
		"~a= A B":     "B",
		"a b c D E":   "aDbEc",
		"a= b= c= D":  "aDbc",
		"a D D D b E": "aDbDDE", //nolint:dupword // tasks of one hook
		"a= A B":      "aAB",
	} {
		tm := &term{runner: &runner{}, pending: sets.New[trigger](), writing: map[*Hook]int{}}
		hooks, q := map[string]*Hook{}, &queue{}
		for i, text := range strings.Fields(tasks) {
			name := strings.ToUpper(strings.Trim(text, "~="))
			if hooks[name] == nil {
				hooks[name] = &Hook{name: name}
			}
			of := &task{run: &Run{}, hook: hooks[name], started: strings.ToUpper(text) != text, allowsFailure: i%2 == 1, triggers: []trigger{{hook: hooks[name]}}}
			if strings.HasSuffix(text, "=") {
				of.rest = &operations.File{}
			}
			if strings.HasPrefix(text, "~") {
				of.notBefore = time.Now().Add(time.Hour)
			}
			q.tasks = append(q.tasks, of)
		}
		var got strings.Builder
		for {
			begun := map[*task]bool{}
			for _, each := range q.tasks {
				begun[each] = each.started
			}
			due, wait := tm.next(q)
			if due == nil {
				if (wait > 0) != strings.Contains(tasks, "~") {
					t.Errorf("%s: the next check is in %v", tasks, wait)
				}
				break
			}
			if name := due.hook.name; begun[due] {
				got.WriteString(strings.ToLower(name))
			} else {
				got.WriteString(name)
			}
			tm.failures = noFailures{}
			tm.finish(q, due)
		}
		if got := got.String(); got != want {
			t.Errorf("%s: the order is %s, want %s", tasks, got, want)
		}
	}
}

// A process may have many queues, and each operation would make all of them look for a task.
func TestWrite_OperationsEnd_OnlyQueuesWithTasksOfTheHookContinue(t *testing.T) {
	impl := controller.NewContext(t.Context(), &runner{}, controller.ControllerOptions{WorkQueueName: "Hooks", Logger: zap.NewNop().Sugar()})
	writes, other := &Hook{}, &Hook{}
	tm := &term{runner: &runner{impl: impl}, writing: map[*Hook]int{}, queues: map[string]*queue{
		"waits": {name: "waits", tasks: []*task{{hook: other}, {hook: writes}}}, "others": {name: "others", tasks: []*task{{hook: other}}}, "empty": {name: "empty"},
	}}
	tm.write(writes)()
	if queued := impl.WorkQueue(); queued.Len() != 1 {
		t.Errorf("%d queues continue", queued.Len())
	} else if key, _ := queued.Get(); key != keyOf("waits") {
		t.Errorf("the queue %v continues", key)
	}
}

type noFailures struct{}

func (noFailures) When(*task) time.Duration { return 0 }
func (noFailures) Forget(*task)             {}
func (noFailures) NumRequeues(*task) int    { return 0 }

func TestPostpone_OperationWithWait_WaitsForNothing(t *testing.T) {
	op := crud.EnsureDeleted(crud.Ref{Kind: "ConfigMap", Name: "a"})
	op.Wait = time.Hour
	due := &task{backoff: followUps}
	due.postpone(operations.File{Plan: crud.Plan{Operations: []crud.Operation{op}}})
	if due.rest.Operations[0].Wait != 0 || !due.notBefore.After(time.Now()) || op.Wait == 0 {
		t.Errorf("the rest is %+v", due.rest)
	}
}
