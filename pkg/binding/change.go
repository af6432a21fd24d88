/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package binding

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"gomodules.xyz/jsonpatch/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"knative.dev/pkg/apis/duck"
)

// change is what becomes of one list of variables.
type change struct {
	// values are new ones for variables that stay, by their index.
	values map[int]string
	// removed are the indexes of variables that go, ascending.
	removed []int
	// added come behind all others.
	added []corev1.EnvVar
	// own are the names of variables that are wanted and the object's own already, sorted.
	own []string
}

// change decides by each entry of the list, for a list may name a variable twice.
func (d Decision) change(environment *Environment) change {
	own, placed := sets.New[string](), sets.New[string]()
	for i := range environment.Variables {
		if v := &environment.Variables[i]; !d.isOurs(v) {
			own.Insert(v.Name)
		}
	}
	c := change{values: make(map[int]string)}
	for i := range environment.Variables {
		v := &environment.Variables[i]
		wanted, isWanted := d.wanted[v.Name]
		switch {
		case !d.isOurs(v):
			continue
		case !isWanted || own.Has(v.Name) || placed.Has(v.Name):
			c.removed = append(c.removed, i)
			continue
		case v.Value != wanted[0].value:
			c.values[i] = wanted[0].value
		}
		placed.Insert(v.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(d.wanted)) {
		switch {
		case own.Has(name):
			c.own = append(c.own, name)
		case !placed.Has(name):
			c.added = append(c.added, corev1.EnvVar{Name: name, Value: d.wanted[name][0].value})
		}
	}
	return c
}

func (d Decision) isOurs(v *corev1.EnvVar) bool {
	return v.ValueFrom == nil && d.ours.Has(pair{v.Name, v.Value})
}

// patch also returns tests of what the changes rely on beside the identity of the object.
func (c change) patch(environment *Environment) (changes, guards duck.JSONPatch) {
	do := func(op, path string, value any) {
		changes = append(changes, jsonpatch.NewOperation(op, path, value))
	}
	switch {
	case len(c.values) == 0 && len(c.removed) == 0 && len(c.added) == 0:
		return nil, nil
	case len(environment.Variables) == 0 && environment.holder != "" && !environment.held:
		guards = append(guards, test(environment.holder, null))
		do("add", environment.holder, map[string]any{"env": c.added})
	case len(environment.Variables) == 0:
		do("add", environment.path, c.added)
	case len(c.removed) == len(environment.Variables) && len(c.added) == 0 && environment.holder != "":
		// Whatever else is in it is not ours to remove.
		guards = append(guards, test(environment.holder, map[string]any{"env": environment.Variables}))
		do("remove", environment.holder, nil)
	case len(c.removed) == len(environment.Variables) && len(c.added) == 0:
		do("remove", environment.path, nil)
	default:
		for _, i := range slices.Sorted(maps.Keys(c.values)) {
			do("replace", environment.path+"/"+strconv.Itoa(i)+"/value", c.values[i])
		}
		for _, i := range slices.Backward(c.removed) {
			do("remove", environment.path+"/"+strconv.Itoa(i), nil)
		}
		for _, v := range c.added {
			do("add", environment.path+"/-", v)
		}
	}
	if environment.Container != "" {
		guards = append(guards, test(environment.name, environment.Container))
	}
	return changes, guards
}

// null is the value of what is absent, or null.
var null = json.RawMessage("null")

func test(path string, value any) jsonpatch.Operation {
	return jsonpatch.NewOperation("test", path, value)
}

// identity are tests that an object is the one that was looked at, and that its spec is. A status may have changed: with
// tests of the resource version there would be a conflict with every status that is written during a rollout.
func identity(object Object) duck.JSONPatch {
	var tests duck.JSONPatch
	if uid := object.GetUID(); uid != "" {
		tests = append(tests, test("/metadata/uid", uid))
	}
	if generation := object.GetGeneration(); generation != 0 {
		return append(tests, test("/metadata/generation", generation))
	}
	if version := object.GetResourceVersion(); version != "" {
		tests = append(tests, test("/metadata/resourceVersion", version))
	}
	return tests
}
