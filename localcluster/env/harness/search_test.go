/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness

import (
	"encoding/base64"
	"encoding/json"
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
		if err := env.search(t.Context(), nil); fmt.Sprint(err) != want && (err != nil || want != "") {
			t.Errorf("log %s: got error %v, want %q", log, err, want)
		}
	}
}
