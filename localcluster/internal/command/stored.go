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
			if dir == "" {
				return errors.New("--dir is missing: it is the folder of the cluster, in which its kubeconfig lies")
			}
			// The path of a Unix socket has to be short.
			if err := os.Chdir(dir); err != nil {
				return runError{fmt.Errorf("--dir: %w", err)}
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), storedTimeout)
			defer cancel()
			if err := etcd.Runs(ctx); err != nil {
				return runError{fmt.Errorf("--dir %s: %w", dir, err)}
			}
			entries, err := etcd.Read(ctx, args[0])
			if err != nil {
				return runError{err}
			}
			encoder := json.NewEncoder(stdout)
			for _, entry := range entries {
				if err := encoder.Encode(entry); err != nil {
					return runError{fmt.Errorf("printing an entry: %w", err)}
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "folder of the cluster's files, which runs")
	return cmd
}
