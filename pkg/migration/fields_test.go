/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package migration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// entriesOf makes entries of MANAGER/OPERATION[/SUBRESOURCE]@API-VERSION.
func entriesOf(words ...string) []metav1.ManagedFieldsEntry {
	var entries []metav1.ManagedFieldsEntry
	for _, word := range words {
		who, version, _ := strings.Cut(word, "@")
		parts := append(strings.Split(who, "/"), "")
		entries = append(entries, metav1.ManagedFieldsEntry{
			Manager: parts[0], Operation: metav1.ManagedFieldsOperationType(parts[1]), Subresource: parts[2], APIVersion: version,
			FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:spec":{}}`)},
		})
	}
	return entries
}

func wordsOf(entries []metav1.ManagedFieldsEntry) []string {
	var words []string
	for i := range entries {
		e := &entries[i]
		word := e.Manager + "/" + string(e.Operation)
		if e.Subresource != "" {
			word += "/" + e.Subresource
		}
		words = append(words, fmt.Sprintf("%s@%s %s", word, e.APIVersion, e.FieldsV1))
	}
	return words
}

func TestClean_ManagedFields_DropsEntriesOfTheVersion(t *testing.T) {
	t.Parallel()
	r := &run{crd: crdOf("-v1alpha1", "v1beta1", "v1*"), storage: gauges.WithVersion("v1")}
	const owned, seed = ` {"f:spec":{}}`, ` {"f:metadata":{"f:name":{}}}`
	for name, test := range map[string]struct {
		entries []string
		// want is nil for no change.
		want []string
	}{
		"no entries": {},
		"all stay":   {entries: []string{"a/Apply@example.com/v1", "b/Update/status@example.com/v1beta1"}},
		"one goes": {
			entries: []string{"a/Apply@example.com/v1alpha1", "a/Apply@example.com/v1", "b/Update/status@example.com/v1alpha1"},
			want:    []string{"a/Apply@example.com/v1" + owned},
		},
		"one of a version that there is not goes": {
			entries: []string{"a/Apply@example.com/v1alpha0", "b/Update@example.com/v1beta1"},
			want:    []string{"b/Update@example.com/v1beta1" + owned},
		},
		"one of another group goes": {
			entries: []string{"a/Apply@example.org/v1", "b/Update@example.com/v1"},
			want:    []string{"b/Update@example.com/v1" + owned},
		},
		"all go, the one who applied is left": {
			entries: []string{"b/Update/status@example.com/v1alpha1", "a/Apply@example.com/v1alpha1", "c/Apply@example.com/v1alpha1"},
			want:    []string{"a/Apply@example.com/v1" + seed},
		},
		"all are removed, and no manager applied": {
			entries: []string{"b/Update/status@example.com/v1alpha1", "c/Update@example.com/v1alpha1"},
			want:    []string{"b/Update/status@example.com/v1" + seed},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			entries := entriesOf(test.entries...)
			kept := r.clean(entries)
			if diff := cmp.Diff(entriesOf(test.entries...), entries); diff != "" {
				t.Errorf("the entries that it was given have changed (-before +after):\n%s", diff)
			}
			if diff := cmp.Diff(test.want, wordsOf(kept)); diff != "" {
				t.Errorf("what is kept differs (-want +got):\n%s", diff)
			}
			if again := r.clean(kept); again != nil {
				t.Errorf("what is clean is cleaned again: %v", wordsOf(again))
			}
		})
	}
}
