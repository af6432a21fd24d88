/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package volume

import (
	"context"
	"fmt"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// A token is replaced when four fifths of its time are over, or after a day, as a kubelet does.
const (
	refreshNumerator, refreshDenominator = 4, 5
	maxTokenAge                          = 24 * time.Hour
)

// tokens keeps the tokens of one Pod by the path of their file.
type tokens struct {
	mu    sync.Mutex
	known map[string]token
}

type token struct {
	value string
	until time.Time
}

// get returns a token that is bound to the Pod, so that it ends with it.
func (t *tokens) get(
	ctx context.Context, client kubernetes.Interface, pod *corev1.Pod, projection *corev1.ServiceAccountTokenProjection,
) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if found, ok := t.known[projection.Path]; ok && time.Now().Before(found.until) {
		return found.value, nil
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: projection.ExpirationSeconds,
		BoundObjectRef:    &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID},
	}}
	if projection.Audience != "" {
		request.Spec.Audiences = []string{projection.Audience}
	}
	now := time.Now()
	answer, err := client.CoreV1().ServiceAccounts(pod.Namespace).CreateToken(ctx, pod.Spec.ServiceAccountName, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("failed to fetch token: %w", err)
	}
	age := answer.Status.ExpirationTimestamp.Sub(now) * refreshNumerator / refreshDenominator
	if t.known == nil {
		t.known = map[string]token{}
	}
	t.known[projection.Path] = token{value: answer.Status.Token, until: now.Add(min(age, maxTokenAge))}
	return answer.Status.Token, nil
}
