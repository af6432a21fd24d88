/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"knative.dev/pkg/system"
)

// leases is an API server that stores one lease. It needs no network, so that its clients can run in a bubble of package synctest.
type leases struct {
	mu      sync.Mutex
	stored  *coordinationv1.Lease
	down    bool
	updates []time.Time // that it has accepted
}

// RoundTrip implements http.RoundTripper.
func (l *leases) RoundTrip(request *http.Request) (*http.Response, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	sent := &coordinationv1.Lease{}
	if request.Body != nil {
		body, _ := io.ReadAll(request.Body)
		_, _, _ = scheme.Codecs.UniversalDeserializer().Decode(body, nil, sent)
	}
	resource := schema.GroupResource{Resource: "leases"}
	switch {
	case l.down:
		return failed(apierrors.NewServiceUnavailable("down"))
	case l.stored == nil && request.Method != http.MethodPost:
		return failed(apierrors.NewNotFound(resource, "a"))
	case request.Method == http.MethodPut && sent.ResourceVersion != l.stored.ResourceVersion:
		return failed(apierrors.NewConflict(resource, "a", nil))
	case request.Method == http.MethodPut:
		l.updates = append(l.updates, time.Now())
	}
	if request.Method != http.MethodGet {
		l.store(sent)
	}
	return answer(http.StatusOK, l.stored)
}

// store stores a lease at a new resourceVersion.
func (l *leases) store(lease *coordinationv1.Lease) {
	lease.ResourceVersion = strconv.FormatInt(time.Now().UnixNano(), 10)
	lease.ManagedFields = []metav1.ManagedFieldsEntry{{Time: ptr.To(metav1.Now())}}
	l.stored = lease
}

func failed(err *apierrors.StatusError) (*http.Response, error) {
	err.ErrStatus.Kind, err.ErrStatus.APIVersion = "Status", "v1"
	return answer(int(err.ErrStatus.Code), err.ErrStatus)
}

func answer(code int, object any) (*http.Response, error) {
	body, err := json.Marshal(object)
	header := http.Header{"Content-Type": {runtime.ContentTypeJSON}}
	return &http.Response{StatusCode: code, Header: header, Body: io.NopCloser(bytes.NewReader(body))}, err
}

// change returns a function that changes the API server.
func (l *leases) change(change func()) func() {
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		change()
	}
}

// timesOf are the durations of leader election.
type timesOf struct{ lease, renew, retry time.Duration }

var (
	ofMallard = timesOf{15 * time.Second, 10 * time.Second, 750 * time.Millisecond}
	ofKnative = timesOf{60 * time.Second, 40 * time.Second, 10 * time.Second}
)

// lead runs the election of client-go, as knative.dev/pkg does, until the test or the context ends. lost is called when it has ended to lead.
func (l *leases) lead(ctx context.Context, t *testing.T, times timesOf, config rest.Config, lost func(), off ...concern) {
	t.Helper()
	p, _ := newProcess(t, off...)
	config.Host, config.Transport = "http://leases", l
	config.Wrap(func(inner http.RoundTripper) http.RoundTripper { return &transport{inner, p} })
	client, err := kubernetes.NewForConfig(&config)
	if err != nil {
		t.Fatal(err)
	}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}, Client: client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: "me"},
		},
		LeaseDuration: times.lease, RenewDeadline: times.renew, RetryPeriod: times.retry, ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {}, OnStoppedLeading: lost},
	})
	if err != nil {
		t.Fatal(err)
	}
	for ctx.Err() == nil {
		elector.Run(klog.NewContext(ctx, klog.Logger{}))
	}
}

func TestRenewals_LeaderGivesUpBeforeTheLeaseExpires_AreLeftOut(t *testing.T) {
	t.Setenv(system.NamespaceEnvKey, "ns")
	json := rest.Config{ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON}} // the default of built-in kinds is protobuf
	for name, tc := range map[string]struct {
		times  timesOf
		config rest.Config
		off    []concern
		want   int // updates within a minute, after the one that follows the acquisition
	}{
		"OfMallard":     {ofMallard, rest.Config{}, nil, 16},
		"Off":           {ofMallard, rest.Config{}, []concern{renewals}, 80},
		"OfKnative":     {ofKnative, rest.Config{}, nil, 6},
		"ClientTimeout": {ofMallard, rest.Config{Timeout: time.Second}, nil, 80}, // it hides the renew deadline
		"JSON":          {ofMallard, json, nil, 16},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Minute+time.Millisecond, cancel)
				api := &leases{}
				api.lead(ctx, t, tc.times, tc.config, func() {}, tc.off...)
				if got := len(api.updates) - 2; got != tc.want {
					t.Errorf("the leader has renewed its lease %d times, want %d", got, tc.want)
				}
				if holder := api.stored.Spec.HolderIdentity; *holder != "" {
					t.Errorf("at its end %q holds the lease", *holder)
				}
			})
		})
	}
}

// The leader loses its leadership before another process can have it, and leads again.
func TestRenewals_LaterOnesFail_LeaderEndsBeforeTheLeaseExpires(t *testing.T) {
	t.Setenv(system.NamespaceEnvKey, "ns")
	for after := time.Minute; after < time.Minute+5*time.Second; after += 200 * time.Millisecond {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(after+time.Minute, cancel)
			api := &leases{}
			time.AfterFunc(after, api.change(func() { api.down = true }))
			time.AfterFunc(after+ofMallard.lease+time.Second, api.change(func() { api.down = false }))
			terms := 0
			api.lead(ctx, t, ofMallard, rest.Config{}, func() {
				terms++
				expires := api.updates[len(api.updates)-1].Add(ofMallard.lease - ofMallard.retry)
				if terms == 1 && time.Now().After(expires) {
					t.Errorf("the API server fails after %v: the leader leads for %v too long", after, time.Since(expires))
				}
			})
			if terms != 2 {
				t.Errorf("the API server fails after %v: the process has led %d times", after, terms)
			}
		})
	}
}

// The leader learns of both with the next renewal that is sent, at most 5 s later.
func TestRenewals_LeaseIsStolenOrDeleted_IsNoticed(t *testing.T) {
	t.Setenv(system.NamespaceEnvKey, "ns")
	const noticed = 5 * time.Second
	for after := time.Minute; after < time.Minute+noticed; after += 200 * time.Millisecond {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(2*after, cancel)
			api := &leases{}
			time.AfterFunc(after, api.change(func() { api.stored = nil }))
			time.AfterFunc(after+noticed, api.change(func() {
				if api.stored == nil || *api.stored.Spec.HolderIdentity != "me" {
					t.Errorf("the leader has not created its lease again: %v", api.stored)
				}
				api.stored.Spec.HolderIdentity = ptr.To("thief")
				api.store(api.stored)
			}))
			began, led := time.Now(), time.Duration(0)
			api.lead(ctx, t, ofMallard, rest.Config{}, func() { led = cmp.Or(led, time.Since(began)) })
			if led -= after + noticed; led <= 0 || led > noticed+ofMallard.renew {
				t.Errorf("the process has led for %v after its lease was stolen", led)
			}
		})
	}
}

// update is an update of a lease of 6 s.
type update struct {
	method, url string
	lease       *coordinationv1.Lease
	// after is the time since the last one, and deadline the time until its end, or 0.
	after, deadline time.Duration
}

func newUpdate() *update {
	return &update{
		http.MethodPut, "http://a/apis/coordination.k8s.io/v1/namespaces/ns/leases/a", &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: strconv.FormatInt(time.Now().UnixNano(), 10)},
			Spec: coordinationv1.LeaseSpec{
				HolderIdentity: ptr.To("me"), LeaseDurationSeconds: ptr.To[int32](6), LeaseTransitions: ptr.To[int32](0),
				RenewTime: ptr.To(metav1.NowMicro()),
			},
		}, time.Second, 2 * time.Second,
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

// send reports whether an update reaches the API server, which responds with a status.
func (u *update) send(t *testing.T, p *process, status int) (sent bool) {
	t.Helper()
	time.Sleep(u.after) //nolint:forbidigo // in the bubble of the test
	ctx, cancel := context.WithCancel(t.Context())
	if u.deadline > 0 {
		ctx, cancel = context.WithTimeout(ctx, u.deadline)
	}
	defer cancel()
	body, _ := json.Marshal(u.lease)
	request, err := http.NewRequestWithContext(ctx, u.method, u.url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := (&transport{roundTripper(func(*http.Request) (*http.Response, error) {
		sent = true
		return answer(status, u.lease)
	}), p}).RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if got, err := io.ReadAll(response.Body); err != nil || !bytes.Equal(got, body) {
		t.Errorf("the response is %s (%v)", got, err)
	}
	return sent
}

func TestRenewals_Update_IsSentUnlessItOnlyRenews(t *testing.T) {
	t.Setenv(system.NamespaceEnvKey, "ns")
	for name, tc := range map[string]struct {
		change func(*update)
		status int // of the response to the update before
		want   bool
	}{
		"Renewal":        {func(*update) {}, http.StatusOK, false},
		"LastOneFailed":  {func(*update) {}, http.StatusConflict, true},
		"Late":           {func(u *update) { u.after = 2 * time.Second }, http.StatusOK, true},
		"LongerDeadline": {func(u *update) { u.deadline = 3 * time.Second }, http.StatusOK, true},
		"NoDeadline":     {func(u *update) { u.deadline = 0 }, http.StatusOK, true},
		"Release":        {func(u *update) { u.lease.Spec.HolderIdentity = ptr.To("") }, http.StatusOK, true},
		"Acquisition":    {func(u *update) { u.lease.Spec.LeaseTransitions = ptr.To[int32](1) }, http.StatusOK, true},
		"OtherHolder":    {func(u *update) { u.lease.Spec.HolderIdentity = ptr.To("you") }, http.StatusOK, true},
		"Label":          {func(u *update) { u.lease.Labels = map[string]string{"a": "b"} }, http.StatusOK, true},
		"OtherLease":     {func(u *update) { u.url += "b" }, http.StatusOK, true},
		"OtherServer":    {func(u *update) { u.url = strings.Replace(u.url, "//a", "//b", 1) }, http.StatusOK, true},
		"OtherMethod":    {func(u *update) { u.method = http.MethodPatch }, http.StatusOK, true},
		"DryRun":         {func(u *update) { u.url += "?dryRun=All" }, http.StatusOK, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, _ := newProcess(t)
				for _, status := range []int{http.StatusOK, tc.status} {
					before := newUpdate()
					before.after, before.deadline = 100*time.Millisecond, 6*time.Second // longer than the lease
					if !before.send(t, p, status) {
						t.Error("an update is not sent although the leader would lead for longer than its lease")
					}
				}
				u := newUpdate()
				tc.change(u)
				if got := u.send(t, p, http.StatusOK); got != tc.want {
					t.Errorf("the update is sent: %t, want %t", got, tc.want)
				}
			})
		})
	}
}

func TestRenewals_LeaseOfAnotherNamespace_AreSent(t *testing.T) {
	t.Setenv(system.NamespaceEnvKey, "other")
	synctest.Test(t, func(t *testing.T) {
		p, _ := newProcess(t)
		for range 2 {
			if !newUpdate().send(t, p, http.StatusOK) {
				t.Error("the renewal of a lease of another namespace is left out")
			}
		}
	})
}
