/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"errors"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/mallard-dev/mallard/conversion/controllerruntime"

	v1 "example.com/gizmo/apis/v1"
	"example.com/gizmo/apis/v1beta1"
)

// Setup adds the webhooks of every version to the manager, whose scheme has all versions. Complete serves the conversion webhook, too.
func Setup(manager ctrl.Manager) error {
	return errors.Join(
		ctrl.NewWebhookManagedBy(manager, &v1.Gizmo{}).
			WithDefaulter(&controllerruntime.Defaulter[*v1.Gizmo]{}).
			WithValidator(&controllerruntime.Validator[*v1.Gizmo]{
				Next: rules{},
				Spokes: map[string]func() controllerruntime.Spoke{
					"v1beta1": func() controllerruntime.Spoke { return &v1beta1.Gizmo{} },
				},
			}).
			Complete(),
		ctrl.NewWebhookManagedBy(manager, &v1beta1.Gizmo{}).
			WithDefaulter(&controllerruntime.Defaulter[*v1beta1.Gizmo]{}).
			WithValidator(&controllerruntime.Validator[*v1beta1.Gizmo]{Next: controllerruntime.AtHub[*v1beta1.Gizmo](rules{})}).
			Complete(),
	)
}
