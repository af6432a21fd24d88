/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package container

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Prepare adds to a root folder the parts that a process expects: the mounts, a few devices and the files that name its host; and makes it read-only
// if requested. Without isolation, volumes are linked into the folder.
func (r *Runtime) Prepare(rootDir, hostname, ip string, mounts []Mount, readOnly bool) error {
	root, err := os.OpenRoot(rootDir)
	if err != nil {
		return fmt.Errorf("opening the root folder: %w", err)
	}
	defer func() { _ = root.Close() }()
	if !r.isolated {
		return link(root, mounts)
	}
	if err := hostFiles(root, hostname, ip); err != nil {
		return err
	}
	if !r.owners {
		// A user namespace cannot make devices. Those of the machine disappear with the root folder.
		for name := range deviceNumbers {
			mounts = append(mounts, Mount{Source: "/dev/" + name, Target: "/dev/" + name})
		}
	}
	for _, mount := range mounts {
		if err := makeTarget(root, mount); err != nil {
			return fmt.Errorf("mounting at %s: %w", mount.Target, err)
		}
	}
	return r.on(func() error {
		if r.owners {
			if err := devices(rootDir); err != nil {
				return err
			}
		}
		if readOnly {
			if err := bind(rootDir, rootDir, true); err != nil {
				return fmt.Errorf("making the root read-only: %w", err)
			}
		}
		for _, mount := range mounts {
			if err := bind(mount.Source, inside(rootDir, mount.Target), mount.ReadOnly); err != nil {
				return fmt.Errorf("mounting at %s: %w", mount.Target, err)
			}
		}
		return nil
	})
}

// Release takes the mounts away, so that the root folder can be removed.
func (r *Runtime) Release(rootDir string, mounts []Mount) {
	if !r.isolated {
		return
	}
	_ = r.on(func() error {
		for _, mount := range slices.Backward(mounts) {
			_ = unix.Unmount(inside(rootDir, mount.Target), unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
		}
		// Not mounted unless it is read-only.
		_ = unix.Unmount(rootDir, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
		return nil
	})
}

func inside(root, target string) string { return filepath.Join(root, path.Clean("/"+target)) }

func bind(source, target string, readOnly bool) error {
	if err := unix.Mount(source, target, "", unix.MS_BIND, ""); err != nil {
		return err //nolint:wrapcheck // wrapped by Prepare
	}
	if !readOnly {
		return nil
	}
	var info unix.Statfs_t
	if err := unix.Statfs(target, &info); err != nil {
		return err //nolint:wrapcheck // wrapped by Prepare
	}
	// In a user namespace these flags of the file system must not be dropped.
	kept := uintptr(info.Flags) & (unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC | unix.MS_NOATIME | unix.MS_NODIRATIME) //nolint:gosec // flags

	return unix.Mount("", target, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY|kept, "") //nolint:wrapcheck // wrapped by Prepare
}

// makeTarget makes the place of a mount. A symbolic link of the image on the way would lead elsewhere, so it is replaced.
func makeTarget(root *os.Root, mount Mount) error {
	info, err := os.Stat(mount.Source)
	if err != nil {
		return err //nolint:wrapcheck // wrapped by Prepare
	}
	target := strings.TrimPrefix(path.Clean("/"+mount.Target), "/")
	folder := target
	if !info.IsDir() {
		folder = path.Dir(target)
	}
	if err := root.MkdirAll(folder, 0o755); err != nil {
		return err //nolint:wrapcheck // wrapped by Prepare
	}
	for part := target; part != "."; part = path.Dir(part) {
		info, err := root.Lstat(part)
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s is a symbolic link in the image", "/"+part)
		}
	}
	if info.IsDir() {
		return nil
	}
	file, err := root.OpenFile(target, os.O_CREATE|os.O_RDONLY, 0o644)
	if err != nil {
		return err //nolint:wrapcheck // wrapped by Prepare
	}
	return file.Close() //nolint:wrapcheck // wrapped by Prepare
}

// link puts volumes where a process that knows its folder can find them.
func link(root *os.Root, mounts []Mount) error {
	for _, mount := range mounts {
		target := strings.TrimPrefix(path.Clean("/"+mount.Target), "/")
		if err := root.MkdirAll(path.Dir(target), 0o755); err != nil {
			return fmt.Errorf("linking %s: %w", mount.Target, err)
		}
		if err := root.RemoveAll(target); err != nil {
			return fmt.Errorf("linking %s: %w", mount.Target, err)
		}
		if err := root.Symlink(mount.Source, target); err != nil {
			return fmt.Errorf("linking %s: %w", mount.Target, err)
		}
	}
	return nil
}

func hostFiles(root *os.Root, hostname, ip string) error {
	if err := root.MkdirAll("etc", 0o755); err != nil {
		return fmt.Errorf("making /etc: %w", err)
	}
	files := map[string]string{
		"etc/hostname": hostname + "\n",
		"etc/hosts":    "127.0.0.1\tlocalhost\n::1\tlocalhost\n" + ip + "\t" + hostname + "\n",
	}
	// A machine without it has no names to look up.
	if data, err := os.ReadFile("/etc/resolv.conf"); err == nil {
		files["etc/resolv.conf"] = string(data)
	}
	for name, content := range files {
		if err := root.WriteFile(name, []byte(content), 0o644); err != nil {
			return fmt.Errorf("writing /%s: %w", name, err)
		}
	}
	return nil
}

// deviceNumbers are the devices that programs take for granted, by their minor number.
var deviceNumbers = map[string]uint32{"null": 3, "zero": 5, "full": 7, "random": 8, "urandom": 9}

// devices makes the devices. Where the file system allows none, a program that needs one reports it.
func devices(rootDir string) error {
	folder := filepath.Join(rootDir, "dev")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("making /dev: %w", err)
	}
	for name, minor := range deviceNumbers {
		file := filepath.Join(folder, name)
		err := unix.Mknod(file, unix.S_IFCHR|0o666, int(unix.Mkdev(1, minor))) //nolint:gosec // a small number
		if err == nil {
			err = os.Chmod(file, 0o666)
		}
		if err != nil && !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrPermission) {
			return fmt.Errorf("making /dev/%s: %w", name, err)
		}
	}
	return nil
}
