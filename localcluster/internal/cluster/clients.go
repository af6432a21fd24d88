/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cluster

import (
	"fmt"
	"path/filepath"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/mallard-dev/mallard/localcluster/internal/pki"
)

// kubeconfigName is the name of the administrator's kubeconfig within the cluster's folder.
const kubeconfigName = "admin.kubeconfig"

// superusers is the group that is authorized to do everything, whatever RBAC grants.
const superusers = "system:masters"

// clientConfig makes the configuration of a client of the given user. Its rate is not limited: the API server's priority and fairness does that.
func clientConfig(keys *pki.PKI, server, user string, groups ...string) (*rest.Config, error) {
	certPEM, keyPEM, err := keys.Client(user, groups...)
	if err != nil {
		return nil, err
	}
	return &rest.Config{
		Host:            server,
		UserAgent:       "localcluster/" + user,
		TLSClientConfig: rest.TLSClientConfig{CAData: keys.CAPEM, CertData: certPEM, KeyData: keyPEM},
		QPS:             -1,
	}, nil
}

// writeKubeconfig writes the administrator's kubeconfig. It holds its keys itself, so that it can be copied elsewhere.
func writeKubeconfig(dir string, keys *pki.PKI, server string) (string, error) {
	const user = "localcluster-admin"
	certPEM, keyPEM, err := keys.Client(user, superusers)
	if err != nil {
		return "", err
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["localcluster"] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: keys.CAPEM}
	config.AuthInfos[user] = &clientcmdapi.AuthInfo{ClientCertificateData: certPEM, ClientKeyData: keyPEM}
	config.Contexts["localcluster"] = &clientcmdapi.Context{Cluster: "localcluster", AuthInfo: user}
	config.CurrentContext = "localcluster"
	path := filepath.Join(dir, kubeconfigName)
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		return "", fmt.Errorf("writing the kubeconfig: %w", err)
	}
	return path, nil
}
