/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// pod returns a minimal Pod.
func pod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": name}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "main", Image: "example.com/none", Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
		}}},
	}
}

// newNamespace makes a namespace for one test, in which Pods can be created. It is not waited for at the end: the
// cluster goes soon after.
func newNamespace(t *testing.T, client kubernetes.Interface) string {
	t.Helper()
	namespace, err := client.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the service account of a new namespace", func(ctx context.Context) error {
		_, err := client.CoreV1().ServiceAccounts(namespace.Name).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
	return namespace.Name
}

// waitRunning waits until a Pod is Running and Ready and has an address.
func waitRunning(t *testing.T, client kubernetes.Interface, namespace, name string) *corev1.Pod {
	t.Helper()
	var pod *corev1.Pod
	eventually(t, "Pod "+name+" Running and Ready", func(ctx context.Context) error {
		var err error
		if pod, err = client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{}); err != nil {
			return err
		}
		if pod.Status.Phase != corev1.PodRunning || pod.Status.PodIP == "" || !hasCondition(pod, corev1.PodReady) {
			return fmt.Errorf("its status is %+v", pod.Status)
		}
		return nil
	})
	return pod
}

func hasCondition(pod *corev1.Pod, kind corev1.PodConditionType) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == kind {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// waitForDefault waits for what the first Pod in a cluster needs.
func waitForDefault(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	eventually(t, "the default service account", func(ctx context.Context) error {
		_, err := client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		return err
	})
}

func requestToken(t *testing.T, client kubernetes.Interface, namespace, account string) string {
	t.Helper()
	request, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), account,
		&authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return request.Status.Token
}

// withToken returns the configuration of a client that has a token and nothing else.
func withToken(config *rest.Config, token string) *rest.Config {
	anonymous := rest.AnonymousClientConfig(config)
	anonymous.BearerToken = token
	return anonymous
}

// whoAmI returns the user that the API server takes the holder of a token for.
func whoAmI(t *testing.T, config *rest.Config, token string) string {
	t.Helper()
	review, err := newClient(t, withToken(config, token)).AuthenticationV1().SelfSubjectReviews().Create(t.Context(),
		&authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return review.Status.UserInfo.Username
}

var errThere = errors.New("it still exists")
