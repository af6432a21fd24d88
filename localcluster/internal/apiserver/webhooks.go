/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apiserverv1 "k8s.io/apiserver/pkg/apis/apiserver/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/mallard-dev/mallard/localcluster/internal/pki"
)

// WebhookClient is the common name of the client certificate that the API server presents to admission webhooks. The
// cluster's CA signs it, so that a webhook can reject all other clients.
const WebhookClient = "kube-apiserver-webhook-client"

// anyWebhook is the name of a kubeconfig's user that applies to all hosts.
const anyWebhook = "*"

// admissionConfig writes an AdmissionConfiguration that gives the API server its client certificate for webhooks, and
// returns its path. The form is that of
// https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#authenticate-apiservers.
func admissionConfig(dir string, keys *pki.PKI) (string, error) {
	certFile, keyFile, err := keys.ClientFiles(WebhookClient)
	if err != nil {
		return "", err
	}
	kubeconfig := clientcmdapi.NewConfig()
	kubeconfig.AuthInfos[anyWebhook] = &clientcmdapi.AuthInfo{ClientCertificate: certFile, ClientKey: keyFile}
	kubeconfigFile := filepath.Join(dir, "webhooks.kubeconfig")
	if err := clientcmd.WriteToFile(*kubeconfig, kubeconfigFile); err != nil {
		return "", fmt.Errorf("writing %s: %w", kubeconfigFile, err)
	}
	plugin, err := json.Marshal(map[string]string{
		"apiVersion": apiserverv1.SchemeGroupVersion.String(), "kind": "WebhookAdmissionConfiguration", "kubeConfigFile": kubeconfigFile,
	})
	if err != nil {
		return "", fmt.Errorf("marshaling the configuration of admission webhooks: %w", err)
	}
	config := apiserverv1.AdmissionConfiguration{
		TypeMeta: metav1.TypeMeta{APIVersion: apiserverv1.SchemeGroupVersion.String(), Kind: "AdmissionConfiguration"},
	}
	for _, name := range []string{"MutatingAdmissionWebhook", "ValidatingAdmissionWebhook"} {
		config.Plugins = append(config.Plugins, apiserverv1.AdmissionPluginConfiguration{Name: name, Configuration: &runtime.Unknown{Raw: plugin}})
	}
	data, err := json.Marshal(config)
	if err != nil {
		return "", fmt.Errorf("marshaling the admission configuration: %w", err)
	}
	file := filepath.Join(dir, "admission.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return "", fmt.Errorf("writing the admission configuration: %w", err)
	}
	return file, nil
}
