/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package binding

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"gomodules.xyz/jsonpatch/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"knative.dev/pkg/apis/duck"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
)

// Result describes how an object gets the variables that it should have.
type Result struct {
	// Changes is the JSON patch that changes variables and the mark, and nothing else. It is empty if there is nothing to change.
	Changes duck.JSONPatch
	// Taken is the reason for which the object does not get the variable of the binding that was passed to Apply. It is empty if it does.
	Taken string
	// Leader is the binding that sets that variable: the one that was passed to Apply, or an older one with the same value.
	Leader string

	guards duck.JSONPatch
}

// Patch returns Changes after a test that the object is the one that was read, in that version. It is
// for writing to an object that may have changed concurrently; the API server then rejects the patch with 422 (Invalid). It
// is empty if there is nothing to change.
func (r Result) Patch() duck.JSONPatch { return slices.Concat(r.guards, r.Changes) }

// Apply computes the change that gives an object the variables of the bindings that choose it. It does not change the object. Once the changes are
// made, Apply returns none.
//
// With the name of a binding, Apply leaves alone the variables that another binding has: that one's status may be newer than what
// the caller knows of it. With an empty name, it applies all bindings.
//
// A missing variable is added at the end of its list, so that no other is moved. A list that becomes empty is removed. duck.CreatePatch cannot be
// used: it compares lists by position, so that removing a variable would rewrite the name and value of each one after it, but not their other fields.
func (b *Bindings) Apply(object Object, included bool, name string) Result {
	if Controlled(object) {
		return Result{}
	}
	d := decision{name: name, names: b.names, before: markOf(object)}
	if included {
		d.claims = b.claims(object)
	}
	d.after = d.before.only(func(variable string) bool { return d.claims[variable] != nil })
	asked := slices.IndexFunc(b.choosers, func(c chooser) bool { return c.binding == name && c.value != "" && c.chooses(object) })
	if included && asked >= 0 {
		c := b.choosers[asked]
		leader := d.claims[c.variable].leader
		if d.variable, d.Leader = c.variable, leader.binding; leader.value != c.value {
			d.take(c.variable, fmt.Sprintf("variable %s is claimed by AddressBinding %s, which is older", c.variable, leader.binding))
		}
	}
	for _, e := range Environments(object) {
		d.change(&e)
	}
	if len(d.Changes) > 0 || !equality.Semantic.DeepEqual(d.before, d.after) {
		d.Changes = append(d.Changes, patchMark(object, d.after))
		if version := object.GetResourceVersion(); version != "" {
			d.guards = duck.JSONPatch{jsonpatch.NewOperation("test", "/metadata/resourceVersion", version)}
		}
	}
	return d.Result
}

// decision computes the result for one object.
type decision struct {
	Result

	// name is that of the binding that was passed to Apply, and variable the one that it wants. names are those of all bindings.
	name, variable string
	names          sets.Set[string]
	claims         map[string]*claim
	// before is the object's mark, and after the one that it gets.
	before, after mark
}

// take sets the reason for which a variable is not set.
func (d *decision) take(variable, reason string) {
	if variable == d.variable && d.Taken == "" {
		d.Taken = reason
	}
}

// change adds the operations on one list, and adds what they write to the mark. It decides about each entry, because a list may name
// a variable twice.
func (d *decision) change(e *Environment) {
	own, placed, holder := sets.New[string](), sets.New[string](), "it"
	if e.Container != "" {
		holder = "container " + e.Container
	}
	for i := range e.Variables {
		v := &e.Variables[i]
		if _, ours := d.before.writer(e.Container, v); !ours {
			own.Insert(v.Name)
			d.take(v.Name, holder+" has its own variable "+v.Name)
		}
	}
	var changes duck.JSONPatch
	left := len(e.Variables)
	// From the end, so that no index moves before it is used.
	for i, v := range slices.Backward(e.Variables) {
		path := e.path + "/" + strconv.Itoa(i)
		c := d.claims[v.Name]
		wanted := c.wanted(d.name)
		switch writer, ours := d.before.writer(e.Container, &v); {
		case !ours || wanted == nil && c != nil && c.leader != nil:
		case c.keeps(writer, d.names.Has(writer)):
			if placed.Insert(v.Name); wanted != nil && wanted.value != v.Value {
				d.take(v.Name, fmt.Sprintf("variable %s is that of AddressBinding %s, which is older and whose address is unknown", v.Name, writer))
			}
		case wanted == nil || own.Has(v.Name) || placed.Has(v.Name):
			changes = append(changes, jsonpatch.NewOperation("remove", path, nil))
			left--
		default:
			placed.Insert(v.Name)
			if v.Value != wanted.value {
				changes = append(changes, jsonpatch.NewOperation("replace", path+"/value", wanted.value))
				d.after.add(e.Container, v.Name, wanted.value, wanted.binding)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.claims)) {
		wanted := d.claims[name].wanted(d.name)
		if wanted == nil || own.Has(name) || placed.Has(name) {
			continue
		}
		added := corev1.EnvVar{Name: name, Value: wanted.value}
		switch {
		case len(e.Variables) > 0 || left > 0:
			changes = append(changes, jsonpatch.NewOperation("add", e.path+"/-", added))
		case e.holder != "":
			changes = append(changes, jsonpatch.NewOperation("add", e.holder, map[string]any{"env": []corev1.EnvVar{added}}))
		default:
			changes = append(changes, jsonpatch.NewOperation("add", e.path, []corev1.EnvVar{added}))
		}
		d.after.add(e.Container, name, wanted.value, wanted.binding)
		left++
	}
	if left == 0 && len(changes) > 0 {
		changes = duck.JSONPatch{jsonpatch.NewOperation("remove", e.path, nil)}
	}
	d.Changes = append(d.Changes, changes...)
}

const (
	// history is the number of values of a variable that a mark keeps. kubectl rollout undo of a StatefulSet or DaemonSet restores the Pod template
	// of an older revision, and not the annotations. Kubernetes keeps 10 revisions by default.
	history = 10
	// hashDigits is the length of a hash. A mark has up to history of them for each variable of each container.
	hashDigits = 16
)

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
		if hash, binding, _ := strings.Cut(entry, " "); v.ValueFrom == nil && hash == samples.Hash(v.Value, hashDigits) {
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
	hash := samples.Hash(value, hashDigits)
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

// patchMark returns the operation that gives an object a mark.
func patchMark(object metav1.Object, m mark) jsonpatch.Operation {
	const annotations = "/metadata/annotations"
	path := annotations + "/" + strings.ReplaceAll(samples.BoundVariablesAnnotationKey, "/", "~1")
	encoded, _ := json.Marshal(m) //nolint:errchkjson // maps of strings can be encoded
	switch {
	case object.GetAnnotations() == nil:
		return jsonpatch.NewOperation("add", annotations, map[string]string{samples.BoundVariablesAnnotationKey: string(encoded)})
	case len(m) == 0:
		return jsonpatch.NewOperation("remove", path, nil)
	default:
		return jsonpatch.NewOperation("add", path, string(encoded))
	}
}
