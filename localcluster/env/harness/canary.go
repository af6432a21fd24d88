/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilrand "k8s.io/apimachinery/pkg/util/rand"

	"github.com/mallard-dev/mallard/localcluster/env/processes"
)

// suffix ends each canary: JSON and URLs escape it.
const suffix = "+<&%"

// canaries are the values of Secrets of this run by the tests that use them.
var canaries sync.Map // of strings

// searches are the tests whose end searches all objects, once for all of their canaries.
var searches sync.Map // of *sync.Map

// Canary returns a random value for a Secret, which must not be anywhere else: the end of the test searches all other objects of the shared environment
// for it, and those of an environment that it has started with [Own], and the end of the suite what the tests print, the logs and the metrics of the
// operator's processes, and what Search adds. Call it after [Env.Namespace], in the same test: the search then precedes the deletion of the namespace.
func Canary(t testing.TB) string {
	t.Helper()
	value := "canary-" + utilrand.String(20) + suffix
	canaries.Store(value, t.Name())
	all, isRegistered := searches.LoadOrStore(t, &sync.Map{})
	all.(*sync.Map).Store(value, nil) //nolint:forcetypeassert // see searches
	if shared != nil && !isRegistered {
		t.Cleanup(func() {
			searches.Delete(t)
			var values []any
			for value := range all.(*sync.Map).Range { //nolint:forcetypeassert // see searches
				values = append(values, value)
			}
			// The context of the test is over by now.
			ctx, cancel := context.WithTimeout(context.Background(), Deadline)
			defer cancel()
			if err := shared.searchObjects(ctx, values...); err != nil {
				t.Error(err)
			}
		})
	}
	return value
}

// searched are the texts that Search has added.
var searched sync.Map // of *named

type named struct {
	name string
	text func() string
}

// Search adds a text in which the end of the suite searches the canaries, such as the log of a program that runs in the suite itself.
func Search(name string, text func() string) { searched.Store(&named{name, text}, nil) }

// SearchFolder has the end of the test search the files that are left in a folder for canaries.
func SearchFolder(t testing.TB, folder string) {
	t.Helper()
	t.Cleanup(func() {
		texts := map[string]string{}
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			content, err := os.ReadFile(path)
			texts[path] = string(content)
			return err
		})
		if err := errors.Join(err, searchTexts(maps.Collect(canaries.Range), texts)); err != nil {
			t.Error(err)
		}
	})
}

// privateKeys begin private keys in PEM. Their lengths are multiples of three, so that their base64 form begins that of the key.
var privateKeys = map[any]any{
	"-----BEGIN PRIVATE KEY-----": "a certificate", "-----BEGIN EC PRIVATE KEY-----": "a certificate", "-----BEGIN RSA PRIVATE KEY----": "a certificate",
}

// searchTexts searches texts, by their names, for values.
func searchTexts(values map[any]any, texts map[string]string) error {
	var errs []error
	for name, text := range texts {
		for value, origin := range values {
			if form := Leaked(text, value.(string)); form != "" {
				errs = append(errs, fmt.Errorf("%s: the value of a Secret is in %s, %s", origin, name, form))
			}
		}
	}
	return errors.Join(errs...)
}

// runRecorded runs the tests, and searches what they print and what [Search] has added. A test that fails may print what it has found.
func runRecorded(m *testing.M) (int, error) {
	stdout, stderr := record(&os.Stdout), record(&os.Stderr)
	code := m.Run()
	texts := map[string]string{"the standard output": stdout(), "the standard error": stderr()}
	if code != 0 {
		return code, nil
	}
	for added := range searched.Range {
		texts[added.(*named).name] += added.(*named).text()
	}
	return code, errors.Join(searchTexts(maps.Collect(canaries.Range), texts), searchTexts(privateKeys, texts))
}

// Leaked returns the form in which a text contains a value, or "".
func Leaked(text, value string) string {
	quoted, err := json.Marshal(value)
	if err != nil {
		panic(err) // a text has a JSON form
	}
	hexadecimal := hex.EncodeToString([]byte(value))
	forms := map[string]string{
		"in clear": value, "as JSON": strings.Trim(string(quoted), `"`), "in a URL": url.QueryEscape(value), "in a path": url.PathEscape(value),
		"in hexadecimal digits": hexadecimal, "in capital hexadecimal digits": strings.ToUpper(hexadecimal),
		"in bytes": strings.Trim(fmt.Sprintf("%d", []byte(value)), "[]"),
	}
	for before, foreign := range []int{0, 2, 3} {
		encoded := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat(" ", before) + value))
		if (before+len(value))%3 > 0 {
			encoded = encoded[:len(encoded)-1] // it depends on what follows the value
		}
		forms[fmt.Sprintf("in base64 after %d bytes", before)] = encoded[foreign:]
	}
	for form, encoded := range forms {
		if strings.Contains(text, encoded) {
			return form
		}
	}
	// Nested escapes, as of JSON in JSON, leave the beginning of a canary as it is.
	if beginning, _, isEscaped := strings.Cut(value, suffix); isEscaped && strings.Contains(text, beginning) {
		return "in part or escaped"
	}
	return ""
}

// search searches the logs and the metrics of the operator's processes for all canaries, and for private keys in the operator's Secrets.
func (e *Env) search(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, Deadline)
	defer cancel()
	values := maps.Collect(canaries.Range)
	if secrets, err := e.Kube.CoreV1().Secrets(e.SystemNamespace).List(ctx, metav1.ListOptions{}); err == nil {
		for _, secret := range secrets.Items {
			for key, value := range secret.Data {
				if strings.Contains(string(value), "PRIVATE KEY") {
					values[string(value)] = secret.Name + "/" + key
				}
			}
		}
	}
	if len(values) == 0 {
		return nil // the API server and the processes may have stopped, and nothing can be found
	}
	var errs []error
	texts := map[string]string{}
	logs, _ := filepath.Glob(e.environment.LogFile("*")) // it fails for a wrong pattern only
	for _, log := range logs {
		content, err := os.ReadFile(log)
		errs = append(errs, err)
		texts["the log "+filepath.Base(log)] = string(content)
	}
	deployments, err := e.Kube.AppsV1().Deployments(e.SystemNamespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing the processes: %w", err)
	}
	for _, d := range deployments.Items {
		address, err := processes.Published(ctx, e.Kube, types.NamespacedName{Namespace: d.Namespace, Name: d.Name}, "metrics")
		if err != nil {
			continue // it does not run
		}
		content, err := scrape(ctx, "http://"+address+"/metrics")
		if errors.Is(err, syscall.ECONNREFUSED) {
			continue // it has stopped
		}
		errs = append(errs, err)
		texts["the metrics of "+d.Name] = string(content)
	}
	return errors.Join(append(errs, searchTexts(values, texts))...)
}

// searchObjects searches all objects except Secrets for canaries.
func (e *Env) searchObjects(ctx context.Context, values ...any) error {
	if len(values) == 0 {
		return nil
	}
	all, err := resources(e.Kube.Discovery(), "list", "create")
	if len(all) == 0 { // those of CRDs that other tests delete may be missing
		return err
	}
	var errs []error
	for _, gvr := range all {
		if gvr.Resource == "secrets" {
			continue
		}
		objects, err := e.Dynamic.Resource(gvr).List(ctx, metav1.ListOptions{})
		if apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("listing %s: %w", gvr.Resource, err)
		}
		for i := range objects.Items {
			object := &objects.Items[i]
			content := text(object)
			for _, value := range values {
				if form := Leaked(content, value.(string)); form != "" {
					errs = append(errs, fmt.Errorf("the value of a Secret is in %s %s/%s, %s", gvr.Resource, object.GetNamespace(), object.GetName(), form))
				}
			}
		}
	}
	return errors.Join(errs...)
}

// recordedProcesses is the time for which the output of processes that the tests have left is recorded.
const recordedProcesses = time.Second

// record copies what is printed to a file of the process until the returned function is called.
func record(file **os.File) (printed func() string) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return func() string { return "" } // the tests run all the same
	}
	original, copied, ended := *file, &bytes.Buffer{}, make(chan struct{})
	*file = writer
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.MultiWriter(original, copied), reader) // what cannot be printed cannot be reported either
	}()
	return func() string {
		*file = original
		_ = writer.Close()                                            // ends the copy
		_ = reader.SetReadDeadline(time.Now().Add(recordedProcesses)) // unless a process that a test has left holds it open
		<-ended
		return copied.String()
	}
}
