//go:build kubernetes1.34

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllers

import (
	"context"

	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/pkg/controller/serviceaccount"
)

func newServiceAccountsController(
	_ context.Context, accounts coreinformers.ServiceAccountInformer, namespaces coreinformers.NamespaceInformer, client kubernetes.Interface,
) (*serviceaccount.ServiceAccountsController, error) {
	options := serviceaccount.DefaultServiceAccountsControllerOptions()
	return serviceaccount.NewServiceAccountsController(accounts, namespaces, client, options) //nolint:wrapcheck // by the caller
}
