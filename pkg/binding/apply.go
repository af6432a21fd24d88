/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package binding

import (
	"maps"
	"slices"

	"knative.dev/pkg/apis/duck"
)

// Taken is a variable that a binding does not get.
type Taken struct {
	// Binding is the name of the one that does not get it.
	Binding string
	// Variable is its name.
	Variable string
	// Container has it already. It is empty if the object is Configurable, or if it is all containers.
	Container string
	// By is the name of the binding that has it. It is empty if the variable is the object's own.
	By string
}

// Result is how an object gets what it is to have.
type Result struct {
	// Changes is the JSON patch that changes the variables, and nothing else. It is empty if there is nothing to change.
	Changes duck.JSONPatch
	// Taken is what it does not get: first of other bindings, then of its own, container by container.
	Taken []Taken

	guards duck.JSONPatch
}

// Patch returns Changes behind tests that the object is the one that was looked at, and that its spec still is what it was,
// as far as its generation tells. It is for writing to an object that may have changed meanwhile; the API server
// answers 422 (Invalid) if it has, and changes nothing. It is empty if there is nothing to change.
func (r Result) Patch() duck.JSONPatch {
	return slices.Concat(r.guards, r.Changes)
}

// TakenFrom returns what a binding does not get.
func (r Result) TakenFrom(binding string) []Taken {
	var taken []Taken
	for _, t := range r.Taken {
		if t.Binding == binding {
			taken = append(taken, t)
		}
	}
	return taken
}

// Holds is whether a variable stands anywhere in an object with that value.
func Holds(object Object, name, value string) bool {
	return slices.ContainsFunc(Environments(object), func(e Environment) bool { return e.Has(name, value) })
}

// Apply returns how an object gets what the decision says. It does not change the object. Once the changes are made,
// Apply returns none for the same decision.
//
// A variable that is missing comes last in its list, so that no other is moved. A list that becomes empty is removed;
// one that was there and empty before is not told from one that was not there.
func (d Decision) Apply(object Object) Result {
	result := Result{Taken: d.beaten()}
	for _, environment := range Environments(object) {
		c := d.change(&environment)
		for _, variable := range c.own {
			for _, chooser := range d.wanted[variable] {
				if chooser.value == d.wanted[variable][0].value {
					result.Taken = append(result.Taken, Taken{Binding: chooser.binding, Variable: variable, Container: environment.Container})
				}
			}
		}
		changes, guards := c.patch(&environment)
		result.Changes, result.guards = append(result.Changes, changes...), append(result.guards, guards...)
	}
	if len(result.Changes) > 0 {
		result.guards = append(identity(object), result.guards...)
	}
	return result
}

// beaten are the bindings that an older one keeps from writing their value.
func (d Decision) beaten() []Taken {
	var taken []Taken
	for _, variable := range slices.Sorted(maps.Keys(d.wanted)) {
		first := d.wanted[variable][0]
		for _, c := range d.wanted[variable][1:] {
			if c.value != first.value {
				taken = append(taken, Taken{Binding: c.binding, Variable: variable, By: first.binding})
			}
		}
	}
	return taken
}
