/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package podworker

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"

	"github.com/mallard-dev/mallard/localcluster/internal/processnode/environment"
	"github.com/mallard-dev/mallard/localcluster/internal/processnode/image"
)

// accountPath is the folder in which a process finds its service account token.
const accountPath = "/var/run/secrets/kubernetes.io/serviceaccount"

// variables returns the environment of a container.
func (w *Worker) variables(ctx context.Context, c *corev1.Container) (map[string]string, error) {
	host, port, err := net.SplitHostPort(w.node.Server)
	if err != nil {
		return nil, fmt.Errorf("the API server's address: %w", err)
	}
	base := map[string]string{
		"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOSTNAME": w.Pod().Name,
		"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port, "KUBERNETES_SERVICE_PORT_HTTPS": port,
		"KUBERNETES_PORT": "tcp://" + w.node.Server,
	}
	if !w.node.Runtime.Isolated() {
		if err := w.kubeconfig(c, base); err != nil {
			return nil, err
		}
	}
	resolver := environment.Resolver{
		Client: w.node.Client, Pod: w.Pod(), PodIP: w.ip, NodeIP: w.node.IP, Allocatable: w.node.Allocatable,
		Ports: w.local, Base: base,
	}
	return resolver.Variables(ctx, c)
}

// kubeconfig lets a process without a separate root find its service account token.
func (w *Worker) kubeconfig(c *corev1.Container, base map[string]string) error {
	mount := slices.IndexFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == accountPath })
	if mount < 0 {
		return nil
	}
	folder := w.volumes.Path(c.VolumeMounts[mount].Name)
	config := clientcmdapi.NewConfig()
	config.Clusters["localcluster"] = &clientcmdapi.Cluster{
		Server: "https://" + w.node.Server, CertificateAuthorityData: w.node.CA,
	}
	config.AuthInfos["account"] = &clientcmdapi.AuthInfo{TokenFile: filepath.Join(folder, corev1.ServiceAccountTokenKey)}
	config.Contexts["localcluster"] = &clientcmdapi.Context{
		Cluster: "localcluster", AuthInfo: "account", Namespace: w.Pod().Namespace,
	}
	config.CurrentContext = "localcluster"
	path := filepath.Join(w.dir, "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		return fmt.Errorf("writing the kubeconfig of the service account: %w", err)
	}
	base["KUBECONFIG"] = path
	return nil
}

// identity holds user and groups of a process.
type identity struct {
	uid, gid uint32
	groups   []uint32
}

// identify returns the user and the groups of a container. Errors are those of a kubelet.
func identify(pod *corev1.Pod, c *corev1.Container, img *image.Image) (identity, error) {
	user, group := userOf(pod, c)
	who := identity{}
	name, groupName, _ := strings.Cut(img.Config.User, ":")
	switch {
	case user != nil:
		who.uid = uint32(*user) //nolint:gosec // validated by the API server
	case name != "":
		number, ok := number(img.Root, "passwd", name)
		if !ok {
			return who, fmt.Errorf("unable to find user %s: no matching entries in passwd file", name)
		}
		if _, err := strconv.ParseUint(name, 10, 32); err != nil && mustNotBeRoot(pod, c) {
			return who, fmt.Errorf("container has runAsNonRoot and image has non-numeric user (%s), cannot verify user is non-root", name)
		}
		who.uid = number
	}
	if who.uid == 0 && mustNotBeRoot(pod, c) {
		if user != nil {
			return who, fmt.Errorf("container's runAsUser breaks non-root policy (pod: %q, container: %s)", pod.Name, c.Name)
		}
		return who, fmt.Errorf("container has runAsNonRoot and image will run as root (pod: %q, container: %s)", pod.Name, c.Name)
	}
	if group != nil {
		who.gid = uint32(*group) //nolint:gosec // validated by the API server
	} else if groupName != "" {
		number, ok := number(img.Root, "group", groupName)
		if !ok {
			return who, fmt.Errorf("unable to find group %s: no matching entries in group file", groupName)
		}
		who.gid = number
	}
	if s := pod.Spec.SecurityContext; s != nil {
		for _, extra := range s.SupplementalGroups {
			who.groups = append(who.groups, uint32(extra)) //nolint:gosec // validated by the API server
		}
		if s.FSGroup != nil {
			who.groups = append(who.groups, uint32(*s.FSGroup)) //nolint:gosec // validated by the API server
		}
	}
	return who, nil
}

func userOf(pod *corev1.Pod, c *corev1.Container) (user, group *int64) {
	if s := pod.Spec.SecurityContext; s != nil {
		user, group = s.RunAsUser, s.RunAsGroup
	}
	if s := c.SecurityContext; s != nil {
		if s.RunAsUser != nil {
			user = s.RunAsUser
		}
		if s.RunAsGroup != nil {
			group = s.RunAsGroup
		}
	}
	return user, group
}

func mustNotBeRoot(pod *corev1.Pod, c *corev1.Container) bool {
	if c.SecurityContext != nil && c.SecurityContext.RunAsNonRoot != nil {
		return *c.SecurityContext.RunAsNonRoot
	}
	return pod.Spec.SecurityContext != nil && ptr.Deref(pod.Spec.SecurityContext.RunAsNonRoot, false)
}

// number returns the number of a user or group, which an image may give as a name that its files explain.
func number(root, file, name string) (uint32, bool) {
	if value, err := strconv.ParseUint(name, 10, 32); err == nil {
		return uint32(value), true
	}
	if name == "root" {
		return 0, true
	}
	data, err := os.ReadFile(filepath.Join(root, "etc", file))
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(data)) {
		fields := strings.Split(strings.TrimSpace(line), ":")
		if len(fields) > 2 && fields[0] == name { //nolint:mnd // name, password, number
			if value, err := strconv.ParseUint(fields[2], 10, 32); err == nil {
				return uint32(value), true
			}
		}
	}
	return 0, false
}

// stopSignal reads the signal that an image wants to be ended with.
func stopSignal(name string) syscall.Signal {
	if value, err := strconv.Atoi(name); err == nil && value > 0 {
		return syscall.Signal(value)
	}
	if name != "" && !strings.HasPrefix(name, "SIG") {
		name = "SIG" + name
	}
	if found := unix.SignalNum(name); found != 0 {
		return found
	}
	return syscall.SIGTERM
}
