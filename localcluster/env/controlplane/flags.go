/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controlplane

// CompilerFlags returns the flags for the go command with which everything is compiled that runs on this machine. The go command keeps packages
// apart by flags, so that a package is compiled once only if all builds pass the same ones. Nothing is debugged, so that no package needs DWARF.
// The clients, the conversions and kubectl are large and rarely executed: they are compiled without inlining, which is faster.
func CompilerFlags() []string {
	flags := []string{"-gcflags=all=-dwarf=false"}
	for _, rarelyExecuted := range []string{
		"k8s.io/client-go/kubernetes/...", "k8s.io/client-go/informers/...", "k8s.io/client-go/listers/...", "k8s.io/client-go/applyconfigurations/...",
		"k8s.io/kubernetes/...", "k8s.io/kubectl/...",
	} {
		flags = append(flags, "-gcflags="+rarelyExecuted+"=-dwarf=false -l")
	}
	return flags
}
