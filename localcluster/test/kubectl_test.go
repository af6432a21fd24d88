/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const manifest = `
apiVersion: v1
kind: ConfigMap
metadata: {name: from-kubectl}
data: {color: green}
`

// TestKubectl_CommonCommands_Succeed runs the commands that users run first.
func TestKubectl_CommonCommands_Succeed(t *testing.T) {
	p := sharedCluster(t)
	namespace := newNamespace(t, p.client(t))
	file := filepath.Join(t.TempDir(), "config-map.yaml")
	if err := os.WriteFile(file, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		want string
	}{
		{"version", "Server Version: " + release},
		{"version", "Client Version: " + release},
		{"apply -f " + file, "configmap/from-kubectl created"},
		{"apply -f " + file, "configmap/from-kubectl unchanged"},
		{"apply --server-side --force-conflicts -f " + file, "configmap/from-kubectl serverside-applied"},
		{"get configmap from-kubectl -o jsonpath={.data.color}", "green"},
		{"get nodes", "localcluster   Ready"},
		{"describe configmap from-kubectl", "color:"},
		{"explain pod.spec.nodeName", "FIELD: nodeName"},
		{"run waiting --image=example.com/none", "pod/waiting created"},
		{"wait --for=condition=Ready pod/waiting --timeout=30s", "condition met"},
		{"auth can-i list secrets --as=unprivileged", "no"},
		{"delete pod waiting", `pod "waiting" deleted`},
		{"delete -f " + file, `configmap "from-kubectl" deleted`},
		{"options", "--kubeconfig"},
	} {
		out, err := kubectl(p, append([]string{"--namespace", namespace}, strings.Fields(c.args)...)...)
		// "can-i" answers by its exit code as well.
		if (err != nil) != (c.want == "no") || !strings.Contains(out, c.want) {
			t.Errorf("kubectl %s: %v, and no %q in:\n%s", c.args, err, c.want, out)
		}
	}
	if out, err := kubectl(p, "get", "nothing-like-this"); err == nil || !strings.Contains(out, "error: the server doesn't have a resource type") {
		t.Errorf("kubectl get of an unknown kind: %v\n%s", err, out)
	}
}

func kubectl(p *process, args ...string) (string, error) {
	cmd := exec.Command(binary, append([]string{"kubectl"}, args...)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+p.kubeconfig)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestCommand_Version_IsPrinted(t *testing.T) {
	out, err := exec.Command(binary, "version").CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 2 || lines[0] != "Kubernetes "+release || !strings.HasPrefix(lines[1], "etcd v3.") {
		t.Errorf("it prints %q", lines)
	}
}
