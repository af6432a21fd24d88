/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kind

import "strings"

// child is a kind of Kubernetes that a new kind can own.
type child struct {
	Kind, Group, Version string
	// Package is the path of its group and version in packages of types, listers and informers, and Alias the name of the package of the type.
	Package, Alias string
	// Accessor and Kinds are the methods of the clientset, such as AppsV1 and Deployments.
	Accessor, Kinds string
	// Purpose completes the sentence that begins with the new kind.
	Purpose string
	Field   field
	// Content is the field of the child's type that is set, and Value its value, in which o is the object.
	Content, Value string
	// Drift is a statement that changes the child c, and Patch a merge patch that changes its field at Path.
	Drift, Patch, Path string
	// Rollout adds the number of replicas to the spec, and has the object wait for the rollout.
	Rollout bool
	// External marks an object of a service outside of the cluster, which has only Kind, Purpose and Field.
	External bool
}

// field is the field of the spec that a child is made from.
type field struct {
	Name, JSON, Description string
	// Default and Sample are values that are admitted, Other is a third one.
	Default, Sample, Other string
	// Pattern is the regular expression of valid values, and Rule explains it. Invalid is a YAML value that it does not match.
	Pattern, Rule, Invalid string
}

var message = field{
	Name: "Message", JSON: "message", Description: "Text that is published.", Default: "Hello", Sample: "Good morning", Other: "Good evening",
	Pattern: `^[^\r\n]*$`, Rule: "The message is one line.", Invalid: `"two\nlines"`,
}

// children are the kinds that a new kind can own, by API version and kind.
var children = map[string]child{
	"v1.ConfigMap": {
		Kind: "ConfigMap", Version: "v1", Package: "core/v1", Alias: "corev1", Accessor: "CoreV1", Kinds: "ConfigMaps",
		Purpose: "publishes its message in a ConfigMap.",
		Field:   message,
		Content: "Data", Value: `map[string]string{"message": o.Spec.Message}`,
		Drift: `c.Data = map[string]string{"message": "changed"}`, Patch: `{"data": {"message": "changed"}}`, Path: "data.message",
	},
	"apps/v1.Deployment": {
		Kind: "Deployment", Group: "apps", Version: "v1", Package: "apps/v1", Alias: "appsv1", Accessor: "AppsV1", Kinds: "Deployments",
		Purpose: "runs its image by a Deployment.",
		Field: field{
			Name: "Image", JSON: "image", Description: "Image that the container of each Pod runs.",
			Default: "registry.k8s.io/pause:3.10", Sample: "registry.k8s.io/pause:3.9", Other: "example.com/other",
			Pattern: `^\S+$`, Rule: "An image contains no white space.", Invalid: "an image",
		},
		Content: "Spec", Value: `appsv1.DeploymentSpec{
			Replicas: o.Spec.Replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: o.Spec.Image}}},
			},
		}`,
		Drift: `c.Spec.Template.Spec.Containers[0].Image = "changed"`, Patch: `{"spec": {"replicas": 3}}`, Path: "spec.replicas", Rollout: true,
	},
	"external": {Kind: "Remote", Purpose: "keeps its message in a service outside of the cluster.", Field: message, External: true},
}

// Type is the Go type with its package.
func (c child) Type() string { return c.Alias + "." + c.Kind }

// Import is the import of that package.
func (c child) Import() string { return c.Alias + ` "k8s.io/api/` + c.Package + `"` }

// Plural is the name of the resource.
func (c child) Plural() string { return strings.ToLower(c.Kinds) }

// Lower is the kind in lower case, as kubectl accepts it.
func (c child) Lower() string { return strings.ToLower(c.Kind) }

// Upper is the kind as a column's title.
func (c child) Upper() string { return strings.ToUpper(c.Kind) }

// JSON is the kind as the beginning of a field's name.
func (c child) JSON() string { return strings.ToLower(c.Kind[:1]) + c.Kind[1:] }

// Singular is the resource as kubectl prints it.
func (c child) Singular() string { return strings.TrimSuffix(c.Lower()+"."+c.Group, ".") }

// PathArgs are the steps of Path as arguments of a Go function.
func (c child) PathArgs() string { return `"` + strings.ReplaceAll(c.Path, ".", `", "`) + `"` }
