/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
)

// markerPrefix begins the names that the barrier requests. No object has one.
const markerPrefix = "harness-marker-"

// podNameExtra is the key under which the API server records the Pod that a token belongs to.
const podNameExtra = "authentication.kubernetes.io/pod-name"

// AuditEntry is a request to the API server that has been answered, as in its audit log.
type AuditEntry struct {
	// Request is the request.
	Request

	Time time.Time
	// User is the name that the request was authenticated as, such as system:serviceaccount:knative-samples:controller.
	User      string
	UserAgent string
	// Pod is the Pod whose service account token was used, if there is one.
	Pod string
	// Query is the part of the URL after the question mark.
	Query string
	// Code is the HTTP status of the answer.
	Code int
}

// AuditFilter reports whether an entry is selected.
type AuditFilter func(AuditEntry) bool

// ByUser keeps the requests of one user, such as that of a process: see [Env.User].
func ByUser(user string) AuditFilter { return func(e AuditEntry) bool { return e.User == user } }

// ByProcess keeps the requests of one process, which must have a proxy: replicas of a Deployment are the same user.
func ByProcess(name string) AuditFilter {
	return func(e AuditEntry) bool { return strings.HasSuffix(e.UserAgent, processMark(name)) }
}

// processMark is the suffix that a proxy adds to the user agent.
func processMark(process string) string { return " process/" + process }

// ByVerb keeps the requests with one of the verbs.
func ByVerb(verbs ...string) AuditFilter {
	return func(e AuditEntry) bool { return slices.Contains(verbs, e.Verb) }
}

// ByRequest keeps the requests that match.
func ByRequest(match Match) AuditFilter { return func(e AuditEntry) bool { return match(e.Request) } }

// Writes keeps what may have changed something, whether it was allowed to or not.
func Writes(e AuditEntry) bool {
	return slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, e.Verb)
}

// Mark is a point in the audit log.
type Mark struct {
	env    *Env
	offset int64
	// received is a time by the clock of the API server.
	received time.Time
}

// Mark returns the present end of the audit log. Requests that were answered before are not after it, nor are those whose effect was seen before:
// a watch can deliver a write before the API server answers it.
func (e *Env) Mark(t testing.TB) Mark {
	t.Helper()
	offset, received := e.barrier(t)
	return Mark{env: e, offset: offset, received: received}
}

// includes reports whether an entry that follows the mark is of a request that was sent after it. A watch counts when it ends.
func (m Mark) includes(entry AuditEntry) bool {
	return entry.Verb == "watch" || !entry.Time.Before(m.received)
}

// Entries returns the entries of requests that were answered since the mark was made and pass every filter, in the order of the log. A
// watch is in the log once it has ended. The harness's own markers are left out.
func (m Mark) Entries(t testing.TB, filters ...AuditFilter) []AuditEntry {
	t.Helper()
	m.env.barrier(t)
	entries, err := readAudit(m.env.auditLog, m.offset)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(entries, func(entry AuditEntry) bool {
		return strings.HasPrefix(entry.Name, markerPrefix) || !m.includes(entry) ||
			slices.ContainsFunc(filters, func(keep AuditFilter) bool { return !keep(entry) })
	})
}

// barrier returns when everything that was answered before it is in the audit log. The API server writes an entry after
// the answer, request by request; so a marked request that shows up does not quite prove that one answered just before
// it has, but three in a row, each asked after the last has shown up, leave it no room. It returns the offset after the last
// complete line, because the API server may be writing another one, and when the API server received the first marked request.
func (e *Env) barrier(t testing.TB) (end int64, received time.Time) {
	t.Helper()
	for range 3 {
		name := markerPrefix + string(uuid.NewUUID())
		from, err := os.Stat(e.auditLog)
		if err != nil {
			t.Fatalf("reading the audit log: %v", err)
		}
		_, err = e.Kube.CoreV1().ConfigMaps(metav1.NamespaceDefault).Get(t.Context(), name, metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			t.Fatalf("asking for a marker: got error %v, want one that says that it does not exist", err)
		}
		Eventually(t, "the audit log shows a marked request", func(context.Context) error {
			content, err := readFrom(e.auditLog, from.Size())
			if err != nil {
				return err
			}
			complete := bytes.LastIndexByte(content, '\n') + 1
			if !bytes.Contains(content[:complete], []byte(name)) {
				return fmt.Errorf("%s is not in it yet", name)
			}
			end = from.Size() + int64(complete)
			if received.IsZero() {
				received, err = receivedAt(content[:complete], name)
			}
			return err
		})
	}
	return end, received
}

// receivedAt returns when the API server received the request for a marker. The first line may lack its beginning.
func receivedAt(content []byte, marker string) (time.Time, error) {
	for line := range bytes.Lines(content) {
		if !bytes.Contains(line, []byte(marker)) {
			continue
		}
		var event auditEvent
		if err := json.Unmarshal(line, &event); err != nil {
			return time.Time{}, fmt.Errorf("reading the entry of a marker: %w", err)
		}
		return event.Time.Time, nil
	}
	return time.Time{}, fmt.Errorf("the audit log has no line with %s", marker)
}

// auditEvent is the part of an audit.k8s.io/v1 Event that entries are made of.
type auditEvent struct {
	Verb       string           `json:"verb"`
	RequestURI string           `json:"requestURI"`
	UserAgent  string           `json:"userAgent"`
	Time       metav1.MicroTime `json:"requestReceivedTimestamp"`
	User       struct {
		Username string              `json:"username"`
		Extra    map[string][]string `json:"extra"`
	} `json:"user"`
	Response struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	Object struct {
		APIGroup    string `json:"apiGroup"`
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
	} `json:"objectRef"`
}

func readAudit(path string, offset int64) ([]AuditEntry, error) {
	content, err := readFrom(path, offset)
	if err != nil {
		return nil, err
	}
	var entries []AuditEntry
	complete := bytes.LastIndexByte(content, '\n') + 1 // what follows is still being written
	for line := range bytes.Lines(content[:complete]) {
		var event auditEvent
		if err := json.Unmarshal(line, &event); err != nil {
			return nil, fmt.Errorf("reading an entry of the audit log: %w", err)
		}
		uri, query, _ := strings.Cut(event.RequestURI, "?")
		entries = append(entries, AuditEntry{
			Time: event.Time.Time, User: event.User.Username, UserAgent: event.UserAgent, Code: event.Response.Code, Query: query,
			Pod: strings.Join(event.User.Extra[podNameExtra], ""),
			Request: Request{
				Verb: event.Verb, Group: event.Object.APIGroup, Resource: event.Object.Resource, Subresource: event.Object.Subresource,
				Namespace: event.Object.Namespace, Name: event.Object.Name, Path: uri,
			},
		})
	}
	return entries, nil
}

func readFrom(path string, offset int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	defer func() { _ = file.Close() }()
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		return nil, fmt.Errorf("reading the audit log from byte %d: %w", offset, err)
	}
	content, err := io.ReadAll(file)
	if err != nil {
		return nil, fmt.Errorf("reading the audit log from byte %d: %w", offset, err)
	}
	return content, nil
}
