//go:build !kubernetes1.34 && !kubernetes1.36

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllers

import (
	quota "k8s.io/apiserver/pkg/quota/v1"
	"k8s.io/client-go/informers"
	quotainstall "k8s.io/kubernetes/pkg/quota/v1/install"
)

func newQuotaConfiguration(listers quota.ListerForResourceFunc, all informers.SharedInformerFactory) (quota.Configuration, error) {
	return quotainstall.NewQuotaConfigurationForControllers(listers, all), nil
}
