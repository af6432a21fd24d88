/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package processes

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const (
	tokenLifetime = time.Hour
	// tokenRetry is the pause after a renewal that failed. The old token is good for some minutes still.
	tokenRetry = 5 * time.Second
)

// Server is the address and CA with which a process reaches the API server.
type Server struct {
	// URL is its address, https://HOST:PORT. It must be https: client-go sends no token to any other.
	URL string
	// CA is the PEM bundle that its certificate is verified with.
	CA []byte
}

// tokens keeps the token of each service account in a file, and renews it there for as long as ctx lasts.
type tokens struct {
	ctx     context.Context //nolint:containedctx // the life of the renewals, which no single call owns
	kube    kubernetes.Interface
	dir     string
	onError func(error)

	mu    sync.Mutex
	files map[types.NamespacedName]string
	tasks sync.WaitGroup
}

// file returns the path of the token file of a service account, which exists and is renewed from then on.
func (t *tokens) file(ctx context.Context, account types.NamespacedName) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if path, ok := t.files[account]; ok {
		return path, nil
	}
	path := filepath.Join(t.dir, account.Namespace+"."+account.Name+".token")
	expires, err := t.renew(ctx, account, path)
	if err != nil {
		return "", err
	}
	t.files[account] = path
	t.tasks.Go(func() { t.keep(account, path, expires) })
	return path, nil
}

// keep renews a token when four fifths of its life are over, which is when the kubelet does.
func (t *tokens) keep(account types.NamespacedName, path string, expires time.Time) {
	wait := time.Until(expires) * 4 / 5
	for {
		select {
		case <-t.ctx.Done():
			return
		case <-time.After(wait):
		}
		expires, err := t.renew(t.ctx, account, path)
		if wait = time.Until(expires) * 4 / 5; err != nil {
			wait = tokenRetry
			if t.ctx.Err() == nil {
				t.onError(err)
			}
		}
	}
}

// renew requests a token and puts it in place in one step, so that no reader sees half of one.
func (t *tokens) renew(ctx context.Context, account types.NamespacedName, path string) (time.Time, error) {
	seconds := int64(tokenLifetime / time.Second)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	answer, err := t.kube.CoreV1().ServiceAccounts(account.Namespace).CreateToken(ctx, account.Name, request, metav1.CreateOptions{})
	if err != nil {
		return time.Time{}, fmt.Errorf("requesting a token for service account %s: %w", account, err)
	}
	if err := os.WriteFile(path+".new", []byte(answer.Status.Token), 0o600); err != nil {
		return time.Time{}, fmt.Errorf("writing the token of service account %s: %w", account, err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return time.Time{}, fmt.Errorf("writing the token of service account %s: %w", account, err)
	}
	return answer.Status.ExpirationTimestamp.Time, nil
}

// writeKubeconfig writes the file that KUBECONFIG names. Without a token file it leads to the server anonymously, like a Pod without a token.
func writeKubeconfig(path string, server Server, account types.NamespacedName, tokenFile string) error {
	const name = "processes"
	config := clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{name: {Server: server.URL, CertificateAuthorityData: server.CA}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{account.Name: {TokenFile: tokenFile}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: account.Name, Namespace: account.Namespace}},
		CurrentContext: name,
	}
	if err := clientcmd.WriteToFile(config, path); err != nil {
		return fmt.Errorf("writing the kubeconfig of service account %s: %w", account, err)
	}
	return nil
}
