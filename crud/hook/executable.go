/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/mallard-dev/mallard/crud/internal/child"
	"github.com/mallard-dev/mallard/crud/operations"
)

// mostOfContexts bounds the binding contexts, so that a run needs less memory than the container has.
const mostOfContexts = 32 << 20

// Files of operations beyond largeFile are parsed one at a time, since the most expensive one needs most of the memory of the container.
const largeFile = 64 << 10

var parsing sync.Mutex

// The variables with the paths of the files of a run that other functions know.
const (
	contextVariable    = "BINDING_CONTEXT_PATH"
	operationsVariable = "KUBERNETES_OPERATION_PATH"
	metricsVariable    = "METRICS_PATH"
	responseVariable   = "ADMISSION_RESPONSE_PATH"
)

// files are the files in the folder of a run by variables. Those of shell-operator have other names, too.
var files = map[string]string{
	contextVariable: "binding_context.json", operationsVariable: "operations", metricsVariable: "metrics", responseVariable: "response.json",
	"KUBERNETES_PATCH_PATH": "operations", "VALIDATING_RESPONSE_PATH": "response.json", "CRUD_SH": "crud.sh",
}

//go:embed crud.sh
var functions []byte

type executable struct {
	path    string
	options Options
}

// terminateWithin is the time between SIGTERM and SIGKILL, and between the exit of a program and the end of its output, which others may hold open.
const terminateWithin = 2 * time.Second

// command returns the command of the executable, which is the leader of a process group. When ctx ends, the group receives SIGTERM, and SIGKILL after
// terminateWithin. If an ancestor of ctx ended, another process may lead, and the group receives SIGKILL at once.
func (x *executable) command(ctx context.Context, args ...string) (*exec.Cmd, error) {
	command := []string{x.path}
	if x.options.Command != nil {
		var err error
		if command, err = x.options.Command(x.path); err != nil {
			return nil, fmt.Errorf("finding the program that runs it: %w", err)
		}
	}
	cmd := exec.CommandContext(ctx, command[0], append(command[1:], args...)...) //nolint:gosec // hooks are programs of the user
	cmd.Dir, cmd.WaitDelay, cmd.SysProcAttr = filepath.Dir(x.path), terminateWithin, &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		signal := syscall.SIGKILL
		if cause := context.Cause(ctx); errors.Is(cause, errTimeout) || errors.Is(cause, errEnding) {
			signal = syscall.SIGTERM
		}
		_ = syscall.Kill(-cmd.Process.Pid, signal) // it fails if the group no longer exists
		return nil
	}
	return cmd, nil
}

// call runs the executable in a separate folder, and returns the operations that it wrote.
func (x *executable) call(ctx context.Context, run *Run) (file operations.File, err error) {
	folder, err := os.MkdirTemp(x.options.Folder, runFolder)
	if err != nil {
		return file, fmt.Errorf("creating the folder of the run: %w", err)
	}
	defer func() {
		if failure := removeAll(folder); failure != nil {
			run.Logger.Warnw("Removing the folder of a run failed", "error", failure)
		}
	}()
	// Changes of the folder's path by the hook do not affect the root.
	root, err := os.OpenRoot(folder)
	if err != nil {
		return file, fmt.Errorf("opening the folder of the run: %w", err)
	}
	defer root.Close() //nolint:errcheck // only read
	locked, err := lock(folder)
	if err != nil {
		return file, err
	}
	defer locked.Close() //nolint:errcheck // only read
	cmd, err := x.command(ctx)
	if err := errors.Join(err, prepare(root, run)); err != nil {
		return file, err
	}
	cmd.Env = append(os.Environ(), "CRUD_PROGRAM="+child.Executable(), "HOOK_TASK_ID="+run.Task, "TMPDIR="+folder)
	for variable, file := range files {
		cmd.Env = append(cmd.Env, variable+"="+filepath.Join(folder, file))
	}
	cmd.Stdout, cmd.Stderr = &run.printed, &run.printed
	ended := runGroup(ctx, cmd)
	killEscaped(marker(folder))
	if info, err := root.Stat(files[operationsVariable]); err == nil && info.Size() > largeFile {
		parsing.Lock()
		defer parsing.Unlock()
	}
	file, err = read(root, operationsVariable, "operations", operations.MostBytes, "syntax", operations.Parse)
	if n := len(run.printed.kept); err != nil && n > 0 {
		run.Logger.Warnw("The output of a hook is not shown, since its operations cannot be read: it may have values that they write", "bytes", n)
		run.printed = output{}
	}
	switch {
	case ended != nil || err != nil:
	case run.Contexts[0].Review != nil: // its metrics are ignored: every replica answers reviews, and only one exports metrics
		run.Response, err = read(root, responseVariable, "response", mostOfResponse, "", decodeResponse)
	default:
		run.metrics, err = read(root, metricsVariable, "metrics", mostOfMetrics, "metrics", func(content []byte) ([]metricLine, error) {
			return parseMetrics(content, string(x.options.MetricPrefix))
		})
	}
	return file, errors.Join(ended, err)
}

// read reads and parses what a hook wrote into the file of a variable. reason is that of the rejection of a mistake.
func read[T any](root *os.Root, variable, what string, limit int64, reason string, parse func([]byte) (T, error)) (parsed T, err error) {
	content, err := readFile(root, variable, limit)
	switch {
	case err != nil:
		reason = "file"
	case int64(len(content)) > limit:
		err = fmt.Errorf("%s: it has more than %d bytes", variable, limit)
	default:
		parsed, err = parse(content)
	}
	if err != nil {
		return parsed, &rejection{fmt.Errorf("reading its %s: %w", what, err), reason}
	}
	return parsed, nil
}

func prepare(root *os.Root, run *Run) error {
	contexts := []byte("[")
	for _, c := range run.Contexts {
		encoded, err := json.Marshal(c)
		if err != nil {
			return fmt.Errorf("encoding the context of binding %s: %w", c.Binding, err)
		}
		if contexts = append(append(contexts, encoded...), ','); len(contexts) > mostOfContexts {
			return fmt.Errorf("the binding contexts have more than %d MiB: select fewer objects, or use jqFilter with keepFullObjectsInMemory: false",
				mostOfContexts>>20)
		}
	}
	contexts[len(contexts)-1] = ']' // a run has a context
	contents := map[string][]byte{files[contextVariable]: contexts, files["CRUD_SH"]: functions}
	for _, name := range files {
		if err := root.WriteFile(name, contents[name], 0o600); err != nil {
			return fmt.Errorf("writing a file of the run: %w", err)
		}
	}
	return nil
}

// readFile reads what a hook wrote, at most one byte more than the limit. It must be a file in the folder: the root follows no link out of it, and a
// pipe is not waited for.
func readFile(root *os.Root, variable string, limit int64) ([]byte, error) {
	file, err := root.OpenFile(files[variable], os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", variable, err)
	}
	defer file.Close() //nolint:errcheck // only read
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(fmt.Errorf("%s must be a regular file", variable), err)
	}
	return io.ReadAll(io.LimitReader(file, limit+1)) //nolint:wrapcheck // it names the file
}
