/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversiontest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Hook is the hook of a storage type: the interface by which generated code finds it.
type Hook struct {
	storage, hook reflect.Type
}

// HookOf describes the hook of a storage type, by its interface.
func HookOf[Storage, Interface any]() Hook {
	return Hook{storage: reflect.TypeFor[*Storage](), hook: reflect.TypeFor[Interface]()}
}

// Reachable fails the test for each storage type with a method that was meant to be a hook and is not called, because only one of the two
// exists, a parameter has the type of another version, or a name is misspelled. Such a hook is never called.
func Reachable(t *testing.T, hooks ...Hook) {
	t.Helper()
	for _, each := range hooks {
		for _, problem := range each.problems(hooks...) {
			t.Errorf("%s: %s", each.storage.Elem(), problem)
		}
	}
}

// problems are those of a hook. A storage type has a hook for each type that it becomes, with methods of other names.
func (h Hook) problems(all ...Hook) []string {
	if h.storage.Implements(h.hook) {
		return nil
	}
	var problems []string
	for method := range h.storage.Methods() {
		if !meantAsHook(method.Name) {
			continue
		}
		want, known := h.hook.MethodByName(method.Name)
		got := signature(method.Type, 1)
		switch {
		case !known && slices.ContainsFunc(all, func(other Hook) bool { return other.storage == h.storage && other.has(method.Name) }):
		case !known:
			problems = append(problems, fmt.Sprintf("the method %s%s is never called; hooks are %s", method.Name, got, h.want()))
		case got != signature(want.Type, 0):
			problems = append(problems,
				fmt.Sprintf("the method %s%s is never called; it would have to be %s%s", method.Name, got, method.Name, signature(want.Type, 0)))
		default:
			problems = append(problems, fmt.Sprintf("the method %s is never called, for it takes both; hooks are %s", method.Name, h.want()))
		}
	}
	return problems
}

func (h Hook) has(method string) bool {
	_, known := h.hook.MethodByName(method)
	return known
}

func (h Hook) want() string {
	var methods []string
	for method := range h.hook.Methods() {
		methods = append(methods, method.Name+signature(method.Type, 0))
	}
	return strings.Join(methods, " and ")
}

// meantAsHook reports whether a method's name is that of a hook, or nearly. The generated functions have underscores.
func meantAsHook(name string) bool {
	plain := strings.ToLower(name)
	return !strings.Contains(plain, "_") && slices.ContainsFunc([]string{"assignpropert", "assignto", "assignfrom", "augment"}, func(beginning string) bool {
		return strings.HasPrefix(plain, beginning) && plain != "assigntohub" && plain != "assignfromhub"
	})
}

// signature spells a method without its receiver.
func signature(method reflect.Type, skip int) string {
	var in, out []string
	for i := skip; i < method.NumIn(); i++ {
		in = append(in, spelled(method.In(i)))
	}
	for result := range method.Outs() {
		out = append(out, spelled(result))
	}
	text := "(" + strings.Join(in, ", ") + ")"
	switch len(out) {
	case 0:
		return text
	case 1:
		return text + " " + out[0]
	default:
		return text + " (" + strings.Join(out, ", ") + ")"
	}
}

// spelled names a type with its whole package: those of two versions have the same last part.
func spelled(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		return "*" + spelled(t.Elem())
	}
	if t.PkgPath() != "" {
		return t.PkgPath() + "." + t.Name()
	}
	return t.String()
}
