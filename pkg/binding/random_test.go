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
}

// Names and values are few, so that they meet. Values of bindings begin with a v, those of objects do not.
var names = []string{"A", "B", "C"}

func randomBindings(random *rand.Rand) []*v1.AddressBinding {
	bindings := make([]*v1.AddressBinding, random.Intn(5))
	for i := range bindings {
		bindings[i] = bind(fmt.Sprint("b", i), int64(random.Intn(3)), variable(names[random.Intn(len(names))]), value(fmt.Sprint("v", random.Intn(4))))
		// What it has written before.
		for range random.Intn(3) {
			bindings[i].Status.Bound = append(bindings[i].Status.Bound, v1.BoundVariable{
				APIVersion: "apps/v1", Kind: "Deployment", Name: names[random.Intn(len(names))], Value: fmt.Sprint("v", random.Intn(6)),
			})
		}
		if random.Intn(4) == 0 {
			without(bindings[i])
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

func TestRandomBindingsOfRandomObjects(t *testing.T) {
	var bound, changed, takenOwn, takenByOthers int
	for seed := range int64(2_000) {
		random := rand.New(rand.NewSource(seed))
		shape := Shapes[random.Intn(len(Shapes))]
		original := randomObject(random, shape)
		object := read(t, shape, original)
		all := randomBindings(random)
		decision := Of(deployments, all).Decide(object, true)
		result := decision.Apply(object)
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
		if again := decision.Apply(boundObject); len(again.Changes) != 0 || fmt.Sprint(again.Taken) != fmt.Sprint(result.Taken) {
			t.Fatalf("seed %d: a second time changes %v, with %v rather than %v taken", seed, again.Changes, again.Taken, result.Taken)
		}
		checkOutcome(t, seed, all, object, boundObject, result)

		// Then others come, or bindings go; and at last all do.
		for _, b := range all {
			if random.Intn(3) == 0 {
				without(b)
			}
		}
		after = patched(t, Of(deployments, all).Decide(boundObject, true).Apply(boundObject).Patch(), after)
		last := read(t, shape, after)
		undo := Of(deployments, all).Decide(last, false).Apply(last)
		if got, want := patched(t, undo.Patch(), after), canonical(t, original); got != want || len(undo.Taken) != 0 {
			t.Fatalf("seed %d: without bindings it is\n%s\nwant\n%s", seed, got, want)
		}

		bound += len(decision.wanted)
		changed += len(result.Changes)
		for _, taken := range result.Taken {
			if taken.By == "" {
				takenOwn++
			} else {
				takenByOthers++
			}
		}
	}
	t.Logf("%d variables wanted, %d changes, %d taken by objects, %d by bindings", bound, changed, takenOwn, takenByOthers)
	if bound < 500 || changed < 500 || takenOwn < 500 || takenByOthers < 100 {
		t.Error("these are too few to show anything")
	}
}

// checkOutcome compares with a rule written in another way: by each variable, the first of the bindings that count.
func checkOutcome(t *testing.T, seed int64, all []*v1.AddressBinding, before, after Object, result Result) {
	t.Helper()
	for _, name := range names {
		first := firstOf(all, name)
		if first == nil {
			continue
		}
		for i, e := range Environments(after) {
			own := len(valuesOf(Environments(before)[i], name)) > 0
			values := valuesOf(e, name)
			reported := slices.Contains(result.Taken, Taken{Binding: first.Name, Variable: name, Container: e.Container})
			if len(values) != 1 || !own && values[0] != first.Status.Value || reported != own {
				t.Fatalf("seed %d: %s of container %q is %q, reported as taken: %t; own: %t, value of the first binding: %q",
					seed, name, e.Container, values, reported, own, first.Status.Value)
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
