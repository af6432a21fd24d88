/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/mallard-dev/mallard/localcluster/internal/etcd"
)

// storedTimeout bounds how long etcd may take to answer. Without it, the wait for one that hangs would have no end.
const storedTimeout = 10 * time.Second

func newStored(stdout io.Writer) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "stored --dir DIR PREFIX",
		Short: "Print what the etcd of a running cluster holds for the keys that begin with PREFIX, one JSON object a line",
		Long: "Print what the etcd of a running cluster holds for the keys that begin with PREFIX, such as\n" +
			"/registry/GROUP/RESOURCE/NAMESPACE/NAME, one JSON object a line: key, revision of the last write, and the value\n" +
			"in base64, byte for byte as the API server wrote it.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withEtcd(cmd.Context(), dir, func(ctx context.Context) error {
				entries, err := etcd.Read(ctx, args[0])
				if err != nil {
					return fmt.Errorf("reading what is stored: %w", err)
				}
				encoder := json.NewEncoder(stdout)
				for _, entry := range entries {
					if err := encoder.Encode(entry); err != nil {
						return fmt.Errorf("printing an entry: %w", err)
					}
				}
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "folder of the cluster's files, which runs")
	return cmd
}

func newCompact() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "compact --dir DIR",
		Short: "Remove all revisions but the current one from the etcd of a running cluster",
		Long: "Remove all revisions but the current one from the etcd of a running cluster, as an API server does with those\n" +
			"that are older than five minutes. A watch or a list of an older revision that the watch cache does not have is\n" +
			"then answered with 410 Gone.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return withEtcd(cmd.Context(), dir, etcd.Compact) },
	}
	cmd.Flags().StringVar(&dir, "dir", "", "folder of the cluster's files, which runs")
	return cmd
}

// withEtcd calls a function with the folder of a running cluster as the working directory.
func withEtcd(ctx context.Context, dir string, do func(context.Context) error) error {
	if dir == "" {
		return errors.New("--dir is missing: it is the folder of the cluster, in which its kubeconfig lies")
	}
	// The path of a Unix socket has to be short.
	if err := os.Chdir(dir); err != nil {
		return runError{fmt.Errorf("--dir: %w", err)}
	}
	ctx, cancel := context.WithTimeout(ctx, storedTimeout)
	defer cancel()
	if err := etcd.Runs(ctx); err != nil {
		return runError{fmt.Errorf("--dir %s: %w", dir, err)}
	}
	if err := do(ctx); err != nil {
		return runError{err}
	}
	return nil
}
