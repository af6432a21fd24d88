/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Generators runs several generators of k8s.io/code-generator and knative.dev/pkg in one process. As separate programs, each of them loads the
// types and all that they import from source, which takes nearly all of its time; in one process, they load them once. hack/update-codegen.sh
// calls it.
//
// Each generator has the name, the flags and the arguments of its program, and "--" separates it from the next. A generator sees only the packages
// that it is given:
//
//	generators deepcopy-gen --output-file zz_generated.deepcopy.go ./apis/... -- lister-gen --output-pkg example.com/listers ./apis/v1
package main
