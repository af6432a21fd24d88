/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package processes

import (
	"cmp"
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
	"k8s.io/utils/ptr"

	"github.com/mallard-dev/mallard/localcluster/env/procgroup"
)

// defaultServiceAccount is the one that Kubernetes gives to a Pod that names none.
const defaultServiceAccount = "default"

// prepare reads the Deployment and what it refers to, finds free ports and writes the credentials, for one start of a
// process.
func (r *Runner) prepare(ctx context.Context, p *Process, override Override) (*exec.Cmd, *execution, error) {
	w, err := r.workload(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	ports, err := freePorts(ctx, w.container.Ports)
	if err != nil {
		return nil, nil, err
	}
	template := &w.deployment.Spec.Template
	account := types.NamespacedName{
		Namespace: p.deployment.Namespace, Name: cmp.Or(template.Spec.ServiceAccountName, defaultServiceAccount),
	}
	pod := metav1.ObjectMeta{
		Namespace: p.deployment.Namespace, Name: p.deployment.Name + "-" + strconv.Itoa(p.ordinal), UID: p.uid,
		Labels: template.Labels, Annotations: template.Annotations,
	}
	resolver := &environment{kube: r.kube, namespace: p.deployment.Namespace, fields: podFields(pod, account.Name), ports: ports}
	declared, err := resolver.resolve(ctx, w.container, w.path)
	if err != nil {
		return nil, nil, fmt.Errorf("deployment %s: %w", p.deployment, err)
	}
	home := filepath.Join(r.dir, p.name)
	temporaryFiles := filepath.Join(home, "tmp")
	if err := os.MkdirAll(temporaryFiles, 0o700); err != nil {
		return nil, nil, fmt.Errorf("creating its folders: %w", err)
	}
	kubeconfig, err := r.credentials(ctx, p, account, override, ptr.Deref(template.Spec.AutomountServiceAccountToken, true))
	if err != nil {
		return nil, nil, err
	}
	binary := r.options.Binaries[w.importPath]
	variables := map[string]string{
		"PATH":         os.Getenv("PATH"),
		"HOME":         home,
		"TMPDIR":       temporaryFiles,
		"HOSTNAME":     pod.Name,
		"KO_DATA_PATH": filepath.Join(binary.Source, "kodata"),
	}
	maps.Copy(variables, declared)
	variables["KUBECONFIG"] = kubeconfig
	maps.Copy(variables, override.Env)
	cmd := exec.Command(binary.Path)
	cmd.Dir = home
	for _, arg := range w.container.Args {
		cmd.Args = append(cmd.Args, expand(arg, declared))
	}
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		cmd.Env = append(cmd.Env, name+"="+variables[name])
	}
	return cmd, &execution{
		backend:    backend{namespace: p.deployment.Namespace, labels: template.Labels, declared: w.container.Ports, local: ports},
		probe:      w.probe,
		firstReady: make(chan struct{}), over: make(chan struct{}),
	}, nil
}

// workload reads the container again, since the Deployment may have changed since the last start.
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
		if _, ok := r.options.Binaries[w.importPath]; !ok {
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

// start starts a process whose output is added to a log.
func start(cmd *exec.Cmd, log string) (*procgroup.Group, error) {
	output, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening its log: %w", err)
	}
	defer func() { _ = output.Close() }()
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
		running, ready := p.running(), p.Ready()
		if running != nil {
			b := running.backend
			b.ready = ready
			backends = append(backends, b)
		}
		if p.deployment != deployment {
			continue
		}
		count.wanted++
		if running != nil {
			count.running++
		}
		if ready {
			count.ready++
		}
	}
	if err := announce(ctx, r.kube, deployment.Namespace, backends); err != nil {
		return err
	}
	return publish(ctx, r.kube, deployment, count)
}
