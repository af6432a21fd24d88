/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package podworker

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mallard-dev/mallard/localcluster/internal/processnode/image"
)

// image returns the image of a container, pulled if its policy requires it. The errors are problems.
func (w *Worker) image(ctx context.Context, c *corev1.Container) (*image.Image, error) {
	found, present := w.node.Images.Present(c.Image)
	switch {
	case present && w.node.Images.Local(c.Image) && c.ImagePullPolicy != corev1.PullAlways:
		w.containerEvent(c.Name, corev1.EventTypeNormal, reasonPulled,
			fmt.Sprintf("Container image %q already present on machine and can be accessed by the pod", c.Image))
		return found, nil
	case c.ImagePullPolicy == corev1.PullNever:
		message := fmt.Sprintf("Container image %q is not present with pull policy of Never", c.Image)
		w.containerEvent(c.Name, corev1.EventTypeWarning, reasonNeverPull, message)
		return nil, &problem{reason: reasonNeverPull, message: message, event: true, brief: reasonNeverPull}
	}
	key := c.Name + " " + c.Image
	if err := w.awaitPull(ctx, c, key); err != nil {
		return nil, err
	}
	w.containerEvent(c.Name, corev1.EventTypeNormal, reasonPulling, fmt.Sprintf("Pulling image %q", c.Image))
	begun := time.Now()
	pulled, err := w.node.Images.Pull(ctx, c.Image)
	if errors.Is(err, image.ErrInvalidName) {
		message := fmt.Sprintf("Failed to apply default image tag %q: %v", c.Image, err)
		w.containerEvent(c.Name, corev1.EventTypeWarning, reasonInspect, message)
		return nil, &problem{reason: reasonInvalidName, message: message, event: true, brief: reasonInvalidName}
	}
	if err != nil {
		w.containerEvent(c.Name, corev1.EventTypeWarning, reasonFailed, fmt.Sprintf("Failed to pull image %q: %v", c.Image, err))
		w.pulls.Next(key, time.Now())
		return nil, &problem{reason: reasonErrImagePull, message: err.Error(), event: true, brief: reasonErrImagePull}
	}
	took := time.Since(begun).Truncate(time.Millisecond)
	w.containerEvent(c.Name, corev1.EventTypeNormal, reasonPulled,
		fmt.Sprintf("Successfully pulled image %q in %v (%v including waiting). Image size: %v bytes.", c.Image, took, took, pulled.Size))
	return pulled, nil
}

// awaitPull waits, after an image could not be pulled, until a retry is due.
func (w *Worker) awaitPull(ctx context.Context, c *corev1.Container, key string) error {
	if !w.pulls.IsInBackOffSinceUpdate(key, time.Now()) {
		return nil
	}
	message := fmt.Sprintf("Back-off pulling image %q", c.Image)
	w.containerEvent(c.Name, corev1.EventTypeNormal, reasonBackOff, message)
	w.containerEvent(c.Name, corev1.EventTypeWarning, reasonFailed, "Error: "+reasonImageBackOff)
	w.mu.Lock()
	if s, ok := w.states[c.Name]; ok && s.status.State.Waiting != nil && s.status.State.Waiting.Reason == reasonErrImagePull {
		message += ": " + reasonErrImagePull + ": " + s.status.State.Waiting.Message
	}
	w.mu.Unlock()
	w.waiting(c.Name, reasonImageBackOff, message)
	for w.pulls.IsInBackOffSinceUpdate(key, time.Now()) {
		if !sleep(ctx, pullPoll) {
			return ctx.Err() //nolint:wrapcheck // it only ends the attempt
		}
		if w.spec(c.Name).Image != c.Image {
			// A user has changed the image.
			return &problem{reason: reasonImageBackOff, message: message, waited: true}
		}
	}
	return nil
}

// pullPoll is the interval at which the image of a waiting container is checked.
const pullPoll = 200 * time.Millisecond
