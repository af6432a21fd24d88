/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// entry is the part of an audit event that readers of the log count on.
type entry struct {
	Level string `json:"level"`
	Stage string `json:"stage"`
	Verb  string `json:"verb"`
	User  struct {
		Username string `json:"username"`
	} `json:"user"`
	ObjectRef struct {
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	RequestObject json.RawMessage `json:"requestObject"`
	RequestURI    string          `json:"requestURI"`
}

// TestAPI_AuditLog_RecordsRequests looks for a granted, a rejected and a subresource request, and for entries that must not exist.
func TestAPI_AuditLog_RecordsRequests(t *testing.T) {
	p := sharedCluster(t)
	client := p.client(t)
	namespace := newNamespace(t, client)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "audited"}, StringData: map[string]string{"k": "very-secret"}}
	if _, err := client.CoreV1().Secrets(namespace).Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	config := withToken(p.config(t), requestToken(t, client, namespace, "default"))
	if _, err := newClient(t, config).CoreV1().Secrets(namespace).Get(t.Context(), "audited", metav1.GetOptions{}); err == nil {
		t.Fatal("a service account without permissions read a Secret")
	}
	if _, err := newClient(t, rest.AnonymousClientConfig(p.config(t))).Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(t.Context()); err != nil {
		t.Fatal(err)
	}

	entries := readAudit(t, filepath.Join(p.dir(), "audit.log"))
	want := func(what string, match func(entry) bool) {
		t.Helper()
		if !slices.ContainsFunc(entries, match) {
			t.Errorf("not in the audit log: %s", what)
		}
	}
	want("the creation of the Secret", func(e entry) bool {
		return e.Verb == "create" && e.User.Username == "localcluster-admin" && e.ObjectRef.Resource == "secrets" &&
			e.ObjectRef.Namespace == namespace && e.ObjectRef.Name == "audited" && e.ResponseStatus.Code == 201
	})
	want("the rejected request", func(e entry) bool {
		return e.Verb == "get" && e.User.Username == "system:serviceaccount:"+namespace+":default" &&
			e.ObjectRef.Name == "audited" && e.ResponseStatus.Code == 403
	})
	want("the request for a token", func(e entry) bool {
		return e.ObjectRef.Resource == "serviceaccounts" && e.ObjectRef.Subresource == "token" && e.ObjectRef.Namespace == namespace
	})
	for _, e := range entries {
		switch {
		case e.Level != "Metadata" || e.Stage != "ResponseComplete" || e.RequestObject != nil:
			t.Fatalf("an entry of another level or stage: %+v", e)
		case strings.HasPrefix(e.RequestURI, "/readyz"), e.User.Username == "system:apiserver":
			t.Fatalf("noise: %+v", e)
		}
	}
}

// readAudit reads the entries; a line that is just being written is not one yet.
func readAudit(t *testing.T, path string) []entry {
	t.Helper()
	var entries []entry
	eventually(t, "a readable audit log", func(context.Context) error {
		entries = nil
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		scanner := bufio.NewScanner(file)
		scanner.Buffer(nil, 1<<20)
		for scanner.Scan() {
			var e entry
			if err := json.Unmarshal(scanner.Bytes(), &e); err != nil {
				return errors.Join(err, file.Close())
			}
			entries = append(entries, e)
		}
		return errors.Join(scanner.Err(), file.Close())
	})
	return entries
}
