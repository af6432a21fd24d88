/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kind

import (
	"errors"
	"fmt"
	"path"
	"reflect"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
)

// builtIn is a namespaced kind that has a Go type, a client and an informer.
type builtIn struct {
	Kind, Group, Version string
	// Import and Alias are those of the package of the Go type.
	Import, Alias string
	// Accessor and Getter are the methods of the clientset, such as AppsV1 and Deployments.
	Accessor, Getter string
	// Folder is the path of group and version in generated packages, such as apps/v1.
	Folder string
	// OwnGroup marks a kind of this operator.
	OwnGroup bool
}

// Type is the Go type with its package.
func (b builtIn) Type() string { return b.Alias + "." + b.Kind }

// Plural is the name of the resource.
func (b builtIn) Plural() string { return strings.ToLower(b.Getter) }

// Kinds is the plural of the kind.
func (b builtIn) Kinds() string { return b.Getter }

// Lower is the kind in lower case, as kubectl accepts it.
func (b builtIn) Lower() string { return strings.ToLower(b.Kind) }

// Upper is the kind as a column's title.
func (b builtIn) Upper() string { return strings.ToUpper(b.Kind) }

// JSON is the kind as the beginning of a field's name.
func (b builtIn) JSON() string { return strings.ToLower(b.Kind[:1]) + b.Kind[1:] }

// Singular is the resource as kubectl prints it.
func (b builtIn) Singular() string {
	if b.Group == "" {
		return b.Lower()
	}
	return b.Lower() + "." + b.Group
}

// gvkPattern matches an API version and a kind, such as v1.Service and apps/v1.Deployment.
var gvkPattern = regexp.MustCompile(`^(?:([a-z0-9.-]+)/)?(v[0-9]+(?:(?:alpha|beta)[0-9]+)?)\.([A-Z][A-Za-z0-9]*)$`)

func parseGVK(text string) (schema.GroupVersionKind, error) {
	parts := gvkPattern.FindStringSubmatch(text)
	if parts == nil {
		return schema.GroupVersionKind{}, errors.New("must be VERSION.KIND or GROUP/VERSION.KIND, such as v1.Service or apps/v1.Deployment")
	}
	return schema.GroupVersionKind{Group: parts[1], Version: parts[2], Kind: parts[3]}, nil
}

// findBuiltIn returns a namespaced kind of Kubernetes.
func findBuiltIn(gvk schema.GroupVersionKind) (builtIn, error) {
	object, err := scheme.Scheme.New(gvk)
	if err != nil {
		return builtIn{}, fmt.Errorf("%s is not a kind of Kubernetes at %s", gvk.Kind, gvk.GroupVersion())
	}
	goType := reflect.TypeOf(object)
	clients := reflect.TypeFor[kubernetes.Interface]()
	for accessor := range clients.Methods() {
		if accessor.Type.NumOut() != 1 || accessor.Type.Out(0).Kind() != reflect.Interface {
			continue
		}
		for getter := range accessor.Type.Out(0).Methods() {
			if getter.Type.NumOut() != 1 || getter.Type.Out(0).Kind() != reflect.Interface {
				continue
			}
			get, ok := getter.Type.Out(0).MethodByName("Get")
			if !ok || get.Type.NumOut() != 2 || get.Type.Out(0) != goType {
				continue
			}
			if getter.Type.NumIn() != 1 {
				return builtIn{}, fmt.Errorf("%s is cluster-scoped, and objects of this operator are namespaced", gvk.Kind)
			}
			pkg := goType.Elem().PkgPath()
			group := path.Base(path.Dir(pkg))
			return builtIn{
				Kind: gvk.Kind, Group: gvk.Group, Version: gvk.Version, Import: pkg, Alias: group + gvk.Version,
				Accessor: accessor.Name, Getter: getter.Name, Folder: group + "/" + gvk.Version,
			}, nil
		}
	}
	return builtIn{}, fmt.Errorf("client-go has no client for %s at %s", gvk.Kind, gvk.GroupVersion())
}
