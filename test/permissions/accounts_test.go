/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package permissions

import (
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/client/clientset/versioned"
)

// attempts are requests of a process, one for each sort of object that it has a permission for.
var attempts = map[string]func(*testing.T, *rest.Config, string) error{
	"list objects": func(t *testing.T, config *rest.Config, _ string) error {
		t.Helper()
		_, err := samplesFor(t, config).SamplesV1().AddressableServices(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{})
		return err
	},
	"list ConfigMaps": func(t *testing.T, config *rest.Config, system string) error {
		t.Helper()
		_, err := kubeFor(t, config).CoreV1().ConfigMaps(system).List(t.Context(), metav1.ListOptions{})
		return err
	},
	"read the certificate": func(t *testing.T, config *rest.Config, system string) error {
		t.Helper()
		_, err := kubeFor(t, config).CoreV1().Secrets(system).List(t.Context(), metav1.ListOptions{})
		return err
	},
	"take the lease": func(t *testing.T, config *rest.Config, system string) error {
		t.Helper()
		_, err := kubeFor(t, config).CoordinationV1().Leases(system).List(t.Context(), metav1.ListOptions{})
		return err
	},
	"publish an alias": func(t *testing.T, config *rest.Config, _ string) error {
		t.Helper()
		alias := &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Name: "stolen"},
			Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "a.example.com"},
		}
		_, err := kubeFor(t, config).CoreV1().Services(directory).Create(t.Context(), alias, metav1.CreateOptions{})
		return err
	},
	"read a webhook configuration": func(t *testing.T, config *rest.Config, _ string) error {
		t.Helper()
		_, err := kubeFor(t, config).AdmissionregistrationV1().MutatingWebhookConfigurations().List(t.Context(), metav1.ListOptions{})
		return err
	},
}

func kubeFor(t *testing.T, config *rest.Config) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func samplesFor(t *testing.T, config *rest.Config) versioned.Interface {
	t.Helper()
	client, err := versioned.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// withToken is access to the API server with a token and nothing else.
func withToken(env *harness.Env, token string) *rest.Config {
	config := rest.AnonymousClientConfig(env.Config)
	config.BearerToken = token
	return config
}

// token requests one of an account of the system namespace.
func token(t *testing.T, env *harness.Env, account string, audiences ...string) string {
	t.Helper()
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: audiences}}
	answer, err := env.Kube.CoreV1().ServiceAccounts(env.SystemNamespace).CreateToken(t.Context(), account, request, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return answer.Status.Token
}

func TestAPI_InvalidToken_IsRejected(t *testing.T) {
	env := harness.Shared(t)
	right := token(t, env, "controller")
	for name, wrong := range map[string]string{
		"made up":              "not-a-token",
		"changed":              right[:len(right)-10] + "AAAAAAAAAA",
		"for another audience": token(t, env, "controller", "https://elsewhere.example.com"),
	} {
		for what, attempt := range attempts {
			if err := attempt(t, withToken(env, wrong), env.SystemNamespace); !apierrors.IsUnauthorized(err) {
				t.Errorf("%s with a token that is %s: got error %v, want that it is not authorized", what, name, err)
			}
		}
	}
	if err := attempts["list objects"](t, withToken(env, right), env.SystemNamespace); err != nil {
		t.Errorf("the right token: %v", err)
	}
}

func TestDefaultServiceAccount_Permissions_AreEmpty(t *testing.T) {
	env := harness.Shared(t)
	config := withToken(env, token(t, env, "default"))
	for what, attempt := range attempts {
		if err := attempt(t, config, env.SystemNamespace); !apierrors.IsForbidden(err) {
			t.Errorf("%s: got error %v, want that it is forbidden", what, err)
		}
	}
	for _, g := range granted(t) {
		if allowed(t, env, "default", g) {
			t.Errorf("the default account may do what is granted: %s", g)
		}
	}
}
