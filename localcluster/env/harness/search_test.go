/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/mallard-dev/mallard/localcluster/env/internal/environment"
)

// No test makes this value, so that it is searched for in each environment, also in that of a suite without Secrets.
func TestSearch_PrivateKeyOfTheOperatorInALog_IsFound(t *testing.T) {
	const key = "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\n"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/secrets") {
			fmt.Fprintf(w, `{"kind": "SecretList", "apiVersion": "v1", "items": [{"metadata": {"name": "certs"}, "data": {"key": %q}}]}`,
				base64.StdEncoding.EncodeToString([]byte(key)))
			return
		}
		fmt.Fprint(w, `{"kind": "DeploymentList", "apiVersion": "apps/v1", "items": []}`)
	}))
	t.Cleanup(server.Close)
	kube, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	env := &Env{Kube: kube, environment: &environment.Env{Kubeconfig: t.TempDir() + "/cluster/admin.kubeconfig"}}
	path := env.environment.LogFile("webhook")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	quoted, err := json.Marshal(key)
	if err != nil {
		t.Fatal(err)
	}
	for log, want := range map[string]string{
		"started":                            "",
		`{"secret": ` + string(quoted) + `}`: "certs/key: the value of a Secret is in the log webhook.log, as JSON",
	} {
		if err := os.WriteFile(path, []byte(log), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := env.search(t.Context()); fmt.Sprint(err) != want && (err != nil || want != "") {
			t.Errorf("log %s: got error %v, want %q", log, err, want)
		}
	}
}

func TestSearchTexts_PrivateKeyInAnyForm_IsFound(t *testing.T) {
	for _, kind := range []string{"", "EC ", "RSA "} {
		key := "-----BEGIN " + kind + "PRIVATE KEY-----\nMC4CAQ==\n"
		for _, text := range []string{key, base64.StdEncoding.EncodeToString([]byte(key))} {
			if err := searchTexts(privateKeys, map[string]string{"the output": "key: " + text}); err == nil {
				t.Errorf("%q is not found", text)
			}
		}
	}
	if err := searchTexts(privateKeys, map[string]string{"the output": "-----BEGIN CERTIFICATE-----"}); err != nil {
		t.Error(err)
	}
}

// ending records what a test does at its end.
type ending struct {
	testing.TB
	cleanups []func()
	errors   []any
}

func (e *ending) Cleanup(f func()) { e.cleanups = append(e.cleanups, f) }

func (e *ending) Error(args ...any) { e.errors = append(e.errors, args...) }

func TestSearchFolder_CanaryInAFile_FailsTheTest(t *testing.T) {
	test, folder, value := &ending{TB: t}, t.TempDir(), Canary(t)
	SearchFolder(test, folder)
	test.cleanups[0]()
	if len(test.errors) > 0 {
		t.Errorf("the errors without files are %v", test.errors)
	}
	path := filepath.Join(folder, "nested", "file")
	if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("the password is "+value), 0o600)); err != nil {
		t.Fatal(err)
	}
	test.cleanups[0]()
	if want := t.Name() + ": the value of a Secret is in " + path + ", in clear"; fmt.Sprint(test.errors...) != want {
		t.Errorf("the errors are %v, want %s", test.errors, want)
	}
}
