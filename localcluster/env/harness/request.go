/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Request describes a request to the API server, in the terms of its authorizer and of its metrics.
type Request struct {
	// Verb is get, list, watch, create, update, patch, delete or deletecollection; for a path that is no resource, the
	// HTTP method in lower case.
	Verb string
	// Group is the API group, empty for the core group.
	Group string
	// Resource and Subresource are plural names in lower case; Resource is empty for a path that is no resource.
	Resource, Subresource string
	// Namespace and Name are empty where the request has none.
	Namespace, Name string
	// Path is the path of the URL.
	Path string
}

// Match reports whether a request is selected.
type Match func(Request) bool

// Matching matches a verb and a resource, the latter with its subresource behind a slash, such as "services" or
// "deployments/status". An asterisk stands for any verb, or for any resource.
func Matching(verb, resource string) Match {
	name, subresource, _ := strings.Cut(resource, "/")
	return func(r Request) bool {
		return (verb == "*" || verb == r.Verb) && (resource == "*" || r.Resource == name && r.Subresource == subresource)
	}
}

// And matches what both match.
func (m Match) And(other Match) Match { return func(r Request) bool { return m(r) && other(r) } }

// InNamespace matches requests in one namespace.
func InNamespace(namespace string) Match {
	return func(r Request) bool { return r.Namespace == namespace }
}

// namespaceSubresources are subresources of a Namespace; anything else behind its name is a resource in it.
var namespaceSubresources = []string{"status", "finalize"}

// requestOf reads a request as the API server does.
func requestOf(method string, u *url.URL) Request {
	r := Request{Verb: strings.ToLower(method), Path: u.Path}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		r.Group, parts = parts[1], parts[3:]
	default:
		return r
	}
	if len(parts) >= 3 && parts[0] == "namespaces" && !slices.Contains(namespaceSubresources, parts[2]) {
		r.Namespace, parts = parts[1], parts[2:]
	} else if len(parts) >= 2 && parts[0] == "namespaces" {
		r.Namespace = parts[1]
	}
	for i, field := range []*string{&r.Resource, &r.Name, &r.Subresource} {
		if i < len(parts) {
			*field = parts[i]
		}
	}
	r.Verb = verbOf(method, u.Query(), r.Name != "")
	return r
}

func verbOf(method string, query url.Values, named bool) string {
	switch method {
	case http.MethodGet, http.MethodHead:
		switch {
		case query.Get("watch") == "true" || query.Get("watch") == "1":
			return "watch"
		case named:
			return "get"
		default:
			return "list"
		}
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodDelete:
		if !named {
			return "deletecollection"
		}
	}
	return strings.ToLower(method)
}
