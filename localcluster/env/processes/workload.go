/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package processes

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// imagePrefix marks an image that ko builds from the Go import path behind it.
const imagePrefix = "ko://"

// workload is a container that should run as a process.
type workload struct {
	deployment *appsv1.Deployment
	container  *corev1.Container
	path       *field.Path
	importPath string
	// probe is nil if the container has none.
	probe *probe
}

// workloads returns the containers of a Deployment that run as processes: all of them, or none if no image is in ko's
// form. A field that a local process cannot honor is an error.
func workloads(deployment *appsv1.Deployment) ([]workload, error) {
	pod := &deployment.Spec.Template.Spec
	local := func(c corev1.Container) bool { return strings.HasPrefix(c.Image, imagePrefix) }
	if !slices.ContainsFunc(pod.Containers, local) {
		return nil, nil
	}
	path := field.NewPath("spec", "template", "spec")
	var problems field.ErrorList
	if len(pod.InitContainers) > 0 {
		problems = append(problems, field.Forbidden(path.Child("initContainers"), "a local process has none"))
	}
	var found []workload
	for i := range pod.Containers {
		container := &pod.Containers[i]
		containerPath := path.Child("containers").Index(i)
		problems = append(problems, rejected(container, containerPath)...)
		problems = append(problems, rejectedMounts(container, pod.Volumes, containerPath.Child("volumeMounts"))...)
		w := workload{
			deployment: deployment,
			container:  container,
			path:       containerPath,
			importPath: strings.TrimPrefix(container.Image, imagePrefix),
		}
		if container.ReadinessProbe != nil {
			var errs field.ErrorList
			w.probe, errs = newProbe(container.ReadinessProbe, container.Ports, containerPath.Child("readinessProbe"))
			problems = append(problems, errs...)
		}
		found = append(found, w)
	}
	if err := problems.ToAggregate(); err != nil {
		return nil, fmt.Errorf("deployment %s/%s cannot run as local processes: %w", deployment.Namespace, deployment.Name, err)
	}
	return found, nil
}

// rejected lists the fields of a container that mean something which a local process cannot be given.
func rejected(c *corev1.Container, path *field.Path) field.ErrorList {
	var problems field.ErrorList
	forbid := func(set bool, name, why string) {
		if set {
			problems = append(problems, field.Forbidden(path.Child(name), why))
		}
	}
	if !strings.HasPrefix(c.Image, imagePrefix) {
		problems = append(problems, field.Invalid(path.Child("image"), c.Image, "must be "+imagePrefix+" and a Go import path"))
	}
	forbid(len(c.Command) > 0, "command", "it names a file of the image, and a local process has no image")
	forbid(c.WorkingDir != "", "workingDir", "it names a folder of the image, and a local process has no image")
	forbid(len(c.VolumeDevices) > 0, "volumeDevices", "a local process has no separate devices")
	forbid(c.Lifecycle != nil, "lifecycle", "hooks are not run for a local process")
	for i, port := range c.Ports {
		if port.Protocol != "" && port.Protocol != corev1.ProtocolTCP {
			problems = append(problems, field.NotSupported(path.Child("ports").Index(i).Child("protocol"), port.Protocol,
				[]corev1.Protocol{corev1.ProtocolTCP}))
		}
	}
	return problems
}

// temporary is the only separate folder of a local process.
const temporary = "/tmp"

// rejectedMounts lists the mounts of a container except for that of an emptyDir at the folder for temporary files.
func rejectedMounts(c *corev1.Container, volumes []corev1.Volume, path *field.Path) (problems field.ErrorList) {
	for i, mount := range c.VolumeMounts {
		isEmpty := slices.ContainsFunc(volumes, func(v corev1.Volume) bool { return v.Name == mount.Name && v.EmptyDir != nil })
		if !isEmpty || mount.MountPath != temporary {
			problems = append(problems, field.Forbidden(path.Index(i),
				"a local process has no separate file system: only an emptyDir at "+temporary+" can be mounted"))
		}
	}
	return problems
}
