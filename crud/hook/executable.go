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
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/mallard-dev/mallard/crud/hook/internal/self"
	"github.com/mallard-dev/mallard/crud/operations"
)

// The files in the folder of a run.
const (
	contextFile    = "binding_context.json"
	operationsFile = "operations"
	metricsFile    = "metrics"
	previousFile   = "previous_results.json"
	functionsFile  = "crud.sh"
)

// The variables of a run.
const (
	contextVariable    = "BINDING_CONTEXT_PATH"
	operationsVariable = "KUBERNETES_OPERATION_PATH"
	patchVariable      = "KUBERNETES_PATCH_PATH"
	metricsVariable    = "METRICS_PATH"
	previousVariable   = "PREVIOUS_RESULTS_PATH"
	functionsVariable  = "CRUD_SH"
	programVariable    = "CRUD_PROGRAM"
	taskVariable       = "HOOK_TASK_ID"
)

//go:embed crud.sh
var functions []byte

// executable is a hook that is a file.
type executable struct {
	path    string
	options Options
}

// command returns the command that runs the executable with arguments.
func (x *executable) command(args ...string) (*exec.Cmd, error) {
	command := []string{x.path}
	if x.options.Command != nil {
		var err error
		if command, err = x.options.Command(x.path); err != nil {
			return nil, fmt.Errorf("finding the program that runs it: %w", err)
		}
	}
	// Not with a context: it would end the leader of the process group alone.
	cmd := exec.Command(command[0], append(command[1:], args...)...) //nolint:gosec,noctx // the program is to be run
	cmd.Dir = filepath.Dir(x.path)
	return cmd, nil
}

// call runs the executable in a folder of its own, and returns the operations that it wrote.
func (x *executable) call(ctx context.Context, run *Run) (file operations.File, err error) {
	folder, err := os.MkdirTemp(x.options.Folder, "hook-")
	if err != nil {
		return file, fmt.Errorf("creating the folder of the run: %w", err)
	}
	defer func() {
		if failure := removeAll(folder); failure != nil {
			run.Logger.Warnw("Removing the folder of a run failed", "error", failure)
		}
	}()
	// What the hook does with the folder's path has no effect on the root.
	root, err := os.OpenRoot(folder)
	if err != nil {
		return file, fmt.Errorf("opening the folder of the run: %w", err)
	}
	defer root.Close() //nolint:errcheck // only read
	cmd, err := x.command()
	if err != nil {
		return file, err
	}
	if err := prepare(root, run); err != nil {
		return file, err
	}
	program, err := self.Path()
	if err != nil {
		return file, err
	}
	marker := contextVariable + "=" + filepath.Join(folder, contextFile)
	cmd.Env = append(
		os.Environ(), marker, operationsVariable+"="+filepath.Join(folder, operationsFile), patchVariable+"="+filepath.Join(folder, operationsFile),
		metricsVariable+"="+filepath.Join(folder, metricsFile), previousVariable+"="+filepath.Join(folder, previousFile),
		functionsVariable+"="+filepath.Join(folder, functionsFile), programVariable+"="+program, taskVariable+"="+run.Task, "TMPDIR="+folder,
	)
	ended := runGroup(ctx, cmd, newOutput(run.Logger, run.secrets.masker()))
	killEscaped(marker)
	content, err := readOperations(root)
	if err == nil {
		if file, err = operations.Parse(content); err != nil {
			err = &rejection{fmt.Errorf("reading its operations: %w", err), "syntax"}
		}
	}
	return file, errors.Join(ended, err)
}

// prepare writes the files of a run.
func prepare(root *os.Root, run *Run) error {
	contexts, err := json.Marshal(run.Contexts)
	if err != nil {
		return fmt.Errorf("encoding the binding contexts: %w", err)
	}
	previous := []byte{}
	if run.Previous != nil {
		if previous, err = json.Marshal(run.Previous); err != nil {
			return fmt.Errorf("encoding the results of the previous run: %w", err)
		}
	}
	for name, content := range map[string][]byte{
		contextFile: contexts, operationsFile: nil, metricsFile: nil, previousFile: previous, functionsFile: functions,
	} {
		if err := root.WriteFile(name, content, 0o600); err != nil {
			return fmt.Errorf("writing a file of the run: %w", err)
		}
	}
	return nil
}

// readOperations reads the file of operations, which must be a file in the folder: it follows no link, and waits for no pipe.
func readOperations(root *os.Root) ([]byte, error) {
	rejected := func(format string, args ...any) error {
		return &rejection{fmt.Errorf("reading its operations: "+format, args...), "file"}
	}
	info, err := root.Lstat(operationsFile)
	if err == nil && !info.Mode().IsRegular() {
		return nil, rejected("%s is a %s, and must be a file", operationsVariable, kindOf(info.Mode()))
	}
	if err != nil {
		return nil, rejected("%w", err)
	}
	file, err := root.OpenFile(operationsFile, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, rejected("%w", err)
	}
	defer file.Close() //nolint:errcheck // only read
	if opened, err := file.Stat(); err != nil || !os.SameFile(info, opened) {
		return nil, rejected("the file changed after the end of the hook")
	}
	content, err := io.ReadAll(io.LimitReader(file, operations.MostBytes+1))
	if err != nil {
		return nil, rejected("%w", err)
	}
	return content, nil
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "folder"
	case mode&fs.ModeSymlink != 0:
		return "symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "pipe"
	default:
		return "special file"
	}
}

// removeAll removes a folder, also if the hook took permissions of folders in it away.
func removeAll(folder string) error {
	if os.RemoveAll(folder) == nil {
		return nil
	}
	// What fails is reported by the second attempt to remove the folder.
	_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() {
			_ = os.Chmod(path, 0o700) //nolint:gosec // it is a folder
		}
		if err != nil {
			return fs.SkipDir
		}
		return nil
	})
	return os.RemoveAll(folder) //nolint:wrapcheck // it names the path
}
