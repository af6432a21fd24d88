/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controlplane

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// errNoNamespaces reports that Pods cannot have a root folder.
var errNoNamespaces = errors.New("each image runs in a separate root folder, for which an ordinary user needs user namespaces: permit them " +
	"(sysctl user.max_user_namespaces > 0, kernel.apparmor_restrict_unprivileged_userns=0), or run this as root")

// CheckPods returns an error if this user cannot run Pods in separate root folders. Without them a program of an image does not find its files.
// It tries that once per process.
var CheckPods = sync.OnceValue(func() error {
	if os.Geteuid() == 0 {
		return nil
	}
	// Some systems permit the namespace but nothing in it.
	cmd := exec.Command("go", "version")
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: "/"}
	becomeRoot(cmd.SysProcAttr)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w: %w", errNoNamespaces, err)
	}
	return nil
})

// becomeRoot has a process of an ordinary user be the root of a user namespace, in which it may mount and change the root folder.
func becomeRoot(attributes *syscall.SysProcAttr) {
	if os.Geteuid() == 0 {
		return
	}
	attributes.Cloneflags |= syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS
	attributes.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
	attributes.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
}
