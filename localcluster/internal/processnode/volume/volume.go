/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package volume

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/pkg/volume/configmap"
	"k8s.io/kubernetes/pkg/volume/secret"
	volumeutil "k8s.io/kubernetes/pkg/volume/util"
	"k8s.io/utils/ptr"

	"github.com/mallard-dev/mallard/localcluster/internal/processnode/environment"
)

const defaultMode = corev1.SecretVolumeSourceDefaultMode

// errKind reports that a volume is of a kind that only a real Node has.
var errKind = errors.New("this kind of volume is not known on this Node: use emptyDir, configMap, secret, downwardAPI or projected")

// Volumes are those of one Pod.
type Volumes struct {
	Client        kubernetes.Interface
	Pod           *corev1.Pod
	PodIP, NodeIP string
	Allocatable   corev1.ResourceList
	// Dir is the folder that gets one folder for each volume.
	Dir string
	// Owners lets files belong to the Pod's fsGroup, which takes root.
	Owners bool

	tokens tokens
}

// Error names the volume that cannot be filled.
type Error struct {
	Volume string
	Err    error
}

// Error returns the text of a kubelet.
func (e *Error) Error() string {
	return fmt.Sprintf("MountVolume.SetUp failed for volume %q : %v", e.Volume, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Path is the folder of a volume.
func (v *Volumes) Path(name string) string { return filepath.Join(v.Dir, name) }

// Fill makes all volumes what they should be now. It is called before the first container starts, and every now and then.
// The error is an *Error.
func (v *Volumes) Fill(ctx context.Context) error {
	for i := range v.Pod.Spec.Volumes {
		volume := &v.Pod.Spec.Volumes[i]
		if err := v.fill(ctx, volume); err != nil {
			return &Error{Volume: volume.Name, Err: err}
		}
	}
	return nil
}

func (v *Volumes) fill(ctx context.Context, volume *corev1.Volume) error {
	dir := v.Path(volume.Name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making its folder: %w", err)
	}
	if volume.EmptyDir != nil {
		// The users of all containers may write to it.
		return v.open(dir)
	}
	payload, err := v.payload(ctx, volume)
	if err != nil {
		return err
	}
	writer, err := volumeutil.NewAtomicWriter(dir, "pod "+v.Pod.Namespace+"/"+v.Pod.Name)
	if err != nil {
		return fmt.Errorf("preparing its folder: %w", err)
	}
	if err := writer.Write(payload, func(sub string) error { return v.own(filepath.Join(dir, sub)) }); err != nil {
		return errors.Join(fmt.Errorf("writing its files: %w", err), discard(dir))
	}
	return nil
}

type files = map[string]volumeutil.FileProjection

func (v *Volumes) payload(ctx context.Context, volume *corev1.Volume) (files, error) {
	switch source := volume.VolumeSource; {
	case source.ConfigMap != nil:
		s := source.ConfigMap
		return v.configMap(ctx, s.Name, s.Items, ptr.Deref(s.Optional, false), mode(s.DefaultMode))
	case source.Secret != nil:
		s := source.Secret
		return v.secret(ctx, s.SecretName, s.Items, ptr.Deref(s.Optional, false), mode(s.DefaultMode))
	case source.DownwardAPI != nil:
		return v.downward(source.DownwardAPI.Items, mode(source.DownwardAPI.DefaultMode))
	case source.Projected != nil:
		return v.projected(ctx, source.Projected)
	default:
		return nil, errKind
	}
}

func (v *Volumes) projected(ctx context.Context, projected *corev1.ProjectedVolumeSource) (files, error) {
	all := files{}
	bits := mode(projected.DefaultMode)
	for _, source := range projected.Sources {
		var some files
		var err error
		switch {
		case source.ConfigMap != nil:
			some, err = v.configMap(ctx, source.ConfigMap.Name, source.ConfigMap.Items, ptr.Deref(source.ConfigMap.Optional, false), bits)
		case source.Secret != nil:
			some, err = v.secret(ctx, source.Secret.Name, source.Secret.Items, ptr.Deref(source.Secret.Optional, false), bits)
		case source.DownwardAPI != nil:
			some, err = v.downward(source.DownwardAPI.Items, bits)
		case source.ServiceAccountToken != nil:
			var token string
			token, err = v.tokens.get(ctx, v.Client, v.Pod, source.ServiceAccountToken)
			some = files{source.ServiceAccountToken.Path: {Data: []byte(token), Mode: bits}}
		default:
			err = errKind
		}
		if err != nil {
			return nil, err
		}
		maps.Copy(all, some)
	}
	return all, nil
}

func (v *Volumes) configMap(ctx context.Context, name string, items []corev1.KeyToPath, optional bool, bits int32) (files, error) {
	found, err := v.Client.CoreV1().ConfigMaps(v.Pod.Namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		if optional {
			return files{}, nil
		}
		return nil, fmt.Errorf("configmap %q not found", name)
	}
	if err != nil {
		return nil, fmt.Errorf("reading configmap %q: %w", name, err)
	}
	return configmap.MakePayload(items, found, &bits, optional) //nolint:wrapcheck // the text of a kubelet
}

func (v *Volumes) secret(ctx context.Context, name string, items []corev1.KeyToPath, optional bool, bits int32) (files, error) {
	found, err := v.Client.CoreV1().Secrets(v.Pod.Namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		if optional {
			return files{}, nil
		}
		return nil, fmt.Errorf("secret %q not found", name)
	}
	if err != nil {
		return nil, fmt.Errorf("reading secret %q: %w", name, err)
	}
	return secret.MakePayload(items, found, &bits, optional) //nolint:wrapcheck // the text of a kubelet
}

func (v *Volumes) downward(items []corev1.DownwardAPIVolumeFile, bits int32) (files, error) {
	all := files{}
	for _, item := range items {
		var value string
		var err error
		switch {
		case item.FieldRef != nil:
			value, err = environment.Field(v.Pod, item.FieldRef.FieldPath, v.PodIP, v.NodeIP)
		case item.ResourceFieldRef != nil:
			value, err = environment.Resource(v.Pod, item.ResourceFieldRef, "", v.Allocatable)
		}
		if err != nil {
			return nil, fmt.Errorf("file %s: %w", item.Path, err)
		}
		all[item.Path] = volumeutil.FileProjection{Data: []byte(value), Mode: ptr.Deref(item.Mode, bits)}
	}
	return all, nil
}

func mode(bits *int32) int32 { return ptr.Deref(bits, defaultMode) }
