/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/mallard-dev/mallard/crud/internal/closest"
)

// config is the output of an executable: its bindings, and one that is rejected.
type config struct {
	Bindings `json:",inline"`

	ConfigVersion string `json:"configVersion"`

	Conversion json.RawMessage `json:"kubernetesCustomResourceConversion"`
}

// parseConfig returns the bindings of a configuration in YAML or JSON. Each mistake is a line of the error.
func parseConfig(content []byte) (Bindings, error) {
	if len(strings.TrimSpace(string(content))) == 0 {
		return Bindings{}, errors.New("it is empty: print configVersion: v1 and the bindings")
	}
	encoded, err := yaml.YAMLToJSONStrict(content)
	if err != nil {
		return Bindings{}, fmt.Errorf("reading it as YAML: %w", err)
	}
	var c config
	strict, err := kjson.UnmarshalStrict(encoded, &c)
	if err != nil {
		return Bindings{}, fmt.Errorf("decoding it: %w", err)
	}
	var errs []error
	for _, unknown := range strict {
		errs = append(errs, advised(unknown, reflect.TypeFor[config]()))
	}
	if c.ConfigVersion != "v1" {
		errs = append(errs, fmt.Errorf("configVersion: it must be v1, not %q", c.ConfigVersion))
	}
	if c.Conversion != nil {
		errs = append(errs, errors.New("kubernetesCustomResourceConversion: hooks do not convert objects, since what they do not know would be lost: "+
			"remove it, and generate the conversion, see docs/tutorial/second-version.md"))
	}
	if err := errors.Join(errs...); err != nil {
		return Bindings{}, err
	}
	return c.Bindings, c.complete()
}

// advised adds the field that was probably meant to the error about a field that does not exist below a type.
func advised(err error, t reflect.Type) error {
	_, path, ok := strings.Cut(err.Error(), `unknown field "`)
	if !ok {
		return err
	}
	path = strings.TrimSuffix(path, `"`)
	name := path[strings.LastIndex(path, ".")+1:]
	return fmt.Errorf("%s: the field does not exist: %s", path, closest.Advice(name, sets.List(fieldNames(t))))
}

// fieldNames are the names of all fields below a type.
func fieldNames(t reflect.Type) sets.Set[string] {
	names := sets.New[string]()
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return names
	}
	for field := range t.Fields() {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			names.Insert(name)
		}
		names = names.Union(fieldNames(field.Type))
	}
	return names
}
