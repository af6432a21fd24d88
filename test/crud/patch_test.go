/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// onStatus sends a patch to the status.
func onStatus(op crud.Operation) crud.Operation {
	op.StatusPatch = true
	return op
}

func ignoreMissing(op crud.Operation) crud.Operation {
	op.IgnoreMissing = true
	return op
}

// object creates a Widget or a Gadget.
func (s *scene) create(kind, name string) *unstructured.Unstructured {
	s.Helper()
	return s.run(crud.Create(s.object(`{apiVersion: `+group+`/v1, kind: `+kind+`, metadata: {name: `+name+`}, spec: {size: 1}}`)), crud.Created).Object
}

func TestT19_StatusPatch_ChangesOnlyTheStatus(t *testing.T) {
	s := newScene(t)
	widget := s.ref("Widget", "a")
	generation := s.create("Widget", "a").GetGeneration()
	for phase, op := range map[string]crud.Operation{
		"merge": crud.MergePatch(widget, map[string]any{"status": map[string]any{"phase": "merge"}}),
		"json":  crud.JSONPatch(widget, `[{"op":"add","path":"/status","value":{"phase":"json"}}]`),
		"jq":    crud.JQPatch(widget, `.status.phase = "jq"`),
		"go": crud.FilterPatch(widget, func(object *unstructured.Unstructured) error {
			return unstructured.SetNestedField(object.Object, "go", "status", "phase")
		}),
	} {
		s.run(onStatus(op), crud.StatusUpdated)
		if after := s.get(widgets, "a"); field(t, after, "status", "phase") != phase || after.GetGeneration() != generation {
			t.Errorf("%s: the status is %v, the generation %d", op, after.Object["status"], after.GetGeneration())
		}
	}
	s.sent()
	for class, ops := range map[crud.Class][]crud.Operation{
		crud.Malformed: {
			crud.MergePatch(widget, `{"status":{"phase":"x"},"spec":{"size":2}}`),
			crud.JSONPatch(widget, `[{"op":"replace","path":"/status/phase","value":"x"},{"op":"replace","path":"/spec/size","value":2}]`),
			crud.JQPatch(widget, `.status.phase = "x" | .spec.size = 2`),
		},
		crud.FilterFailed: {crud.JQPatch(widget, `del(.status)`), crud.JQPatch(widget, `.status.phase = "x" | .metadata.labels.l = "1"`)},
	} {
		for _, op := range ops {
			s.fails(onStatus(op), class)
		}
	}
	if _, writes := s.sent(); writes != 0 {
		t.Errorf("sent %d writes", writes)
	}
}

func TestT20_StatusPatch_KindWithoutStatus_IsRejected(t *testing.T) {
	s := newScene(t)
	s.create("Gadget", "a")
	s.sent()
	for _, op := range []crud.Operation{
		crud.MergePatch(s.ref("ConfigMap", "a"), `{"status":{}}`), crud.JSONPatch(s.ref("Gadget", "a"), `[{"op":"remove","path":"/status"}]`),
		crud.JQPatch(s.ref("Gadget", "a"), `.status.phase = "x"`),
	} {
		s.fails(ignoreMissing(onStatus(op)), crud.SubresourceNotServed)
	}
	s.expectSent(0, 0)
}

func TestT21_Patch_OnlyStatusWithoutStatusPatch_IsRejected(t *testing.T) {
	s := newScene(t)
	s.create("Widget", "a")
	for _, op := range []crud.Operation{
		crud.MergePatch(s.ref("Widget", "a"), `{"status":{"phase":"x"}}`),
		crud.JSONPatch(s.ref("Widget", "a"), `[{"op":"add","path":"/status","value":{"phase":"x"}}]`),
		crud.JQPatch(s.ref("Widget", "a"), `.status.phase = "x"`),
	} {
		if message := s.fails(op, crud.Malformed); !strings.Contains(message, "set StatusPatch") {
			t.Errorf("the message does not name the option: %s", message)
		}
	}
}

func TestT22_Patch_Empty_SendsNothing(t *testing.T) {
	s := newScene(t)
	configMap := s.ref("ConfigMap", "a")
	s.run(crud.Create(s.configMap("a", nil)), crud.Created)
	s.sent()
	for _, op := range []crud.Operation{crud.MergePatch(configMap, map[string]any{}), crud.MergePatch(configMap, "{}"), crud.JSONPatch(configMap, "[]")} {
		s.run(op, crud.Unchanged)
	}
	s.expectSent(0, 0)
	s.run(crud.JQPatch(configMap, "."), crud.Unchanged)
	s.expectSent(1, 0)

	missing := s.ref("ConfigMap", "missing")
	for _, op := range []crud.Operation{
		crud.MergePatch(missing, `{"data":{"k":"1"}}`), crud.JSONPatch(missing, `[{"op":"add","path":"/data","value":{}}]`), crud.JQPatch(missing, ".data.k = \"1\""),
	} {
		s.fails(op, crud.NotFound)
		s.sent()
		s.run(ignoreMissing(op), crud.Skipped)
		if reads, writes := s.sent(); reads+writes != 1 {
			t.Errorf("%s: sent %d reads and %d writes, want one request", op, reads, writes)
		}
	}
}

func TestT23_JSONPatch_TestFails_NamesTheOperation(t *testing.T) {
	s := newScene(t)
	s.run(crud.Create(s.configMap("a", map[string]string{"a": "1", "b": "1"})), crud.Created)
	before := s.get(configMaps, "a")
	message := s.fails(crud.JSONPatch(s.ref("ConfigMap", "a"), `[{"op":"replace","path":"/data/a","value":"2"},{"op":"replace","path":"/data/b","value":"2"},
		{"op":"test","path":"/data/b","value":"3"}]`), crud.PatchTestFailed)
	if want := `operation 2 of the JSON patch, test of /data/b: the value is "2", want "3"`; !strings.Contains(message, want) {
		t.Errorf("the message is %q, want %q in it", message, want)
	}
	if after := s.get(configMaps, "a"); after.GetResourceVersion() != before.GetResourceVersion() {
		t.Error("the object changed")
	}
	value := harness.Canary(t)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: "a"}, StringData: map[string]string{"k": value}}
	s.run(crud.Create(secret), crud.Created)
	message = s.fails(crud.JSONPatch(s.ref("Secret", "a"), `[{"op":"test","path":"/data/k","value":"Z3Vlc3M="}]`), crud.PatchTestFailed)
	if strings.Contains(message, "Z3Vlc3M=") || harness.Leaked(message, value) != "" {
		t.Errorf("the message shows a value of a Secret: %s", message)
	}
}

func TestT24_JSONPatch_MissingPaths_AreIgnoredOnRequest(t *testing.T) {
	s := newScene(t)
	s.run(crud.Create(s.configMap("a", map[string]string{"k": "1"})), crud.Created)
	s.patch(configMaps, "a", `{"metadata":{"labels":{"app.kubernetes.io/name":"a"}}}`)
	op := crud.JSONPatch(s.ref("ConfigMap", "a"), `[{"op":"remove","path":"/metadata/labels/app.kubernetes.io~1name"}]`)
	s.run(op, crud.Updated)
	if message := s.fails(op, crud.PatchTestFailed); !strings.Contains(message, "/metadata/labels/app.kubernetes.io~1name") {
		t.Errorf("the message does not name the path: %s", message)
	}
	op.IgnoreMissingPaths = true
	s.run(op, crud.Unchanged)
	both := crud.JSONPatch(s.ref("ConfigMap", "a"), `[{"op":"remove","path":"/data/x"},{"op":"replace","path":"/data/k","value":"2"}]`)
	both.IgnoreMissingPaths = true
	s.run(both, crud.Updated)
}

func TestT25_JSONPatch_AnswerIsLost_AppendsOnce(t *testing.T) {
	s := newScene(t, quick)
	s.create("Widget", "a")
	s.run(crud.MergePatch(s.ref("Widget", "a"), `{"spec":{"list":["first"]}}`), crud.Updated)
	undo := s.proxy.Lose(harness.Matching("patch", "widgets").And(harness.InNamespace(s.ns)))
	appended := crud.JSONPatch(s.ref("Widget", "a"), `[{"op":"add","path":"/spec/list/-","value":"second"}]`)
	s.fails(appended, crud.Uncertain)
	undo()
	if list := fmt.Sprint(field(t, s.get(widgets, "a"), "spec", "list")); list != "[first second]" {
		t.Errorf("the list is %s", list)
	}
}

func TestT25_JQPatch_AnswerIsLost_AppendsOnce(t *testing.T) {
	s := newScene(t, quick)
	s.create("Widget", "a")
	here := harness.Matching("patch", "widgets").And(harness.InNamespace(s.ns))
	undo := s.proxy.Lose(here)
	appended := s.begin(crud.JQPatch(s.ref("Widget", "a"), `.spec.list += ["item"]`))
	patches := s.proxy.Count(here)
	after := <-appended
	undo()
	if after.err != nil || after.result.Outcome != crud.Updated || patches() > 1 {
		t.Errorf("the answer was lost: %v, %v after %d patches", after.result.Outcome, after.err, patches())
	}
	if list := fmt.Sprint(field(t, s.get(widgets, "a"), "spec", "list")); list != "[item]" {
		t.Errorf("the list is %s", list)
	}
}

func TestT26_FilterPatch_Concurrent_LosesNoChange(t *testing.T) {
	s := newScene(t)
	s.run(crud.Create(s.configMap("a", map[string]string{"n": "0"})), crud.Created)
	retried := []attribute.KeyValue{attribute.String("operation", "FilterPatch"), attribute.String("error_class", "Conflict")}
	before, _ := counted(t, "object.operation.retries", retried...)
	const writers = 20
	var group sync.WaitGroup
	attempts := make([]int, writers)
	for i := range writers {
		group.Go(func() {
			result, err := s.client.Run(t.Context(), crud.FilterPatch(crud.Ref{Namespace: s.ns, Name: "a"}, func(configMap *corev1.ConfigMap) error {
				n, err := strconv.Atoi(configMap.Data["n"])
				configMap.Data["n"] = strconv.Itoa(n + 1)
				return err
			}))
			if attempts[i] = result.Attempts; err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := field(t, s.get(configMaps, "a"), "data", "n"); n != strconv.Itoa(writers) {
		t.Errorf("%d writers counted to %v after %v attempts", writers, n, attempts)
	}
	conflicts := -writers // since each has a first attempt
	for _, n := range attempts {
		conflicts += n
	}
	// Other tests may retry concurrently.
	if after, _ := counted(t, "object.operation.retries", retried...); conflicts == 0 || after-before < int64(conflicts) {
		t.Errorf("%d attempts were counted after the first, want %d", after-before, conflicts)
	}
}

func TestT27_FilterPatch_ConflictForever_Ends(t *testing.T) {
	s := newScene(t, quick)
	s.run(crud.Create(s.configMap("a", nil)), crud.Created)
	here := harness.Matching("patch", "configmaps").And(harness.InNamespace(s.ns))
	patches := s.proxy.Count(here)
	s.proxy.Fail(here, http.StatusConflict)
	_, err := s.client.Run(t.Context(), crud.JQPatch(s.ref("ConfigMap", "a"), `.data.k = "1"`))
	if failed, ok := errors.AsType[*crud.Error](err); !ok || failed.Class != crud.Conflict || failed.Attempts != 5 {
		t.Errorf("got %#v, want a conflict after 5 attempts", err)
	}

	slow, err := crud.New(s.config, crud.Options{FieldManager: "crud-test", Backoff: quickBackoff(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := slow.Run(ctx, crud.JQPatch(s.ref("ConfigMap", "a"), `.data.k = "1"`))
		done <- err
	}()
	harness.Eventually(t, "the operation waits for its next attempt", func(context.Context) error {
		if patches() == 5 {
			return errors.New("it has not written")
		}
		return nil
	})
	cancel()
	if err := <-done; crud.ClassOf(err) != crud.Canceled {
		t.Errorf("after the context ended: %v", err)
	}
}

func TestT28_FilterPatch_AnyFilter_IsContained(t *testing.T) {
	s := newScene(t)
	s.run(crud.Create(s.configMap("a", map[string]string{"k": "1"})), crud.Created)
	ref := crud.Ref{Namespace: s.ns, Name: "a"}
	s.run(crud.FilterPatch(ref, func(configMap *corev1.ConfigMap) error {
		configMap.Data["k"] = "2"
		return nil
	}), crud.Updated)
	if message := s.fails(crud.FilterPatch(ref, func(*corev1.ConfigMap) error { panic("of the filter") }), crud.FilterFailed); !strings.Contains(message, "panicked: of the filter") {
		t.Errorf("the message is %s", message)
	}
	s.sent()
	s.run(crud.FilterPatch(ref, func(configMap *corev1.ConfigMap) error {
		configMap.Data = map[string]string{"k": "2"}
		return nil
	}), crud.Unchanged)
	s.expectSent(1, 0)
	s.fails(crud.FilterPatch(ref, func(*corev1.ConfigMap) error { return errors.New("no") }), crud.FilterFailed)
}

func TestT29_JQPatch_WrongResult_IsOneOfSevenErrors(t *testing.T) {
	s := newScene(t)
	s.run(crud.Create(s.configMap("a", map[string]string{"k": "content-of-the-object"})), crud.Created)
	s.sent()
	messages := map[string]string{}
	for program, class := range map[string]crud.Class{
		"empty": crud.FilterFailed, "null": crud.FilterFailed, ".data": crud.FilterFailed, "., .": crud.FilterFailed, `"x"`: crud.FilterFailed,
		`.metadata.name = "y"`: crud.FilterFailed, ".foo(": crud.Malformed, ".data.k.x": crud.FilterFailed, "error(.data.k)": crud.FilterFailed,
		"last(repeat(.))": crud.FilterFailed, "reduce range(40) as $i (.; {a: ., b: .})": crud.FilterFailed,
	} {
		message := s.fails(crud.JQPatch(s.ref("ConfigMap", "a"), program), class)
		if strings.Contains(message, "content-of") {
			t.Errorf("%s: the message shows the object: %s", program, message)
		}
		if other, ok := messages[message]; ok {
			t.Errorf("%s and %s have the same message %s", program, other, message)
		}
		messages[message] = program
	}
	if _, writes := s.sent(); writes != 0 {
		t.Errorf("sent %d writes", writes)
	}
}

func TestT30_FilterPatchOptimistic_SnapshotIsOld_IsAConflict(t *testing.T) {
	s := newScene(t)
	snapshot := &corev1.ConfigMap{}
	read := func() *corev1.ConfigMap {
		var err error
		snapshot, err = s.env.Kube.CoreV1().ConfigMaps(s.ns).Get(t.Context(), "a", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return snapshot
	}
	change := func(configMap *corev1.ConfigMap) error {
		configMap.Data = map[string]string{"k": "mine"}
		return nil
	}
	s.run(crud.Create(s.configMap("a", nil)), crud.Created)
	read()
	s.patch(configMaps, "a", `{"data":{"k":"theirs"}}`)
	s.sent()
	s.fails(crud.FilterPatchOptimistic(snapshot, change), crud.Conflict)
	s.expectSent(0, 1)
	if value := field(t, s.get(configMaps, "a"), "data", "k"); value != "theirs" {
		t.Errorf("the value is %v", value)
	}
	s.run(crud.FilterPatchOptimistic(read(), change), crud.Updated)
	s.fails(crud.FilterPatchOptimistic(s.configMap("a", nil), change), crud.Malformed)
	s.recreate("a") // its data is empty
	ofAnother := crud.FilterPatchOptimistic(snapshot, func(configMap *corev1.ConfigMap) error {
		configMap.Data = nil
		return nil
	})
	s.fails(ofAnother, crud.Conflict)
	s.remove("a")
	s.fails(ofAnother, crud.NotFound)
	ofAnother.IgnoreMissing = true
	s.run(ofAnother, crud.Skipped)
}
