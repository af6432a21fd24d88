/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cluster

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime/debug"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/mallard-dev/mallard/localcluster/internal/crash"
)

// logName is the name of the components' log within the cluster's folder.
const logName = "localcluster.log"

// logs is where all components write to, so that the terminal only shows what people need.
type logs struct {
	file  *os.File
	crash *crash.Reporter
	etcd  *zap.Logger
}

// openLogs diverts the logs of all components, for the rest of the process's life, to the log file. klog and others write
// to os.Stderr as it is at that moment, which is why that variable is exchanged; the file descriptor behind it stays, and
// with it the place where the Go runtime writes the trace of a panic.
func openLogs(dir string) (*logs, error) {
	path := filepath.Join(dir, logName)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the components' log: %w", err)
	}
	os.Stderr = file
	log.SetOutput(file)
	if err := debug.SetCrashOutput(file, debug.CrashOptions{}); err != nil {
		return nil, fmt.Errorf("sending traces to the components' log: %w", err)
	}
	reporter := crash.NewReporter(path)
	reporter.HookKlog()
	encoder := zap.NewProductionEncoderConfig()
	encoder.EncodeTime = zapcore.ISO8601TimeEncoder
	core := zapcore.NewCore(zapcore.NewConsoleEncoder(encoder), zapcore.AddSync(file), zapcore.InfoLevel)
	return &logs{
		file:  file,
		crash: reporter,
		etcd:  zap.New(core, zap.WithFatalHook(reporter.ZapHook("etcd"))).Named("etcd"),
	}, nil
}
