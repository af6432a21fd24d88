/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/mallard-dev/mallard/localcluster/env/internal/environment"
	"github.com/mallard-dev/mallard/localcluster/env/manifest"
)

// session is one run of the program.
type session struct {
	options options
	screen  *screen
	samples *samples
	env     *environment.Env
	// exits gets the first process of the operator that has ended unasked.
	exits chan error
}

// run does everything; what it has started has stopped when it returns. Its error is printed to the user.
func run(ctx, hurry context.Context, o options, s *screen) (err error) {
	configuration, err := manifest.ReadDir(o.configs...)
	if err != nil {
		return err
	}
	var found *samples
	if len(o.command) == 0 {
		if found, err = readSamples(o.samples, configuration); err != nil {
			return err
		}
	}
	var existing *environment.Existing
	if o.kubeconfig != "" {
		if existing, err = environment.ReadExisting(o.kubeconfig); err != nil {
			return err
		}
		if err := confirm(ctx, s, existing, o.confirmation, os.Stdin); err != nil {
			return err
		}
	}
	dir, err := os.MkdirTemp("", "mallard-run-")
	if err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	defer func() {
		failure := errors.Join(err, removeFolder(dir, err != nil && ctx.Err() == nil))
		if logs, _ := filepath.Glob(logsOf(dir)); len(logs) > 0 {
			failure = fmt.Errorf("%w\nthe logs are in %s", failure, filepath.Dir(logs[0]))
		}
		err = failure
	}()
	r := &session{options: o, screen: s, samples: found, exits: make(chan error, 1)}
	r.env, err = environment.Start(ctx, environment.Options{
		Module: o.module, Config: o.configs, AllVersions: o.allVersions, Dir: dir, Images: o.images, Progress: s, Begin: r.begin, OnExit: r.noteExit,
		Hurry: hurry, Existing: existing, Samples: o.samples,
		ReadyTimeout: o.startTimeout,
		OnError:      func(err error) { s.print("! " + err.Error() + "\n") },
	})
	if err != nil {
		if ctx.Err() != nil {
			r.screen.print(notReady(err))
		}
		return r.explain(orStopped(ctx, err))
	}
	defer func() {
		end := s.begin("Stopping")
		if failure := r.env.Stop(); failure != nil {
			err = errors.Join(err, failure)
			return
		}
		end.end("Stopped")
	}()
	if len(o.command) > 0 {
		return r.explain(orStopped(ctx, r.command(ctx)))
	}
	return r.explain(orStopped(ctx, r.show(ctx)))
}

// logsOf is the pattern of the logs of a run's processes.
func logsOf(dir string) string { return filepath.Join(dir, "processes", "*.log") }

// removeFolder removes the folder of a run, except for the logs of its processes if they should be kept. The folder also holds credentials.
func removeFolder(dir string, keepLogs bool) error {
	logs := map[string][]byte{}
	if keepLogs {
		paths, _ := filepath.Glob(logsOf(dir))
		for _, path := range paths {
			if content, err := os.ReadFile(path); err == nil {
				logs[path] = content
			}
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("removing the folder of this run: %w", err)
	}
	for path, content := range logs {
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil {
			err = os.WriteFile(path, content, 0o600)
		}
		if err != nil {
			return fmt.Errorf("keeping the logs of this run: %w", err)
		}
	}
	return nil
}

// begin shows a phase of the start.
func (r *session) begin(phase environment.Phase) (end func()) {
	configs := r.short(slices.Clone(r.options.configs)...)
	texts := map[environment.Phase][2]string{
		environment.BuildCluster:  {"Building the control plane", "Control plane built"},
		environment.BuildOperator: {"Building the operator", "Operator built"},
		environment.BuildKo:       {"Building ko", "ko built"},
		environment.StartCluster:  {"Starting the control plane", "Control plane started"},
		environment.ApplyConfig:   {"Applying " + configs, "Applied " + configs},
		environment.StartOperator: {"Starting the operator", "Operator ready"},
	}
	step := r.screen.begin(texts[phase][0])
	return func() { step.end(texts[phase][1]) }
}

// short joins the paths of folders as the user would type them.
func (r *session) short(paths ...string) string {
	for i, path := range paths {
		if relative, err := filepath.Rel(r.options.module, path); err == nil && !strings.HasPrefix(relative, "..") {
			paths[i] = relative + string(filepath.Separator)
		}
	}
	return strings.Join(paths, " and ")
}

// show applies the samples and follows them.
func (r *session) show(ctx context.Context) error {
	client, err := dynamic.NewForConfig(r.env.Config)
	if err != nil {
		return fmt.Errorf("making a client to follow the samples: %w", err)
	}
	step := r.screen.begin("Applying " + r.short(r.options.samples))
	if err := r.env.Apply(ctx, r.options.samples); err != nil {
		return r.orExit(err)
	}
	step.end(fmt.Sprintf("Applied %s (%s)", r.short(r.options.samples), counted(r.samples.all, "object")))
	hint, err := r.hint(ctx)
	if err != nil {
		return r.orExit(err)
	}
	r.screen.print(hint)
	follower, err := follow(ctx, client, r.samples.resources)
	if err != nil {
		return r.orExit(err)
	}
	defer follower.stop()
	return r.loop(ctx, follower)
}

// hint is the command for a second terminal.
func (r *session) hint(ctx context.Context) (string, error) {
	exports := []string{"KUBECONFIG=" + r.env.Kubeconfig}
	if r.options.images {
		images, err := r.env.KoEnvironment(ctx)
		if err != nil {
			return "", err
		}
		exports = append(exports, images...)
	}
	var out strings.Builder
	out.WriteString("\nIn a second terminal:\n\n")
	for _, variable := range exports {
		out.WriteString("  export " + variable + "\n")
	}
	if r.env.Runner != nil {
		fmt.Fprintf(&out, "  ls %s   # the logs of the operator\n", logsOf(r.env.Dir()))
	}
	if r.env.Localcluster == "" {
		return out.String() + "\n", nil
	}
	fmt.Fprintf(&out, "  alias kubectl='%s kubectl'   # unless you have one\n\n", r.env.Localcluster)
	return out.String(), nil
}

// loop shows every change until it is stopped, a process exits, or the awaited state is reached.
func (r *session) loop(ctx context.Context, f *follower) error {
	var timeout <-chan time.Time
	if r.options.wait {
		timer := time.NewTimer(r.options.timeout)
		defer timer.Stop()
		timeout = timer.C
	}
	began := time.Now()
	shown := map[string]row{}
	for {
		// In this order every object is shown as Ready before the session ends because of it.
		unready := f.unready(r.samples.own)
		r.refresh(f.rows(), shown)
		if r.options.wait && len(unready) == 0 {
			r.screen.print(fmt.Sprintf("\n✓ Ready: %s, after %.1f s\n", counted(len(r.samples.own), "sample"), time.Since(began).Seconds()))
			return nil
		}
		select {
		case <-f.changed:
		case err := <-r.exits:
			return err
		case <-r.env.ClusterDone():
			return fmt.Errorf("the control plane has ended: %w", r.env.ClusterErr())
		case <-timeout:
			return r.diagnose(ctx, unready)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// refresh draws the table on a terminal, and elsewhere prints the rows that have changed.
func (r *session) refresh(rows []row, shown map[string]row) {
	if r.screen.terminal {
		r.screen.draw(table(rows))
		return
	}
	present := map[string]bool{}
	for _, row := range rows {
		key := row.key()
		present[key] = true
		if shown[key] != row {
			shown[key] = row
			r.screen.print(row.line(time.Now()) + "\n")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(shown)) {
		if !present[key] {
			delete(shown, key)
			r.screen.print(fmt.Sprintf("%s  %s  deleted\n", time.Now().Format(time.TimeOnly), key))
		}
	}
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func name(object *unstructured.Unstructured) string {
	return manifest.Name(object, strings.ToLower(object.GetKind()))
}
