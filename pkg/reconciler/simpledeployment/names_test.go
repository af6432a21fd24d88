/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"math/rand"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
)

func named(name string, uid types.UID) *v1alpha1.SimpleDeployment {
	return &v1alpha1.SimpleDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, UID: uid}}
}

func TestPodNames_AnyObjectName_AreValid(t *testing.T) {
	r := rand.New(testrand.Source(t))
	longest := strings.Repeat("a", 253)
	names := []string{"a", "0", "a.b", "a-b", longest, strings.Repeat("a.", 126) + "b", strings.Repeat("a", 44) + "--b", strings.Repeat("a-", 60) + "b"}
	for range testrand.Inputs(t) {
		names = append(names, randomName(r))
	}
	labels := map[string]string{}
	for _, name := range names {
		if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
			t.Fatalf("%q is no name of an object: %v", name, problems)
		}
		label := labelOf(name)
		if problems := validation.IsValidLabelValue(label); len(problems) > 0 {
			t.Errorf("the Pods of %q have the label %q: %v", name, label, problems)
		}
		if other, ok := labels[label]; len(name) <= validation.LabelValueMaxLength && label != name || ok && other != name {
			t.Errorf("the Pods of %q have the label %q", name, label)
		}
		labels[label] = name
		prefix := prefixOf(named(name, uuid.NewUUID()))
		for _, slot := range []int{0, 9, 1000, 999999} {
			pod := nameOf(prefix, slot)
			// Which is what a host name has to be as well.
			if problems := validation.IsDNS1123Label(pod); len(problems) > 0 {
				t.Errorf("the Pods of %q are called %q: %v", name, pod, problems)
			}
			if got := slotOf(prefix, pod); got != slot {
				t.Errorf("the slot of %q is %d, want %d", pod, got, slot)
			}
		}
	}
}

// randomName is a legal name of an object.
func randomName(r *rand.Rand) string {
	const letters, all = "abcz019", "abcz019-"
	var labels []string
	for range 1 + r.Intn(5) {
		var label strings.Builder
		label.WriteByte(letters[r.Intn(len(letters))])
		for range r.Intn(40) {
			label.WriteByte(all[r.Intn(len(all))])
		}
		label.WriteByte(letters[r.Intn(len(letters))])
		labels = append(labels, label.String())
	}
	return strings.Join(labels, ".")
}

func TestPodNames_ObjectsWithACommonPrefix_Differ(t *testing.T) {
	long := strings.Repeat("a", 200)
	seen := map[string]string{}
	for _, sd := range []*v1alpha1.SimpleDeployment{
		named("a.b", "1"), named("a-b", "2"), named(long+"b", "3"), named(long+"c", "4"),
		// The object was deleted and made again, and Pods of the first are still terminating.
		named("a", "5"), named("a", "6"),
	} {
		prefix := prefixOf(sd)
		if other, ok := seen[prefix]; ok {
			t.Errorf("%s (UID %s) has the Pods' names of %s: %s", sd.Name, sd.UID, other, prefix)
		}
		seen[prefix] = sd.Name
	}
}

func TestPodNames_ForeignName_HasNoSlot(t *testing.T) {
	prefix := prefixOf(named("a", "1"))
	for _, name := range []string{"", "a", prefix, prefix + "x", prefix + "01", prefix + "+1", prefix + "-1", prefix + "99999999999999999999", "b" + prefix + "1"} {
		if slot := slotOf(prefix, name); slot != noSlot {
			t.Errorf("the slot of %q is %d, want none", name, slot)
		}
	}
}
