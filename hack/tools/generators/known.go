/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"github.com/spf13/pflag"
	applyargs "k8s.io/code-generator/cmd/applyconfiguration-gen/args"
	apply "k8s.io/code-generator/cmd/applyconfiguration-gen/generators"
	clientargs "k8s.io/code-generator/cmd/client-gen/args"
	client "k8s.io/code-generator/cmd/client-gen/generators"
	deepcopyargs "k8s.io/code-generator/cmd/deepcopy-gen/args"
	deepcopy "k8s.io/code-generator/cmd/deepcopy-gen/generators"
	informerargs "k8s.io/code-generator/cmd/informer-gen/args"
	informer "k8s.io/code-generator/cmd/informer-gen/generators"
	listerargs "k8s.io/code-generator/cmd/lister-gen/args"
	lister "k8s.io/code-generator/cmd/lister-gen/generators"
	registerargs "k8s.io/code-generator/cmd/register-gen/args"
	register "k8s.io/code-generator/cmd/register-gen/generators"
	"k8s.io/code-generator/pkg/util"
	"k8s.io/gengo/v2/generator"

	injectionargs "knative.dev/pkg/codegen/cmd/injection-gen/args"
	injection "knative.dev/pkg/codegen/cmd/injection-gen/generators"
	injectionnamer "knative.dev/pkg/codegen/cmd/injection-gen/namer"
)

// known declares the flags of each generator. The function that it returns completes an invocation when they are parsed, as the program's main does.
var known = map[string]func(*pflag.FlagSet) func(*invocation) error{
	"deepcopy-gen": generatorOf(deepcopyargs.New, (*deepcopyargs.Args).AddFlags, deepcopy.GetTargets, func(_ *deepcopyargs.Args, i *invocation) {
		i.systems, i.system = deepcopy.NameSystems(), deepcopy.DefaultNameSystem()
	}),
	"register-gen": generatorOf(registerargs.New, (*registerargs.Args).AddFlags, register.GetTargets, func(_ *registerargs.Args, i *invocation) {
		i.systems, i.system = register.NameSystems(), register.DefaultNameSystem()
	}),
	"applyconfiguration-gen": generatorOf(applyargs.New, func(args *applyargs.Args, flags *pflag.FlagSet) { args.AddFlags(flags, "") }, apply.GetTargets,
		func(_ *applyargs.Args, i *invocation) {
			i.systems, i.system = apply.NameSystems(), apply.DefaultNameSystem()
		}),
	"client-gen": generatorOf(clientargs.New, func(args *clientargs.Args, flags *pflag.FlagSet) { args.AddFlags(flags, "") }, client.GetTargets,
		func(args *clientargs.Args, i *invocation) {
			for _, group := range args.Groups {
				for _, version := range group.Versions {
					i.packages = append(i.packages, version.Package)
				}
			}
			i.systems, i.system = client.NameSystems(util.PluralExceptionListToMapOrDie(args.PluralExceptions)), client.DefaultNameSystem()
		}),
	"lister-gen": generatorOf(listerargs.New, (*listerargs.Args).AddFlags, lister.GetTargets, func(args *listerargs.Args, i *invocation) {
		i.systems, i.system = lister.NameSystems(util.PluralExceptionListToMapOrDie(args.PluralExceptions)), lister.DefaultNameSystem()
	}),
	"informer-gen": generatorOf(informerargs.New, (*informerargs.Args).AddFlags, informer.GetTargets, func(args *informerargs.Args, i *invocation) {
		i.systems, i.system = informer.NameSystems(util.PluralExceptionListToMapOrDie(args.PluralExceptions)), informer.DefaultNameSystem()
	}),
	"injection-gen": generatorOf(injectionargs.New, (*injectionargs.Args).AddFlags, injection.Targets, func(args *injectionargs.Args, i *invocation) {
		i.packages = args.InputDirs
		i.systems, i.system = injectionnamer.NameSystems(util.PluralExceptionListToMapOrDie(args.PluralExceptions)), injectionnamer.DefaultNameSystem()
	}),
}

// generatorOf declares a generator by functions of its package. complete sets the name systems, and the packages unless these are the
// arguments without a flag.
func generatorOf[A interface{ Validate() error }](
	newArgs func() A, addFlags func(A, *pflag.FlagSet), targets func(*generator.Context, A) []generator.Target, complete func(A, *invocation),
) func(*pflag.FlagSet) func(*invocation) error {
	return func(flags *pflag.FlagSet) func(*invocation) error {
		args := newArgs()
		addFlags(args, flags)
		return func(i *invocation) error {
			complete(args, i)
			i.targets = func(c *generator.Context) []generator.Target { return targets(c, args) }
			return args.Validate()
		}
	}
}
