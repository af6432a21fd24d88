/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command convert reads a Backup as YAML and prints it at the version that is its argument.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"knative.dev/pkg/apis"

	v1 "example.com/backup/apis/v1"
	"example.com/backup/apis/v1beta1"
)

// versioned is a Backup of either version.
type versioned interface {
	apis.Convertible
	GetObjectKind() schema.ObjectKind
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) != 1 {
		return errors.New("convert takes one argument, the version to convert to")
	}
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return fmt.Errorf("reading the object: %w", err)
	}
	var is metav1.TypeMeta
	if err := yaml.Unmarshal(text, &is); err != nil {
		return fmt.Errorf("reading the object's version: %w", err)
	}
	versions := map[string]versioned{"v1beta1": &v1beta1.Backup{}, "v1": &v1.Backup{}}
	from, to := versions[is.GroupVersionKind().Version], versions[arguments[0]]
	if from == nil || to == nil {
		return fmt.Errorf("converting %s to %q: versions are v1beta1 and v1", is.GroupVersionKind(), arguments[0])
	}
	if err := yaml.UnmarshalStrict(text, from); err != nil {
		return fmt.Errorf("reading the object: %w", err)
	}
	// Every version converts to and from every other one.
	if err := from.ConvertTo(context.Background(), to); err != nil {
		return fmt.Errorf("converting the object: %w", err)
	}
	to.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{Group: "backup.example.com", Version: arguments[0], Kind: "Backup"})
	converted, err := yaml.Marshal(to)
	if err != nil {
		return fmt.Errorf("writing the object: %w", err)
	}
	fmt.Fprint(os.Stdout, string(converted))
	return nil
}
