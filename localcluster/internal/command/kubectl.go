/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package command

import (
	"os"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
)

func newKubectl() *cobra.Command {
	return &cobra.Command{
		Use:                "kubectl",
		Short:              "Run the kubectl that is linked in (it reads KUBECONFIG, as kubectl does)",
		DisableFlagParsing: true,
		Run: func(_ *cobra.Command, args []string) {
			// kubectl looks at os.Args itself: for its log verbosity and for plugins.
			os.Args = append([]string{"kubectl"}, args...)
			// An unreadable verbosity is reported by kubectl's own parsing of the same flag.
			_, _ = logs.GlogSetter(kubectl.GetLogVerbosity(os.Args))
			if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
				kubectlutil.CheckErr(err)
			}
		},
	}
}
