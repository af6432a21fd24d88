/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cluster

import (
	"fmt"
	"os"
	"path/filepath"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/mallard-dev/mallard/localcluster/internal/crash"
	"github.com/mallard-dev/mallard/localcluster/internal/stdio"
)

// logName is the name of the components' log within the cluster's folder.
const logName = "localcluster.log"

// logs receives the logs of all components, so that the terminal only shows the output that users need.
type logs struct {
	path  string
	crash *crash.Reporter
	etcd  *zap.Logger
}

// openLogs diverts the logs of all components, for the rest of the process's life, to the log file: klog, the standard
// logger and etcd's client write to standard error, and etcd gets a logger.
func openLogs(dir string, kept *os.File) (*logs, error) {
	path := filepath.Join(dir, logName)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the components' log: %w", err)
	}
	if err := stdio.Divert(file, kept); err != nil {
		return nil, err
	}
	reporter := crash.NewReporter(path)
	reporter.HookKlog()
	encoder := zap.NewProductionEncoderConfig()
	encoder.EncodeTime = zapcore.ISO8601TimeEncoder
	core := zapcore.NewCore(zapcore.NewConsoleEncoder(encoder), zapcore.AddSync(file), zapcore.InfoLevel)
	return &logs{
		path:  path,
		crash: reporter,
		etcd:  zap.New(core, zap.WithFatalHook(reporter.ZapHook("etcd"))).Named("etcd"),
	}, nil
}
