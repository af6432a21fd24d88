/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package binding

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// templates have a place for containers, or for what holds variables, each.
var templates = map[Shape]string{
	PodTemplate:  `{"metadata":{"name":"a","uid":"1","generation":3,"labels":{"app":"a"}},"spec":{"x":{"y":[]},"template":{"metadata":{},"spec":{"x":0,%s}}},"status":{"z":null}}`,
	CronJob:      `{"metadata":{"name":"a","uid":"1","generation":3,"labels":{"app":"a"}},"spec":{"schedule":"x","jobTemplate":{"spec":{"template":{"spec":{"x":0,%s}}}}}}`,
	Configurable: `{"metadata":{"name":"a","uid":"1","generation":3,"labels":{"app":"a"}},"spec":{"x":0%s}}`,
	JobTemplate:  `{"metadata":{"name":"a","uid":"1","resourceVersion":"3","labels":{"app":"a"}},"spec":{"template":{"spec":{"x":0,%s}}}}`,
}

// Names and values are few, so that they meet. Values of bindings begin with a v, those of objects do not.
var names = []string{"A", "B", "C"}

func randomBindings(random *rand.Rand) []*v1.AddressBinding {
	bindings := make([]*v1.AddressBinding, random.Intn(5))
	for i := range bindings {
		bindings[i] = bind(fmt.Sprint("b", i), int64(random.Intn(3)), variable(names[random.Intn(len(names))]), value(fmt.Sprint("v", random.Intn(4))))
		switch random.Intn(8) {
		case 0, 1:
			without(bindings[i])
		case 2:
			unknown(bindings[i])
		}
	}
	return bindings
}

// randomVariables are an object's own, as JSON, each with something that a duck type does not have. No two have a name.
func randomVariables(random *rand.Rand, plain bool) string {
	var list []string
	for _, i := range random.Perm(len(names))[:random.Intn(len(names)+1)] {
		switch {
		case random.Intn(2) == 0 || plain:
			list = append(list, fmt.Sprintf(`{"name":%q,"value":"own%d","x":1}`, names[i], i))
		default:
			list = append(list, fmt.Sprintf(`{"name":%q,"valueFrom":{"fieldRef":{"fieldPath":"v1"},"x":2}}`, names[i]))
		}
	}
	if len(list) == 0 {
		return ""
	}
	return `"env":[` + strings.Join(list, ",") + `]`
}

func randomObject(random *rand.Rand, shape Shape) string {
	if shape == Configurable {
		env := randomVariables(random, true)
		if env != "" {
			env = fmt.Sprintf(`,"configurable":{%s}`, env)
		}
		return fmt.Sprintf(templates[shape], env)
	}
	var fields []string
	for _, field := range []string{"initContainers", "containers"} {
		var containers []string
		for i := range random.Intn(4) {
			container := fmt.Sprintf(`"name":"%s%d","x":[{}]`, field, i)
			if env := randomVariables(random, false); env != "" {
				container += "," + env
			}
			containers = append(containers, "{"+container+"}")
		}
		fields = append(fields, fmt.Sprintf(`%q:[%s]`, field, strings.Join(containers, ",")))
	}
	return fmt.Sprintf(templates[shape], strings.Join(fields, ","))
}

// bare returns the JSON of an object without its variables and what holds nothing else, which is all that may change.
func bare(t *testing.T, text string) string {
	t.Helper()
	var object any
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		t.Fatal(err)
	}
	var strip func(any)
	strip = func(value any) {
		switch value := value.(type) {
		case map[string]any:
			delete(value, "env")
			delete(value, "annotations")
			delete(value, "configurable")
			for _, field := range value {
				strip(field)
			}
		case []any:
			for _, item := range value {
				strip(item)
			}
		}
	}
	strip(object)
	stripped, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(stripped)
}

// own variables of an object, by its containers.
func ownVariables(object Object) map[string][]corev1.EnvVar {
	found := make(map[string][]corev1.EnvVar)
	for _, e := range Environments(object) {
		for _, v := range e.Variables {
			if v.ValueFrom != nil || !strings.HasPrefix(v.Value, "v") {
				found[e.Container] = append(found[e.Container], v)
			}
		}
	}
	return found
}

func TestApply_RandomBindingsAndObjects(t *testing.T) {
	var bound, changed, taken int
	for seed := range int64(2_000) {
		random := rand.New(rand.NewSource(seed))
		shape := []Shape{PodTemplate, CronJob, Configurable, JobTemplate}[random.Intn(4)]
		original := randomObject(random, shape)
		object := read(t, shape, original)
		all := randomBindings(random)
		bindings := Of(deployments, all)
		result := bindings.Apply(object, true, "")
		after := patched(t, result.Patch(), original)

		if canonical(t, patched(t, result.Changes, original)) != after {
			t.Fatalf("seed %d: the tests of the patch change something", seed)
		}
		if bare(t, original) != bare(t, after) {
			t.Fatalf("seed %d: something else than variables changed:\n%s\n%s", seed, original, after)
		}
		boundObject := read(t, shape, after)
		if got, want := fmt.Sprint(ownVariables(boundObject)), fmt.Sprint(ownVariables(object)); got != want {
			t.Fatalf("seed %d: own variables are %s, want %s", seed, got, want)
		}
		if again := bindings.Apply(boundObject, true, ""); len(again.Changes) != 0 {
			t.Fatalf("seed %d: a second time changes %v", seed, again.Changes)
		}
		checkOutcome(t, seed, all, object, boundObject)

		// Each binding alone leads to the same: whatever the order, and however often they run.
		single := original
		for i := range 2 * len(all) {
			object := read(t, shape, single)
			result := bindings.Apply(object, true, all[i%len(all)].Name)
			single = patched(t, result.Patch(), single)
			if result.Taken != "" {
				taken++
			}
		}
		if shape != Configurable && fmt.Sprint(valuesByName(read(t, shape, single))) != fmt.Sprint(valuesByName(boundObject)) {
			t.Fatalf("seed %d: one by one the bindings make\n%s\nand together\n%s", seed, single, after)
		}

		// Then the addresses of some change, of others are removed; an older template returns; and at last all bindings are deleted.
		for _, b := range all {
			switch random.Intn(3) {
			case 0:
				without(b)
			case 1:
				b.Status.MarkAddressResolved(fmt.Sprint("v", random.Intn(4)))
			}
		}
		last := patched(t, Of(deployments, all).Apply(boundObject, true, "").Patch(), after)
		if random.Intn(2) == 0 {
			// The mark lists what the template of before has.
			object := parsed(t, last)
			object["spec"] = parsed(t, after)["spec"]
			last = encoded(t, object)
		}
		undo := Of(deployments, nil).Apply(read(t, shape, last), true, "")
		if got, want := stripped(t, patched(t, undo.Patch(), last)), stripped(t, original); got != want && len(result.Changes) > 0 && markOf(read(t, shape, last)) != nil {
			t.Fatalf("seed %d: without bindings it is\n%s\nwant\n%s", seed, got, want)
		}
		bound += len(all)
		changed += len(result.Changes)
	}
	t.Logf("%d bindings, %d changes, %d taken", bound, changed, taken)
	if bound < 500 || changed < 500 || taken < 500 {
		t.Error("these are too few to show anything")
	}
}

// stripped returns an object's JSON without annotations, and without an empty object that held variables.
func stripped(t *testing.T, text string) string {
	t.Helper()
	without, _ := plain(t, text)
	return strings.ReplaceAll(without, `"configurable":{},`, "")
}

// valuesByName returns the variables of each container, sorted: the order of the bindings decides their order.
func valuesByName(object Object) []string {
	var found []string
	for _, e := range Environments(object) {
		for _, v := range e.Variables {
			found = append(found, fmt.Sprintf("%s %s=%s %t", e.Container, v.Name, v.Value, v.ValueFrom != nil))
		}
	}
	slices.Sort(found)
	return found
}

// checkOutcome compares with a rule written in another way: each variable has the value of the oldest binding.
func checkOutcome(t *testing.T, seed int64, all []*v1.AddressBinding, before, after Object) {
	t.Helper()
	for _, name := range names {
		first := firstOf(all, name)
		if first == nil {
			continue
		}
		for i, e := range Environments(after) {
			own := len(valuesOf(Environments(before)[i], name)) > 0
			if values := valuesOf(e, name); len(values) != 1 || !own && values[0] != first.Status.Value {
				t.Fatalf("seed %d: %s of container %q is %q; own: %t, value of the first binding: %q", seed, name, e.Container, values, own, first.Status.Value)
			}
		}
	}
}

// firstOf returns the oldest of the bindings that want a variable.
func firstOf(all []*v1.AddressBinding, variable string) *v1.AddressBinding {
	var first *v1.AddressBinding
	for _, b := range all {
		if b.Spec.Variable == variable && b.Status.Value != "" && (first == nil || b.CreationTimestamp.Before(&first.CreationTimestamp) ||
			b.CreationTimestamp.Equal(&first.CreationTimestamp) && b.Name < first.Name) {
			first = b
		}
	}
	return first
}

// valuesOf returns every value that an environment has for a variable.
func valuesOf(e Environment, variable string) []string {
	var values []string
	for _, v := range e.Variables {
		if v.Name == variable {
			values = append(values, v.Value)
		}
	}
	return values
}
