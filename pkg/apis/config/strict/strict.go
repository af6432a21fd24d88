/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package strict

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
	corev1 "k8s.io/api/core/v1"

	"knative.dev/pkg/configmap"
)

// Rule returns an error that begins with "must be" if a value is invalid.
type Rule func(value string) error

// Rules are the keys of a ConfigMap. The key PREFIX.NAME stands for all keys with this prefix.
type Rules map[string]Rule

// errUnknown is the error of a key without a rule.
var errUnknown = errors.New("unknown key")

// Parser returns a parser that applies the rules to each key by itself before it calls parse, whose errors are about combinations of keys and begin
// with the key to change. Its errors name the ConfigMap and each invalid key. If all of these are unknown, the content of the others is returned, too.
func Parser[T any](rules Rules, parse func(*corev1.ConfigMap) (*T, error)) func(*corev1.ConfigMap) (*T, error) {
	return func(cm *corev1.ConfigMap) (parsed *T, err error) {
		var unknown, invalid []error
		known := cm.DeepCopy()
		for _, key := range slices.Sorted(maps.Keys(cm.Data)) {
			switch err := rules.check(key, cm.Data[key]); {
			case errors.Is(err, errUnknown):
				unknown = append(unknown, fmt.Errorf("%s: %w", key, err))
				delete(known.Data, key)
			case err != nil:
				invalid = append(invalid, fmt.Errorf("%s: %w", key, err))
			}
		}
		for _, key := range slices.Sorted(maps.Keys(cm.BinaryData)) {
			invalid = append(invalid, fmt.Errorf("%s: must be in data, not in binaryData", key))
		}
		if len(invalid) == 0 {
			parsed, err = parse(known)
		}
		if err = errors.Join(append(append(unknown, invalid...), err)...); err != nil {
			err = fmt.Errorf("ConfigMap %s: %w", cm.Name, err)
		}
		return parsed, err
	}
}

// Tolerant returns a parser for processes, which logs unknown keys as a warning: after a rollback, a ConfigMap may have keys of the later version.
func Tolerant[T any](warnf func(format string, args ...any), parse func(*corev1.ConfigMap) (*T, error)) func(*corev1.ConfigMap) (*T, error) {
	return func(cm *corev1.ConfigMap) (*T, error) {
		parsed, err := parse(cm)
		if parsed == nil {
			return nil, err
		}
		if err != nil {
			warnf("Ignoring keys that this version does not know: %v", err)
		}
		return parsed, nil
	}
}

func (r Rules) check(key, value string) error {
	if key == configmap.ExampleKey {
		return nil
	}
	rule := r[key]
	if prefix, name, _ := strings.Cut(key, "."); rule == nil && name != "" {
		rule = r[prefix+".NAME"]
	}
	if rule != nil {
		return rule(value)
	}
	keys := slices.Sorted(maps.Keys(r))
	distance := func(known string) int { return levenshtein.Distance(key, known, nil) }
	meant, hint := slices.MinFunc(keys, func(a, b string) int { return cmp.Compare(distance(a), distance(b)) }), ""
	if 2*distance(meant) <= max(len(key), len(meant)) {
		hint = fmt.Sprintf(" (did you mean %s?)", meant)
	}
	return fmt.Errorf("%w%s; the keys are %s", errUnknown, hint, strings.Join(keys, ", "))
}

// Must returns the rule of values that are valid by a function. be describes them, with an example.
func Must(be string, valid func(value string) bool) Rule {
	return func(value string) error {
		if !valid(value) {
			return fmt.Errorf("must be %s, not %q", be, value)
		}
		return nil
	}
}

// OneOf returns the rule of a key that has one of several values.
func OneOf(values ...string) Rule {
	last := len(values) - 1
	return Must(strings.Join(values[:last], ", ")+" or "+values[last], func(value string) bool { return slices.Contains(values, value) })
}

// Name returns the rule of values that a function of k8s.io/apimachinery accepts.
func Name(be string, problems func(value string) []string) Rule {
	return Must(be, func(value string) bool { return len(problems(value)) == 0 })
}

// Between returns the rule of values, from least to most, that a parser of knative.dev/pkg reads.
func Between[T cmp.Ordered](what string, as func(key string, target *T) configmap.ParseFunc, least, most, example string) Rule {
	return Must(fmt.Sprintf("%s from %s to %s such as %s", what, least, most, example), func(value string) bool {
		var from, parsed, to T
		data := map[string]string{"least": least, "value": value, "most": most}
		err := configmap.Parse(data, as("least", &from), as("value", &parsed), as("most", &to))
		return err == nil && from <= parsed && parsed <= to
	})
}
