/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controlplane

// The program that the tests build is a small one, in a module like the real one: with its requirements, and therefore
// its linker flags. The real one is built by every other test that uses a cluster.
const (
	smallMain = `package main

import "fmt"

var greeting = "hello"

func main() { fmt.Println(greeting) }
`
	smallMod = `module example.com/localcluster

go 1.26.0

require k8s.io/kubernetes v1.35.4
`
)
