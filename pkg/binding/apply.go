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

	"gomodules.xyz/jsonpatch/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/sets"

	"knative.dev/pkg/apis/duck"
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

// Patch returns Changes after tests that the object is the one that was read, and that its spec, labels and mark are unchanged. It is
// for writing to an object that may have changed concurrently; the API server then rejects the patch with 422 (Invalid). It
// is empty if there is nothing to change.
func (r Result) Patch() duck.JSONPatch { return slices.Concat(r.guards, r.Changes) }

// Apply computes the change that gives an object the variables of the bindings that choose it. It does not change the object. Once the changes are
// made, Apply returns none.
//
// With the name of a binding, Apply leaves alone the variables that another binding has: that one's status may be newer than what
// the caller knows of it. With an empty name, it applies all bindings.
//
// A missing variable is added at the end of its list, so that no other is moved. A list that becomes empty is removed.
func (b *Bindings) Apply(object Object, included bool, name string) Result {
	if Controlled(object) {
		return Result{}
	}
	chosen := map[string][]*chooser{}
	if included {
		chosen = b.choosing(object)
	}
	before := markOf(object)
	d := decision{
		before: before, after: before.only(func(variable string) bool { return len(chosen[variable]) > 0 }),
		leaders: map[string]*chooser{}, wanted: map[string]*chooser{}, keepers: map[string][]string{}, names: b.names,
	}
	var result Result
	for variable, choosers := range chosen {
		leader, keepers := leading(choosers)
		d.leaders[variable], d.keepers[variable] = leader, keepers
		if leader != nil && (name == "" || name == leader.binding) {
			d.wanted[variable] = leader
		}
		i := slices.IndexFunc(choosers, func(c *chooser) bool { return c.binding == name })
		if i < 0 || choosers[i].value == "" {
			continue
		}
		d.variable, result.Leader = variable, leader.binding
		if leader.value != choosers[i].value {
			d.taken = fmt.Sprintf("variable %s is claimed by AddressBinding %s, which is older", variable, leader.binding)
		}
	}

	for _, e := range Environments(object) {
		changes, guards := d.change(&e)
		result.Changes, result.guards = append(result.Changes, changes...), append(result.guards, guards...)
	}
	result.Taken = d.taken
	if len(result.Changes) == 0 && equality.Semantic.DeepEqual(before, d.after) {
		return result
	}
	changes, guards := patchMark(object, d.after)
	result.Changes, result.guards = append(result.Changes, changes...), slices.Concat(identity(object), guards, result.guards)
	return result
}

// decision holds the new values of the variables of one object.
type decision struct {
	// before is the object's mark, and after the one that it gets.
	before, after mark
	// leaders are, by variable, the bindings that take precedence, and wanted those of them whose variables are written.
	leaders, wanted map[string]*chooser
	// keepers are, by variable, the bindings whose variables stay although their values are not known. names are those of all bindings.
	keepers map[string][]string
	names   sets.Set[string]
	// taken is the reason for which variable, that of binding, is not set.
	variable, taken string
}

// keeps reports whether a variable that a binding has written stays as it is. If its writer was deleted, a keeper may have taken it over.
func (d *decision) keeps(variable, writer string) bool {
	keepers := d.keepers[variable]
	return slices.Contains(keepers, writer) || d.leaders[variable] == nil && len(keepers) > 0 && !d.names.Has(writer)
}

// take sets the reason for which a variable is not set.
func (d *decision) take(variable, reason string) {
	if variable == d.variable && d.taken == "" {
		d.taken = reason
	}
}

// change returns the operations on one list, and adds what they write to the mark. It decides about each entry, because a list may name
// a variable twice.
func (d *decision) change(e *Environment) (changes, guards duck.JSONPatch) {
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
	var replaced, removed duck.JSONPatch
	for i := range e.Variables {
		v, path := &e.Variables[i], e.path+"/"+strconv.Itoa(i)
		wanted := d.wanted[v.Name]
		switch writer, ours := d.before.writer(e.Container, v); {
		case !ours || wanted == nil && d.leaders[v.Name] != nil:
		case d.keeps(v.Name, writer):
			if placed.Insert(v.Name); wanted != nil && wanted.value != v.Value {
				d.take(v.Name, fmt.Sprintf("variable %s is that of AddressBinding %s, which is older and whose address is unknown", v.Name, writer))
			}
		case wanted == nil || own.Has(v.Name) || placed.Has(v.Name):
			removed = append(removed, operation("remove", path, nil))
		default:
			placed.Insert(v.Name)
			if v.Value != wanted.value {
				replaced = append(replaced, operation("replace", path+"/value", wanted.value))
				d.after.add(e.Container, v.Name, wanted.value, wanted.binding)
			}
		}
	}
	var added []corev1.EnvVar
	for _, name := range slices.Sorted(maps.Keys(d.wanted)) {
		if wanted := d.wanted[name]; !own.Has(name) && !placed.Has(name) {
			added = append(added, corev1.EnvVar{Name: name, Value: wanted.value})
			d.after.add(e.Container, name, wanted.value, wanted.binding)
		}
	}
	return e.patch(replaced, removed, added)
}

// patch also returns tests of the state that the changes rely on, in addition to the identity of the object.
func (e *Environment) patch(replaced, removed duck.JSONPatch, added []corev1.EnvVar) (changes, guards duck.JSONPatch) {
	emptied := len(removed) == len(e.Variables) && len(added) == 0
	switch {
	case len(replaced)+len(removed)+len(added) == 0:
		return nil, nil
	case len(e.Variables) == 0 && e.holder != "" && !e.held:
		guards = append(guards, operation("test", e.holder, null))
		changes = append(changes, operation("add", e.holder, map[string]any{"env": added}))
	case len(e.Variables) == 0:
		changes = append(changes, operation("add", e.path, added))
	case emptied && e.holder != "":
		// Other fields that it may have are not ours to remove.
		guards = append(guards, operation("test", e.holder, map[string]any{"env": e.Variables}))
		changes = append(changes, operation("remove", e.holder, nil))
	case emptied:
		changes = append(changes, operation("remove", e.path, nil))
	default:
		// From the end, so that no index moves before it is used.
		slices.Reverse(removed)
		changes = slices.Concat(replaced, removed)
		for _, v := range added {
			changes = append(changes, operation("add", e.path+"/-", v))
		}
	}
	if e.Container != "" {
		guards = append(guards, operation("test", e.name, e.Container))
	}
	return changes, guards
}

// null is the value of a field that is absent, or null.
var null = json.RawMessage("null")

func operation(op, path string, value any) jsonpatch.Operation {
	return jsonpatch.NewOperation(op, path, value)
}

// identity returns tests that an object and its spec are those that were read, and that its labels, by which objects are chosen and opt
// out, are unchanged. Its status may have changed: a test of the resourceVersion would conflict with every status update of a rollout.
func identity(object Object) duck.JSONPatch {
	var tests duck.JSONPatch
	if uid := object.GetUID(); uid != "" {
		tests = append(tests, operation("test", "/metadata/uid", uid))
	}
	if generation := object.GetGeneration(); generation != 0 {
		tests = append(tests, operation("test", "/metadata/generation", generation))
	} else if version := object.GetResourceVersion(); version != "" {
		tests = append(tests, operation("test", "/metadata/resourceVersion", version))
	}
	if labels := object.GetLabels(); labels != nil {
		return append(tests, operation("test", "/metadata/labels", labels))
	}
	return append(tests, operation("test", "/metadata/labels", null))
}
