/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package zoo runs assign-gen on multi-version APIs of other projects.
//
// Each folder of testdata is one API. Its api.yaml names the packages and kinds, and the markers that the API's authors would write. A test
// copies the Go types from the module cache into a temporary project, adds the markers and the hand-written files of the folder, runs
// assign-gen, compiles the result, and runs the generated tests. Types are copied as they are: an API that assign-gen cannot convert needs a
// change of assign-gen.
//
//	testdata/NAME/api.yaml                packages, kinds, markers
//	testdata/NAME/zoo.mod, zoo.sum        go.mod and go.sum of the project; each API pins its own dependencies
//	testdata/NAME/VERSION/storage/*.go    hooks, in the folders in which assign-gen expects them
//	testdata/NAME/roundtrip/*_test.go     random values that the hooks need
//	testdata/NAME/upstream                a program that calls the conversions of the other project; testdata/kubernetes is one for several APIs
//	testdata/NAME/objects.yaml            hand-made objects, as kubectl takes them: at least one of each kind and version
//	testdata/NAME/former                  hooks and markers that read annotations of the other project, and that other tests do without
//	testdata/NAME/differences.yaml        each difference from these conversions, with its reason
//
// The test converts 1,000 random objects of each kind, and the hand-made ones, from each version to each other one and back, and expects the same
// objects, shown alike by the versions. Conversions of the other project convert the random ones: each difference has to be in differences.yaml, and
// each entry there needs an object that confirms it. Objects that these conversions stored with values in annotations are read by hooks. The page
// docs/reference/conversion-zoo.md is generated from these files.
package zoo
