/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hooks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/crud/hook"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// broken are the bodies of hooks that do not answer, and what the user reads if the failure policy is Fail.
var broken = map[string]struct{ body, want string }{
	"exit":      {`echo '{"allowed": true}' >"$ADMISSION_RESPONSE_PATH"; exit 3`, "exit status 3"},
	"silent":    {``, "it did not answer the review: write a response with the field allowed"},
	"nonsense":  {`echo yes >"$ADMISSION_RESPONSE_PATH"`, "reading its response: decoding it"},
	"undecided": {`echo '{"message": "perhaps"}' >"$ADMISSION_RESPONSE_PATH"`, "reading its response: allowed: it is missing"},
	"patch":     {`echo '{"allowed": true, "patch": "'"$(echo '[{"op": "remove", "path": "/nowhere"}]' | base64 -w0)"'"}' >"$ADMISSION_RESPONSE_PATH"`, "patch: executing it"},
	"link":      {`rm "$ADMISSION_RESPONSE_PATH"; ln -s /etc/passwd "$ADMISSION_RESPONSE_PATH"`, "ADMISSION_RESPONSE_PATH: "},
	"pipe":      {`rm "$ADMISSION_RESPONSE_PATH"; mkfifo "$ADMISSION_RESPONSE_PATH"`, "ADMISSION_RESPONSE_PATH must be a regular file"},
	"endless":   {`yes >"$ADMISSION_RESPONSE_PATH"`, "it did not answer within the timeout"},
	"late": {`
trap '' TERM
setsid sleep 1000 & echo $! >>"$runs/late-children"
sleep 1000 & echo $! >>"$runs/late-children"
wait`, "it did not answer within the timeout"},
	"operations": {
		`echo '{"allowed": true}' >"$ADMISSION_RESPONSE_PATH"; crud::create_or_update --arg ns="$ns" '{apiVersion: "v1", kind: "ConfigMap", metadata: {namespace: $ns, name: "no"}}'`,
		"it has 1 operations, which are not executed in a review",
	},
}

// A hook that does not answer is an error, for which the failure policy decides, and harms nothing else.
func TestT38_Admission_BrokenHooks_FailurePolicyDecides(t *testing.T) {
	s := newScene(t)
	for name, of := range broken {
		config := admission("kubernetesMutating", name+".fail.example.com", "")
		if strings.HasSuffix(of.want, "within the timeout") {
			config = strings.ReplaceAll(config, "timeoutSeconds: 30", "timeoutSeconds: 2")
		}
		selector := "\n  labelSelector: {matchLabels: {" + name + ": POLICY}}\n  failurePolicy: POLICY\n"
		_, binding, _ := strings.Cut(config, "kubernetesMutating:\n")
		fail, ignore := binding+selector, strings.ReplaceAll(binding, ".fail.", ".ignore.")+selector
		s.script(name, "configVersion: v1\nkubernetesMutating:\n"+
			strings.ReplaceAll(fail, "POLICY", "Fail")+strings.ReplaceAll(ignore, "POLICY", "Ignore"), of.body)
	}
	answers := hook.Bindings{Validating: []hook.Admission{s.reviewed("witness.example.com", "witness")}}
	s.serve(append(s.load(s.quick()), s.hook("witness", answers, func(_ context.Context, run *hook.Run) error {
		run.Response = &hook.Response{Message: "the witness answers"}
		return nil
	}), s.hook("panic", hook.Bindings{Validating: []hook.Admission{s.reviewed("panic.example.com", "panic")}}, func(context.Context, *hook.Run) error {
		panic("the hook panics")
	}), s.hook("deaf", hook.Bindings{
		Validating: []hook.Admission{s.reviewed("deaf.example.com", "deaf")}, Settings: hook.Settings{Timeout: metav1.Duration{Duration: 100 * time.Millisecond}},
	}, func(context.Context, *hook.Run) error {
		<-s.ended // not ctx
		return nil
	}))...)
	witness := func() { s.awaitDenial("1", map[string]string{"witness": ""}, "the witness answers") }
	witness()
	t.Run("broken", func(t *testing.T) {
		for name := range broken {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := *s
				s.T = t
				s.expectBroken(name)
			})
		}
	})
	s.awaitDenial("1", map[string]string{"panic": ""}, "it panicked")
	s.awaitDenial("1", map[string]string{"deaf": ""}, "it did not answer within the timeout")
	witness()
	if n := counted(t, "operations.file.rejected", "operations", "reason", "review"); n < 2 {
		t.Errorf("%d files of operations are rejected, want at least 2", n)
	}
	if _, err := s.env.Kube.CoreV1().ConfigMaps(s.ns).Get(t.Context(), "no", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("an operation of a review was executed: %v", err)
	}
	s.awaitAllDead("late-children")
	s.end()
	<-s.ended
	// A late run ends after its review.
	harness.Eventually(s, "runs leave no folder", func(context.Context) error {
		left, err := os.ReadDir(s.temporary)
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("there are %v", left)
		}
		return err
	})
}

// expectBroken expects that the failure policy decides about the reviews of a hook that is broken.
func (s *scene) expectBroken(name string) {
	s.Helper()
	status := s.awaitDenial("1", map[string]string{name: "Fail"}, broken[name].want)
	if status.Reason != metav1.StatusReasonInternalError || !strings.Contains(status.Message, `failed calling webhook "`+name+`.fail.example.com"`) {
		s.Errorf("the status is %v", status)
	}
	if _, _, err := s.try(name, "1", map[string]string{name: "Ignore"}); err != nil {
		s.Errorf("with failurePolicy Ignore: %v", err)
	}
	if n := counted(s, "hook.reviews", name, "result", "error"); n < 2 || counted(s, "hook.reviews", name) != n {
		s.Errorf("%d of %d reviews are errors, want all, at least 2", n, counted(s, "hook.reviews", name))
	}
}

// awaitAllDead waits until no process runs whose ID is in a file.
func (s *scene) awaitAllDead(file string) {
	s.Helper()
	content, err := os.ReadFile(filepath.Join(s.runs, file))
	if err != nil {
		s.Fatal(err)
	}
	s.awaitDead(file, len(strings.Fields(string(content))))
}

// The values of a Secret that is reviewed are neither logged, nor shown to the user.
func TestAdmission_Secret_ValuesAreMasked(t *testing.T) {
	s := newScene(t)
	value := harness.Canary(t)
	s.script("secrets", strings.ReplaceAll(admission("kubernetesValidating", "secrets.example.com", ""), "configmaps", "secrets"), `
secret=$(crud::context '.[0].review.request.object.data.password | @base64d')
[[ "$secret" == '`+value+`' ]]
echo "the password is $secret"
crud::context . >&2
echo '{"allowed": false, "message": "the password '"$secret"' is bad", "warnings": ["do not use '"$secret"'"]}' >"$ADMISSION_RESPONSE_PATH"
`)
	s.serve(s.load(s.quick())...)
	var text string
	harness.Eventually(t, "the Secret is denied", func(context.Context) error {
		_, err := s.env.TryKubectl(t, fmt.Sprintf("{apiVersion: v1, kind: Secret, metadata: {name: it}, stringData: {password: %q}}", value),
			"create", "--dry-run=server", "--namespace="+s.ns, "--filename=-")
		if err == nil {
			return errors.New("it is not")
		}
		text = err.Error()
		return nil
	})
	if !strings.Contains(text, "the password *** is bad") || !strings.Contains(text, "do not use ***") || harness.Leaked(text, value) != "" {
		t.Errorf("the user reads %s", text)
	}
	s.end()
	<-s.ended
	masked := 0
	for _, entry := range s.logs.All() {
		line := entry.Message + fmt.Sprint(entry.ContextMap())
		if harness.Leaked(line, value) != "" {
			t.Errorf("a value of a Secret is logged: %.300s", line)
		}
		masked += strings.Count(line, "the password is ***")
	}
	if masked == 0 {
		t.Error("the output of the hook is not logged")
	}
}
