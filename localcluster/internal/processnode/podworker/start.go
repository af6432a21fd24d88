/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package podworker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/mallard-dev/mallard/localcluster/internal/processnode/container"
	"github.com/mallard-dev/mallard/localcluster/internal/processnode/environment"
	"github.com/mallard-dev/mallard/localcluster/internal/processnode/image"
	"github.com/mallard-dev/mallard/localcluster/internal/processnode/logs"
)

// execution is one run of a container.
type execution struct {
	id, imageID string
	process     *container.Process
	spec        container.Spec
	mounts      []container.Mount
	log         *logs.Writer
	stopSignal  syscall.Signal
	// messages is the file in which the program may say why it ended.
	messages string
	// declared is the image by the name that the Pod gives it. outdated is closed by outdate when the Pod gives another one.
	declared string
	outdated chan struct{}
	outdate  func()
}

// try makes one attempt to start a container. Its errors are problems.
func (w *Worker) try(ctx context.Context, name string) (*execution, error) {
	c := w.spec(name)
	img, err := w.image(ctx, c)
	if err != nil {
		return nil, err
	}
	variables, err := w.variables(ctx, c)
	if err != nil {
		return nil, &problem{reason: reasonConfigError, message: err.Error(), event: true}
	}
	who, err := identify(w.Pod(), c, img)
	if err != nil {
		return nil, &problem{reason: reasonConfigError, message: err.Error(), event: true}
	}
	e := &execution{
		imageID: img.ID, stopSignal: stopSignal(img.Config.StopSignal), declared: c.Image, outdated: make(chan struct{}),
	}
	e.outdate = sync.OnceFunc(func() { close(e.outdated) })
	if err := w.build(name, c, img, variables, e); err != nil {
		return nil, &problem{reason: reasonCreateError, message: "failed to create container: " + err.Error(), event: true}
	}
	w.containerEvent(name, corev1.EventTypeNormal, reasonCreated, "Container created")
	e.spec.UID, e.spec.GID, e.spec.Groups = who.uid, who.gid, who.groups
	if err := w.launch(c, img, variables, e); err != nil {
		e.log.Close()
		w.node.Runtime.Release(e.spec.Root, e.mounts)
		return nil, &problem{reason: reasonRunError, message: "failed to create containerd task: failed to create shim task: " +
			"OCI runtime create failed: runc create failed: " + err.Error()}
	}
	w.running(name, e)
	w.containerEvent(name, corev1.EventTypeNormal, reasonStarted, "Container started")
	return e, nil
}

// build makes the container's folder: a new root folder for each execution, and a log file.
func (w *Worker) build(
	name string, c *corev1.Container, img *image.Image, variables map[string]string, e *execution,
) (err error) {
	w.mu.Lock()
	attempt := 0
	if s, ok := w.states[name]; ok {
		attempt = int(s.status.RestartCount)
		if s.log != "" {
			attempt++
		}
	}
	w.mu.Unlock()
	dir := filepath.Join(w.dir, "containers", name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making its folder: %w", err)
	}
	e.id = "localcluster://" + string(w.Pod().UID) + "-" + name + "-" + strconv.Itoa(attempt)
	e.spec.Root = filepath.Join(dir, "root")
	e.messages = filepath.Join(dir, "message-"+strconv.Itoa(attempt))
	if err := os.RemoveAll(e.spec.Root); err != nil {
		return fmt.Errorf("removing the root folder of the last execution: %w", err)
	}
	if err := w.node.Images.CopyRoot(img, e.spec.Root); err != nil {
		return err
	}
	if e.mounts, err = w.mounts(c, variables, e); err != nil {
		return err
	}
	readOnly := c.SecurityContext != nil && ptr.Deref(c.SecurityContext.ReadOnlyRootFilesystem, false)
	if err := w.node.Runtime.Prepare(e.spec.Root, w.Pod().Name, w.ip, e.mounts, readOnly); err != nil {
		w.node.Runtime.Release(e.spec.Root, e.mounts)
		return err
	}
	path := filepath.Join(dir, strconv.Itoa(attempt)+".log")
	if e.log, err = logs.NewWriter(path); err != nil {
		return err
	}
	w.change(name, func(s *state) {
		if s.log != "" && s.log != path {
			if s.previousLog != "" {
				// Only the last but one is kept.
				_ = os.Remove(s.previousLog)
				_ = os.Remove(s.previousLog + ".old")
			}
			s.previousLog = s.log
		}
		s.log = path
		s.status.RestartCount = int32(attempt) //nolint:gosec // a small number
	})
	return nil
}

// launch starts the process.
func (w *Worker) launch(c *corev1.Container, img *image.Image, variables map[string]string, e *execution) error {
	withImage := map[string]string{}
	for _, entry := range img.Config.Env {
		if name, value, ok := strings.Cut(entry, "="); ok {
			withImage[name] = value
		}
	}
	maps.Copy(withImage, variables)
	e.spec.Env = environment.List(withImage)
	command, args := environment.Expand(c.Command, variables), environment.Expand(c.Args, variables)
	if len(command) == 0 {
		command = img.Config.Entrypoint
		if len(args) == 0 {
			args = img.Config.Cmd
		}
	}
	e.spec.Args = append(append([]string{}, command...), args...)
	if len(e.spec.Args) == 0 {
		return errNoCommand
	}
	path, err := container.Look(e.spec.Root, e.spec.Args[0], e.spec.Env)
	if err != nil {
		return fmt.Errorf("unable to start container process: %w", err)
	}
	e.spec.Path, e.spec.Dir = path, filepath.Clean("/"+cmp.Or(c.WorkingDir, img.Config.WorkingDir))
	if !w.node.Runtime.Isolated() {
		e.spec.Path, e.spec.Dir = filepath.Join(e.spec.Root, path), filepath.Join(e.spec.Root, e.spec.Dir)
	}
	if e.spec.Stdout, err = e.log.Stream("stdout"); err != nil {
		return err
	}
	if e.spec.Stderr, err = e.log.Stream("stderr"); err != nil {
		return err
	}
	e.process, err = w.node.Runtime.Start(e.spec)
	e.log.Started()
	e.spec.Stdout, e.spec.Stderr = nil, nil
	return err
}

var errNoCommand = errors.New("no command specified")

func (e *execution) isOutdated() bool {
	select {
	case <-e.outdated:
		return true
	default:
		return false
	}
}
