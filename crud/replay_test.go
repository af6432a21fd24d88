/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestPlan_IDs_DependOnTaskAndContent(t *testing.T) {
	create := func(value string) Operation {
		return Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: "a"}, Data: map[string]string{"k": value}})
	}
	idsOf := func(task string, operations ...Operation) (ids []string) {
		for _, op := range (Plan{Task: task, Operations: operations}).identified() {
			ids = append(ids, op.ID)
		}
		return ids
	}
	base := idsOf("task", create("1"), create("1"), CreateIfNotExists(create("1").Object))
	if !slices.Equal(base, idsOf("task", create("1"), create("1"), CreateIfNotExists(create("1").Object))) {
		t.Error("the ids differ between two attempts of a task")
	}
	if base[2] != "" || base[0] == base[1] {
		t.Errorf("the ids are %q", base)
	}
	for name, other := range map[string]string{
		"task": idsOf("other", create("1"))[0], "content": idsOf("task", create("2"))[0], "whether there is a task": idsOf("", create("1"))[0],
	} {
		if slices.Contains(base[:2], other) {
			t.Errorf("the id does not depend on %s", name)
		}
	}
	// A hook that writes an operation for each object that changed writes more of them after it was killed.
	if among := idsOf("task", create("0"), create("1"), create("2"), create("1")); among[1] != base[0] || among[3] != base[1] {
		t.Errorf("the ids %q among other operations differ from %q", among, base)
	}
	byHand := create("1")
	byHand.ID = "mine"
	if ids := idsOf("task", byHand); ids[0] != "mine" {
		t.Errorf("the id of the caller became %s", ids[0])
	}
}

func TestWithID_ManyIDs_ForgetsTheOldestOfOtherTasks(t *testing.T) {
	live := &unstructured.Unstructured{Object: map[string]any{}}
	add := func(id, task string) {
		all := (&call{op: Operation{ID: id, task: task}}).withID(live)
		live.SetAnnotations(map[string]string{idAnnotation: all})
	}
	for i := range 2 * keptIDs {
		add(strconv.Itoa(i), "")
	}
	if kept := ids(live); len(kept) != keptIDs || kept[keptIDs-1] != strconv.Itoa(2*keptIDs-1) {
		t.Errorf("the ids are %q", kept)
	}
	for i := range keptIDs + 1 {
		add("task"+strconv.Itoa(i), "task")
	}
	if kept := ids(live); len(kept) != keptIDs+1 || kept[0] != "task0" {
		t.Errorf("an operation of the task is forgotten: %q", kept)
	}
}

// An annotation that is no text must not cost the others.
func TestMarked_AnnotationIsInvalid_KeepsTheOthers(t *testing.T) {
	after := map[string]any{"metadata": map[string]any{"annotations": map[string]any{"a": "1", "b": int64(2)}}}
	marked := (&call{op: Operation{ID: "id"}}).marked(&unstructured.Unstructured{Object: map[string]any{}}, after)
	annotations, _, err := unstructured.NestedMap(marked, "metadata", "annotations")
	if err != nil || annotations["a"] != "1" || annotations["b"] != int64(2) || annotations[idAnnotation] != "id" {
		t.Errorf("got %v, %v", annotations, err)
	}
}

// The name must be valid for every prefix that the caller chooses, and the same for the same id.
func TestMarkNew_GenerateName_IsShortened(t *testing.T) {
	for _, base := range []string{"a-", strings.Repeat("b", 100)} {
		var made []string
		for range 2 {
			object := &unstructured.Unstructured{Object: map[string]any{}}
			object.SetGenerateName(base)
			(&call{op: Operation{ID: "id"}}).markNew(object)
			made = append(made, object.GetName())
		}
		if made[0] != made[1] || len(made[0]) > 63 || !strings.HasPrefix(made[0], base[:2]) {
			t.Errorf("the names are %q", made)
		}
	}
}

func TestIsDeletedSo_ShorterGracePeriod_DeletesAgain(t *testing.T) {
	now, seconds := metav1.Now(), int64(30)
	live := &unstructured.Unstructured{Object: map[string]any{}}
	live.SetDeletionTimestamp(&now)
	live.SetDeletionGracePeriodSeconds(&seconds)
	for wanted, is := range map[int64]bool{0: false, 29: false, 30: true, 60: true} {
		c := &call{op: Operation{Type: TypeEnsureDeletedInBackground, GracePeriodSeconds: &wanted}}
		if c.isDeletedSo(live) != is {
			t.Errorf("with a grace period of %d s: want %v", wanted, is)
		}
	}
}
