/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package webhook converts Backups between their versions. Admission, certificates and the process itself are as in any
// project that uses knative.dev/pkg, and not shown here.
package webhook

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	knativeconversion "knative.dev/pkg/webhook/resourcesemantics/conversion"

	"github.com/mallard-dev/mallard/conversion/knative"

	v1 "example.com/backup/apis/v1"
	"example.com/backup/apis/v1beta1"
)

// NewConversionController is for sharedmain.MainWithContext, together with the controllers of admission.
func NewConversionController(ctx context.Context, _ configmap.Watcher) *controller.Impl {
	return knativeconversion.NewConversionController(ctx, "/conversion",
		map[schema.GroupKind]knativeconversion.GroupKindConversion{
			{Group: "backup.example.com", Kind: "Backup"}: {
				DefinitionName: "backups.backup.example.com",
				HubVersion:     "v1",
				Zygotes: map[string]knativeconversion.ConvertibleObject{
					"v1beta1": &v1beta1.Backup{},
					"v1":      &v1.Backup{},
				},
			},
		}, knative.WithConverting)
}
