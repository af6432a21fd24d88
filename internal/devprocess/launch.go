/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package devprocess

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/internal/procgroup"
)

// defaultServiceAccount is the one that Kubernetes gives to a Pod that names none.
const defaultServiceAccount = "default"

// launch is everything that one start of a process needs.
type launch struct {
	binary  string
	dir     string
	args    []string
	env     []string
	probe   *probe
	backend backend
}

// prepare reads the Deployment and what it refers to, finds free ports and writes the credentials.
func (r *Runner) prepare(ctx context.Context, p *Process, override Override) (*launch, error) {
	w, err := r.workload(ctx, p)
	if err != nil {
		return nil, err
	}
	ports, err := freePorts(ctx, w.container.Ports)
	if err != nil {
		return nil, err
	}
	template := &w.deployment.Spec.Template
	account := types.NamespacedName{Namespace: p.deployment.Namespace, Name: template.Spec.ServiceAccountName}
	if account.Name == "" {
		account.Name = defaultServiceAccount
	}
	pod := metav1.ObjectMeta{
		Namespace: p.deployment.Namespace, Name: p.deployment.Name + "-" + strconv.Itoa(p.ordinal), UID: p.uid,
		Labels: template.Labels, Annotations: template.Annotations,
	}
	resolver := &environment{kube: r.kube, namespace: p.deployment.Namespace, fields: podFields(pod, account.Name), ports: ports}
	declared, err := resolver.resolve(ctx, w.container, w.path)
	if err != nil {
		return nil, fmt.Errorf("deployment %s: %w", p.deployment, err)
	}
	l := &launch{
		binary:  r.binaries[w.importPath].Path,
		dir:     filepath.Join(r.dir, p.name),
		backend: backend{namespace: p.deployment.Namespace, labels: template.Labels, declared: w.container.Ports, local: ports},
	}
	for _, arg := range w.container.Args {
		l.args = append(l.args, expand(arg, declared))
	}
	if w.container.ReadinessProbe != nil {
		// Its errors were found when the container was checked.
		l.probe, _ = newProbe(w.container.ReadinessProbe, w.container.Ports, w.path.Child("readinessProbe"))
	}
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return nil, fmt.Errorf("making its folder: %w", err)
	}
	mounted := template.Spec.AutomountServiceAccountToken
	kubeconfig, err := r.credentials(ctx, p, account, override, mounted == nil || *mounted)
	if err != nil {
		return nil, err
	}
	variables := map[string]string{
		"PATH":         os.Getenv("PATH"),
		"HOME":         l.dir,
		"HOSTNAME":     pod.Name,
		"KO_DATA_PATH": filepath.Join(r.binaries[w.importPath].Source, "kodata"),
	}
	maps.Copy(variables, declared)
	variables["KUBECONFIG"] = kubeconfig
	maps.Copy(variables, override.Env)
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		l.env = append(l.env, name+"="+variables[name])
	}
	return l, nil
}

// workload reads the container anew, since the Deployment may have changed since the last start.
func (r *Runner) workload(ctx context.Context, p *Process) (workload, error) {
	deployment, err := r.kube.AppsV1().Deployments(p.deployment.Namespace).Get(ctx, p.deployment.Name, metav1.GetOptions{})
	if err != nil {
		return workload{}, fmt.Errorf("reading deployment %s: %w", p.deployment, err)
	}
	containers, err := workloads(deployment)
	if err != nil {
		return workload{}, err
	}
	for _, w := range containers {
		if w.container.Name != p.container {
			continue
		}
		if _, ok := r.binaries[w.importPath]; !ok {
			return workload{}, fmt.Errorf("deployment %s: %s: %s has not been built", p.deployment, w.path.Child("image"), w.importPath)
		}
		return w, nil
	}
	return workload{}, fmt.Errorf("deployment %s has no container %s any more", p.deployment, p.container)
}

// credentials writes the kubeconfig of a process and returns its path.
func (r *Runner) credentials(ctx context.Context, p *Process, account types.NamespacedName, override Override, mounted bool) (string, error) {
	var token string
	if mounted {
		var err error
		if token, err = r.tokens.file(ctx, account); err != nil {
			return "", err
		}
	}
	server := r.server
	if override.Server != nil {
		server = *override.Server
	}
	path := filepath.Join(r.dir, p.name+".kubeconfig")
	return path, writeKubeconfig(path, server, account, token)
}

func (l *launch) start(log string) (*procgroup.Group, error) {
	output, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening its log: %w", err)
	}
	defer func() { _ = output.Close() }()
	cmd := exec.Command(l.binary, l.args...)
	cmd.Dir, cmd.Env = l.dir, l.env
	cmd.Stdout, cmd.Stderr = output, output
	return procgroup.Start(cmd)
}

// report brings the status of a Deployment and the addresses of the Services of its namespace up to date.
func (r *Runner) report(ctx context.Context, deployment types.NamespacedName) error {
	r.reporting.Lock()
	defer r.reporting.Unlock()
	var count tally
	var backends []backend
	for _, p := range r.processes {
		p.mu.Lock()
		running := p.current != nil && !isClosed(p.current.group.Done())
		if running {
			b := p.current.backend
			b.ready = p.current.ready
			backends = append(backends, b)
		}
		if p.deployment == deployment {
			count.wanted++
			if running {
				count.running++
			}
			if p.current != nil && p.current.ready {
				count.ready++
			}
		}
		p.mu.Unlock()
	}
	if err := announce(ctx, r.kube, deployment.Namespace, backends); err != nil {
		return err
	}
	return publish(ctx, r.kube, deployment, count)
}
