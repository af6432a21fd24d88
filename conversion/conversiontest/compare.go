/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversiontest

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/conversion"
)

func canonical(t *testing.T, object any) string {
	t.Helper()
	text, err := conversion.Canonical(object)
	if err != nil {
		t.Fatalf("%T is no JSON: %v", object, err)
	}
	return string(text)
}

// expectSamef fails the test if two canonical texts differ. The message says what the second should have been.
func expectSamef(t *testing.T, want, got, format string, args ...any) {
	t.Helper()
	if want == got {
		return
	}
	t.Fatal(explained(want, got, fmt.Sprintf(format, args...)))
}

// explained is the message about two texts in JSON that differ: the cause first, and then as much of the rest as can be read.
func explained(want, got, message string) string {
	cause := difference("", decoded(want), decoded(got))
	if size := truncatedSize.FindStringSubmatch(message + want + got); size != nil {
		cause += fmt.Sprintf("\nthe annotation would need %s bytes and was left out: add functions for smaller values to conversionFunctions", size[1])
	}
	return fmt.Sprintf("%s\n%s\nwant %s\ngot  %s", cause, cut(message), cut(want), cut(got))
}

// truncatedSize finds the label of an object whose annotation was left out.
var truncatedSize = regexp.MustCompile(`-truncated":"(\d+)"`)

// cut shortens a text that is too long to be read.
func cut(text string) string { return cutTo(4000, text) }

func cutTo(most int, text string) string {
	if len(text) <= most {
		return text
	}
	return fmt.Sprintf("%s… (%d bytes more)", strings.ToValidUTF8(text[:most], ""), len(text)-most)
}

// decoded is the content of canonical JSON, or the text itself if it is something else.
func decoded(text string) any {
	var content any
	if decode([]byte(text), &content) != nil {
		return text
	}
	return content
}

// difference describes the first difference of two values from JSON.
func difference(path string, want, got any) string {
	for at, values := range differences(path, want, got) {
		return fmt.Sprintf("%s: want %s, got %s", at, cut(inText(values[0])), cut(inText(values[1])))
	}
	return ""
}

// differences returns the paths at which two values from JSON differ, with both values. Lists of different lengths are one difference.
func differences(path string, want, got any) iter.Seq2[string, [2]any] {
	return func(yield func(path string, values [2]any) bool) { yieldDifferences(path, want, got, yield) }
}

func yieldDifferences(path string, want, got any, yield func(path string, values [2]any) bool) (more bool) {
	wanted, isObject := want.(whole)
	shown, isShown := got.(whole)
	list, isList := want.([]any)
	shownList, isShownList := got.([]any)
	switch {
	case reflect.DeepEqual(want, got):
		return true
	case isObject && isShown:
		for _, name := range slices.Sorted(maps.Keys(union(wanted, shown))) {
			if !yieldDifferences(path+"."+name, wanted[name], shown[name], yield) {
				return false
			}
		}
		return true
	case isList && isShownList && len(list) == len(shownList):
		for i := range list {
			if !yieldDifferences(fmt.Sprintf("%s[%d]", path, i), list[i], shownList[i], yield) {
				return false
			}
		}
		return true
	default:
		return yield(strings.TrimPrefix(path, "."), [2]any{want, got})
	}
}

func union(a, b whole) whole {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// inText is a value as JSON, or the word for an absent one.
func inText(value any) string {
	if value == nil {
		return "nothing"
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}

// expectEqualf fails the test if two objects differ as canonical JSON. Objects that are equal in memory are not marshaled.
func expectEqualf(t *testing.T, want, got any, format string, args ...any) {
	t.Helper()
	if !reflect.DeepEqual(want, got) {
		expectSamef(t, canonical(t, want), canonical(t, got), format, args...)
	}
}

const (
	changesSource = "the conversion changed its source"
	sharesMemory  = "changing the %T that was made of it changes the %T: they share memory"
)

// overwrite changes everything that can be reached from a value. What shares memory with it is no longer what it was.
func overwrite(value reflect.Value) {
	switch value.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Array, reflect.Struct:
		for _, each := range parts(value) {
			overwrite(each)
		}
	case reflect.Map:
		for _, key := range value.MapKeys() {
			element := value.MapIndex(key)
			if isContainer(element.Kind()) || element.Kind() == reflect.Struct {
				// A copy of the value points to the same memory as the map's value.
				reachable := reflect.New(element.Type()).Elem()
				reachable.Set(element)
				overwrite(reachable)
			}
			value.SetMapIndex(key, reflect.Value{})
		}
	default:
		spoilPlain(value)
	}
}

func spoilPlain(value reflect.Value) {
	switch {
	case !value.CanSet():
	case value.Kind() == reflect.String:
		value.SetString(value.String() + "!")
	case value.Kind() == reflect.Bool:
		value.SetBool(!value.Bool())
	case value.CanInt():
		value.SetInt(value.Int() + 1)
	case value.CanUint():
		value.SetUint(value.Uint() + 1)
	case value.CanFloat():
		value.SetFloat(value.Float() + 1)
	}
}
