/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package command

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	etcdversion "go.etcd.io/etcd/api/v3/version"
	"k8s.io/component-base/version"
)

func newVersion(stdout io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of Kubernetes and etcd that are linked in",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(stdout, "Kubernetes %s\netcd v%s\n", version.Get().GitVersion, etcdversion.Version)
			if err != nil {
				return runError{fmt.Errorf("printing the version: %w", err)}
			}
			return nil
		},
	}
}
