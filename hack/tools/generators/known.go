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
	"deepcopy-gen": func(flags *pflag.FlagSet) func(*invocation) error {
		args := deepcopyargs.New()
		args.AddFlags(flags)
		return func(i *invocation) error {
			i.systems, i.system = deepcopy.NameSystems(), deepcopy.DefaultNameSystem()
			i.targets = func(c *generator.Context) []generator.Target { return deepcopy.GetTargets(c, args) }
			return args.Validate()
		}
	},
	"register-gen": func(flags *pflag.FlagSet) func(*invocation) error {
		args := registerargs.New()
		args.AddFlags(flags)
		return func(i *invocation) error {
			i.systems, i.system = register.NameSystems(), register.DefaultNameSystem()
			i.targets = func(c *generator.Context) []generator.Target { return register.GetTargets(c, args) }
			return args.Validate()
		}
	},
	"applyconfiguration-gen": func(flags *pflag.FlagSet) func(*invocation) error {
		args := applyargs.New()
		args.AddFlags(flags, "")
		return func(i *invocation) error {
			i.systems, i.system = apply.NameSystems(), apply.DefaultNameSystem()
			i.targets = func(c *generator.Context) []generator.Target { return apply.GetTargets(c, args) }
			return args.Validate()
		}
	},
	"client-gen": func(flags *pflag.FlagSet) func(*invocation) error {
		args := clientargs.New()
		args.AddFlags(flags, "")
		return func(i *invocation) error {
			for _, group := range args.Groups {
				for _, version := range group.Versions {
					i.packages = append(i.packages, version.Package)
				}
			}
			i.systems, i.system = client.NameSystems(util.PluralExceptionListToMapOrDie(args.PluralExceptions)), client.DefaultNameSystem()
			i.targets = func(c *generator.Context) []generator.Target { return client.GetTargets(c, args) }
			return args.Validate()
		}
	},
	"lister-gen": func(flags *pflag.FlagSet) func(*invocation) error {
		args := listerargs.New()
		args.AddFlags(flags)
		return func(i *invocation) error {
			i.systems, i.system = lister.NameSystems(util.PluralExceptionListToMapOrDie(args.PluralExceptions)), lister.DefaultNameSystem()
			i.targets = func(c *generator.Context) []generator.Target { return lister.GetTargets(c, args) }
			return args.Validate()
		}
	},
	"informer-gen": func(flags *pflag.FlagSet) func(*invocation) error {
		args := informerargs.New()
		args.AddFlags(flags)
		return func(i *invocation) error {
			i.systems, i.system = informer.NameSystems(util.PluralExceptionListToMapOrDie(args.PluralExceptions)), informer.DefaultNameSystem()
			i.targets = func(c *generator.Context) []generator.Target { return informer.GetTargets(c, args) }
			return args.Validate()
		}
	},
	"injection-gen": func(flags *pflag.FlagSet) func(*invocation) error {
		args := injectionargs.New()
		args.AddFlags(flags)
		return func(i *invocation) error {
			i.packages = args.InputDirs
			i.systems = injectionnamer.NameSystems(util.PluralExceptionListToMapOrDie(args.PluralExceptions))
			i.system = injectionnamer.DefaultNameSystem()
			i.targets = func(c *generator.Context) []generator.Target { return injection.Targets(c, args) }
			return args.Validate()
		}
	},
}
