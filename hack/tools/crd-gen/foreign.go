/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// Import paths of the packages whose types our kinds embed or refer to.
const (
	metav1Path  = "k8s.io/apimachinery/pkg/apis/meta/v1"
	apisPath    = "knative.dev/pkg/apis"
	duckv1Path  = "knative.dev/pkg/apis/duck/v1"
	trackerPath = "knative.dev/pkg/tracker"
)

// Upper bounds of strings whose writer is another controller, or whose parts are. They are far above what is ever
// needed, and are there so that no object can be filled up to etcd's limit and so that CEL can estimate its costs.
const (
	maxURL         int64 = 8192
	maxTime        int64 = 20
	maxMessage     int64 = 32768
	maxReason      int64 = 1024
	maxCACerts     int64 = 262144
	maxAudience    int64 = 2048
	maxName        int64 = 253
	maxLabelName   int64 = 63
	maxQualified   int64 = maxName + 1 + maxLabelName
	maxAnnotation  int64 = 4096
	maxAnnotations int64 = 64
	maxConditions  int64 = 32
	maxAddresses   int64 = 64
	maxSelectors   int64 = 32
)

type (
	schema     = apiextensionsv1.JSONSchemaProps
	properties = map[string]schema
)

// foreignSchemas are the schemas of types that other modules declare, by import path and type name. Their texts have to
// be true of every kind that uses the type.
var foreignSchemas = map[string]map[string]schema{
	metav1Path: {
		"TypeMeta": {Type: "object", Properties: properties{
			"apiVersion": {Type: "string", Description: "API group and version that this object is written in."},
			"kind":       {Type: "string", Description: "Kind of this object, in CamelCase."},
		}},
		"LabelSelector": labelSelectorSchema,
	},
	trackerPath: {
		"Reference": trackerReferenceSchema,
	},
	apisPath: {
		"URL":          urlSchema,
		"VolatileTime": timeSchema,
		"Condition":    conditionSchema,
	},
	duckv1Path: {
		"Conditions": {
			Type: "array", MaxItems: new(maxConditions), Items: itemsOf(conditionSchema),
			XListType: new("map"), XListMapKeys: []string{"type"},
		},
		"Status":        statusSchema,
		"Addressable":   addressableSchema,
		"AddressStatus": addressStatusSchema,
		"KReference":    kReferenceSchema,
	},
}

// What a schema accepts, the Go types have to be able to read, and to write again as it was: an object of which they cannot
// would keep everybody from listing its kind at another version. So a URL is one that net/url can parse, which the format stands
// for in the parts that requests have. The pattern is for the others: an authority without a scheme, and the fragment.
var urlSchema = schema{
	Type: "string", Format: "uri", MaxLength: new(maxURL),
	Pattern: `^/?([^/#][^#]*)?(#([^%]|%[0-9A-Fa-f]{2})*)?$`,
}

// Times are as metav1.Time writes them, which is narrower than the format: whole seconds, UTC, none of the letters in lower
// case. The year one is the zero time, which is written as null.
var timeSchema = schema{
	Type: "string", Format: "date-time", MaxLength: new(maxTime),
	Pattern: `^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`,
}

var conditionSchema = schema{
	Type:        "object",
	Description: "One aspect of the object's state.",
	Required:    []string{"status", "type"},
	Properties: properties{
		"type": {
			Type: "string", MinLength: new(int64(1)), MaxLength: new(maxQualified),
			Pattern:     `^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`,
			Description: "Name of the aspect, in CamelCase. Ready, or Succeeded where the work has an end, sums up the others.",
		},
		"status": {
			Type: "string", Enum: enum("True", "False", "Unknown"),
			Description: "Whether the aspect is as it should be. Unknown says that this is still being found out.",
		},
		"severity": {
			Type: "string", Enum: enum("", "Info", "Warning"),
			Description: "How bad it is when the status is False. An error when left out: only an error keeps the whole from being ready.",
		},
		"reason": {
			Type: "string", MaxLength: new(maxReason),
			Description: "One CamelCase word for why the condition has its status, for programs to compare.",
		},
		"message": {
			Type: "string", MaxLength: new(maxMessage),
			Description: "A sentence for people that says the same as the reason, with the particulars.",
		},
		"lastTransitionTime": withDescription(timeSchema, "When the condition last changed in anything but this time."),
	},
}

var statusSchema = schema{
	Type: "object",
	Properties: properties{
		"observedGeneration": {
			Type: "integer", Format: "int64", Minimum: new(0.0),
			Description: "The metadata.generation that this status was made from. While it is the smaller one, the status is out of date.",
		},
		"conditions": {
			Type: "array", MaxItems: new(maxConditions), Items: itemsOf(conditionSchema),
			XListType: new("map"), XListMapKeys: []string{"type"},
			Description: "What is known of the object's state, one entry for each aspect.",
		},
		"annotations": {
			Type: "object", MaxProperties: new(maxAnnotations),
			AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{
				Allows: true, Schema: &schema{Type: "string", MaxLength: new(maxAnnotation)},
			},
			Description: "Further facts that the controller wants to pass on, by qualified name.",
		},
	},
}

var addressableSchema = schema{
	Type:        "object",
	Description: "One address at which the object can be reached.",
	Properties: properties{
		"name": {
			Type: "string", MaxLength: new(maxName),
			Description: "Tells this address from the others of the same object.",
		},
		"url": withDescription(urlSchema, "Where requests are sent to."),
		"CACerts": {
			Type: "string", MaxLength: new(maxCACerts),
			Description: "Certificates in PEM form by which a client can verify the server, where the system's own do not.",
		},
		"audience": {
			Type: "string", MaxLength: new(maxAudience),
			Description: "OpenID Connect audience that a client's token has to name.",
		},
	},
}

var addressStatusSchema = schema{
	Type: "object",
	Properties: properties{
		"address": withDescription(addressableSchema,
			"The address for clients that want one. It is absent while the object cannot be reached."),
		"addresses": {
			Type: "array", MaxItems: new(maxAddresses), Items: itemsOf(addressableSchema), XListType: new("atomic"),
			Description: "Every address, for clients that can choose between them. Such a client ignores status.address.",
		},
	},
}

var kReferenceSchema = schema{
	Type:        "object",
	Description: "Names another object.",
	Required:    []string{"kind", "name"},
	Properties: properties{
		"apiVersion": {
			Type: "string", MaxLength: new(maxQualified),
			Description: "API group and version of the object that is referred to.",
		},
		"group": {
			Type: "string", MaxLength: new(maxName),
			Description: "API group of the object that is referred to, in place of apiVersion; the version is then looked up.",
		},
		"kind": {
			Type: "string", MinLength: new(int64(1)), MaxLength: new(maxLabelName),
			Description: "Kind of the object that is referred to.",
		},
		"namespace": {
			Type: "string", MaxLength: new(maxLabelName),
			Description: "Namespace of the object that is referred to. When left out, that of the object that holds the reference.",
		},
		"name": {
			Type: "string", MinLength: new(int64(1)), MaxLength: new(maxName),
			Description: "Name of the object that is referred to.",
		},
		"address": {
			Type: "string", MaxLength: new(maxName),
			Description: "Which of the object's named addresses is meant.",
		},
	},
}

var labelSelectorSchema = schema{
	Type:        "object",
	Description: "Selects objects by their labels: those that meet all of what is said here.",
	XMapType:    new("atomic"),
	Properties: properties{
		"matchLabels": {
			Type: "object", MaxProperties: new(maxSelectors),
			AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{
				Allows: true, Schema: &schema{Type: "string", MaxLength: new(maxLabelName), Pattern: labelValue},
			},
			Description: "Labels, with the value of each.",
		},
		"matchExpressions": {
			Type: "array", MaxItems: new(maxSelectors), XListType: new("atomic"),
			Description: "Conditions on one label each.",
			Items: itemsOf(schema{
				Type: "object", Required: []string{"key", "operator"},
				Properties: properties{
					"key": {
						Type: "string", MinLength: new(int64(1)), MaxLength: new(maxQualified),
						Description: "The label that the condition is about.",
					},
					"operator": {
						Type: "string", Enum: enum("In", "NotIn", "Exists", "DoesNotExist"),
						Description: "How the label's value relates to the values given.",
					},
					"values": {
						Type: "array", MaxItems: new(maxSelectors), XListType: new("atomic"),
						Items:       itemsOf(schema{Type: "string", MaxLength: new(maxLabelName), Pattern: labelValue}),
						Description: "The values for In and NotIn, of which there is at least one; none for Exists and DoesNotExist.",
					},
				},
			}),
		},
	},
}

// labelValue is what Kubernetes lets a label have as its value.
const labelValue = `^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$`

var trackerReferenceSchema = schema{
	Type:        "object",
	Description: "Names an object, or selects objects of a kind.",
	Properties: properties{
		"apiVersion": {
			Type: "string", MaxLength: new(maxQualified),
			Pattern:     `^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[a-z]([-a-z0-9]{0,61}[a-z0-9])?$`,
			Description: "API group and version of the objects, for example apps/v1.",
		},
		"kind": {
			Type: "string", MaxLength: new(maxLabelName), Pattern: `^[A-Za-z][A-Za-z0-9]*$`,
			Description: "Kind of the objects, for example Deployment.",
		},
		"namespace": {
			Type: "string", MaxLength: new(maxLabelName), Pattern: `^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`,
			Description: "Namespace of the objects. When left out, that of the object that holds the reference.",
		},
		"name": {
			Type: "string", MaxLength: new(maxName), Pattern: `^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`,
			Description: "Name of the object, if one is meant.",
		},
		"selector": withDescription(labelSelectorSchema, "Labels of the objects, if all that have them are meant."),
	},
}

// overrideForeignTypes makes the parser use foreignSchemas, and what controller-tools itself knows of other modules'
// types, in place of their declarations. The set that it returns holds these types once the parser has met them.
func overrideForeignTypes(parser *crd.Parser) map[crd.TypeIdent]bool {
	known := make(map[crd.TypeIdent]bool)
	for path := range foreignSchemas {
		if _, ok := parser.PackageOverrides[path]; !ok {
			parser.PackageOverrides[path] = func(p *crd.Parser, pkg *loader.Package) { p.AddPackage(pkg) }
		}
	}
	for path, standard := range parser.PackageOverrides {
		parser.PackageOverrides[path] = func(p *crd.Parser, pkg *loader.Package) {
			standard(p, pkg)
			for name, schema := range foreignSchemas[path] {
				p.Schemata[crd.TypeIdent{Package: pkg, Name: name}] = *schema.DeepCopy()
			}
			for ident := range p.Schemata {
				if ident.Package == pkg {
					known[ident] = true
				}
			}
		}
	}
	return known
}

func itemsOf(item schema) *apiextensionsv1.JSONSchemaPropsOrArray {
	return &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &item}
}

func withDescription(s schema, description string) schema {
	s.Description = description
	return s
}

func enum(values ...string) []apiextensionsv1.JSON {
	list := make([]apiextensionsv1.JSON, 0, len(values))
	for _, value := range values {
		list = append(list, apiextensionsv1.JSON{Raw: []byte(`"` + value + `"`)})
	}
	return list
}
