/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package binding

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"knative.dev/pkg/apis/duck"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
)

// history is the number of values of a variable that a mark keeps. kubectl rollout undo of a StatefulSet or DaemonSet restores the Pod template
// of an older revision, and not the annotations. Kubernetes keeps 10 revisions by default.
const history = 10

// hashBytes is the length of a hash. A mark has up to history of them for each variable of each container.
const hashBytes = 8

// mark is the annotation's value: by container and variable, hashes of the values that we wrote, newest first, each followed by the name of
// the binding that wrote it. The container is empty for an object that is Configurable. A container that was removed keeps its entry,
// because a rollback may restore it.
type mark map[string]map[string][]string

// markOf returns the mark of an object. A malformed one counts as none, so nothing is removed because of it.
func markOf(object metav1.Object) mark {
	var m mark
	if json.Unmarshal([]byte(object.GetAnnotations()[samples.BoundVariablesAnnotationKey]), &m) != nil {
		return nil
	}
	return m
}

// writer returns the binding that wrote a variable, and whether the variable is ours. The binding is empty if the mark does not name it.
func (m mark) writer(container string, v *corev1.EnvVar) (binding string, ours bool) {
	for _, entry := range m[container][v.Name] {
		if hash, binding, _ := strings.Cut(entry, " "); v.ValueFrom == nil && hash == hashOf(v.Value) {
			return binding, true
		}
	}
	return "", false
}

// add adds a value that a binding is about to write.
func (m mark) add(container, variable, value, binding string) {
	if m[container] == nil {
		m[container] = map[string][]string{}
	}
	hash := hashOf(value)
	older := slices.DeleteFunc(slices.Clone(m[container][variable]), func(entry string) bool { return strings.HasPrefix(entry, hash) })
	m[container][variable] = append([]string{hash + " " + binding}, older[:min(len(older), history-1)]...)
}

// only returns a copy of the mark that has the variables that keep accepts.
func (m mark) only(keep func(variable string) bool) mark {
	kept := mark{}
	for container, variables := range m {
		variables = maps.Clone(variables)
		maps.DeleteFunc(variables, func(variable string, _ []string) bool { return !keep(variable) })
		if len(variables) > 0 {
			kept[container] = variables
		}
	}
	return kept
}

func hashOf(value string) string {
	sum := sha256.Sum256([]byte(value))
	return hex.EncodeToString(sum[:hashBytes])
}

// patchMark returns the operations that give an object a mark, and the tests that it has the one that was read.
func patchMark(object metav1.Object, m mark) (changes, guards duck.JSONPatch) {
	const annotations = "/metadata/annotations"
	path := annotations + "/" + strings.ReplaceAll(samples.BoundVariablesAnnotationKey, "/", "~1")
	present, isMarked := object.GetAnnotations()[samples.BoundVariablesAnnotationKey]
	if isMarked {
		guards = duck.JSONPatch{operation("test", path, present)}
	}
	if len(m) == 0 {
		return duck.JSONPatch{operation("remove", path, nil)}, guards
	}
	encoded, err := json.Marshal(m)
	if err != nil {
		// Maps of strings can be encoded.
		panic(err)
	}
	switch {
	case isMarked:
	case object.GetAnnotations() == nil:
		value := map[string]string{samples.BoundVariablesAnnotationKey: string(encoded)}
		return duck.JSONPatch{operation("add", annotations, value)}, duck.JSONPatch{operation("test", annotations, null)}
	default:
		guards = duck.JSONPatch{operation("test", path, null)}
	}
	return duck.JSONPatch{operation("add", path, string(encoded))}, guards
}
