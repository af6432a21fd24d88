/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hooks

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// writers are the bodies of hooks that write a value into a Secret, which they do not receive.
var writers = map[string]string{
	"create": `crud::create_or_update --arg ns="$ns" --arg p="$value" '{apiVersion: "v1", kind: "Secret", metadata: {namespace: $ns, name: "created"}, stringData: {password: $p}}'`,
	"merge":  `crud::merge_patch -n "$ns" --arg p="$value" Secret written '{stringData: {merged: $p}}'`,
	"json":   `crud::json_patch -n "$ns" --arg p="$value" secrets written '[{op: "add", path: "/data/patched", value: ($p | @base64)}]'`,
	"jq":     `crud::jq_patch -n "$ns" --arg p="$value" Secret written '.data.filtered = ($p | @base64)'`,
	"label":  `crud::merge_patch -n "$ns" --arg p="$value" Secret written '{stringData: {a: $p}}'; crud::merge_patch -n "$ns" --arg p="$value" ConfigMap it '{metadata: {labels: {a: $p}}}'`,
	"fails":  `crud::merge_patch -n "$ns" --arg p="$value" Secret written '{stringData: {merged: $p}}'; false`,
	"after":  `crud::merge_patch -n "$ns" --arg p="$value" Secret written '{stringData: {a: $p}}'; crud::merge_patch --status --apply-on-hook-error --arg p="$value" Namespace "$ns" '{status: {phase: $p}}'; false`,
	"breaks": `crud::merge_patch -n "$ns" --arg p="$value" Secret written '{stringData: {merged: $p}}'; echo '{"operationType": ' >>"$KUBERNETES_OPERATION_PATH"`,
	"times":  `crud::merge_patch -n "$ns" --arg p="$value" Secret written '{stringData: {merged: $p}}'; echo "during $value"; sleep 1000`,
	"metric": `crud::merge_patch -n "$ns" --arg p="$value" Secret written '{stringData: {merged: $p}}'; jq -cn --arg p "$value" '{name: "it", set: 1, labels: {a: $p}}' >>"$METRICS_PATH"`,
}

func TestSecret_HookWritesAValue_NothingThatItPrintsHasTheValue(t *testing.T) {
	s := newScene(t)
	if _, err := s.env.Kube.CoreV1().Secrets(s.ns).Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "written"}, StringData: map[string]string{"a": harness.Canary(t)},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.create("it", "1", it)
	values := map[string]string{}
	for name, body := range writers {
		values[name] = harness.Canary(t)
		before, end := `echo "before $value" >&2; set -x`, "allowFailure: true"
		if name == "times" {
			// While a run has not written a value, nothing shows that it is confidential. One that ends that early is repeated.
			before, end = "", "allowFailure: false\nsettings: {timeout: 1s}"
		}
		s.script("writes-"+name, `configVersion: v1
kubernetes:
- kind: ConfigMap
  queue: `+name+selected+`
  `+end, `
value='`+values[name]+`'
`+before+`
`+body+`
set +x
echo "after $value"`)
	}
	s.start(s.quick(), s.load(s.quick())...)
	for name := range writers {
		switch name {
		case "label", "fails", "after", "breaks":
			expectMeasured(t, 1, "hook.run.errors", "writes-"+name)
		case "times":
			awaitMeasured(t, 1, "hook.run.errors", "writes-"+name)
		default:
			expectMeasured(t, 1, "hook.runs", "writes-"+name, "result", "success")
		}
	}
	harness.Eventually(t, "the output is logged", func(context.Context) error {
		log := s.logged()
		for _, want := range []string{"before ***", "during ***", "after ***", "--arg 'p=***'", "The output of a hook is not shown", `Invalid value: "***"`, "The operations of a hook that failed are not complete"} {
			if !strings.Contains(log, want) {
				return errors.New("the log lacks " + want)
			}
		}
		return nil
	})
	for name, value := range values {
		if form := harness.Leaked(s.logged(), value); form != "" {
			t.Errorf("the value that hook %s writes is logged %s", name, form)
		}
	}
}
