/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package events

import (
	"context"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientfeatures "k8s.io/client-go/features"
	clientfeaturestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/tools/cache"
)

var (
	errExpired = apierrors.NewResourceExpired("the version is too old")
	errInduced = apierrors.NewInternalError(context.DeadlineExceeded)

	errForbidden = apierrors.NewForbidden(corev1.Resource("configmaps"), "", errInduced)
)

// failing returns an informer of the server, and the errors with which its watch error handler is called.
func (s *server) failing(t *testing.T) (cache.SharedIndexInformer, <-chan error) {
	t.Helper()
	informer, failures := s.informer(t, 0), make(chan error, 100)
	must(t, informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) { failures <- err }))
	return informer, failures
}

// versionsOf returns the resource versions of lists.
func versionsOf(lists []metav1.ListOptions) (versions []string) {
	for _, options := range lists {
		versions = append(versions, options.ResourceVersion)
	}
	return versions
}

func (s *server) expectLists(t *testing.T, want ...string) {
	t.Helper()
	if got := versionsOf(s.listed()); !slices.Equal(got, want) {
		t.Errorf("the versions of the lists are %q, want %q", got, want)
	}
}

func TestReflector_FirstRequests_AnyVersionThenThatOfTheList(t *testing.T) {
	s := newServer("5", it("a", "3"))
	run(t, s.informer(t, 0))
	options := s.watched(t).options
	s.expectLists(t, "0")
	if options.ResourceVersion != "5" || !options.AllowWatchBookmarks || options.SendInitialEvents != nil {
		t.Errorf("the watch has %+v, want the version of the list, and bookmarks", options)
	}
	if timeout := options.TimeoutSeconds; timeout == nil || *timeout < 5*60 || *timeout > 10*60 {
		t.Errorf("the watch has the timeout %v, want 5 to 10 minutes", timeout)
	}
}

func TestReflector_StreamEnds_ResumesFromTheLastVersion(t *testing.T) {
	s := newServer("5")
	run(t, s.informer(t, 0))
	first := s.watched(t)
	added := it("a", "6")
	first.Add(&added)
	bookmark := it("", "9")
	first.Action("BOOKMARK", &bookmark)
	first.Stop()
	if got := s.watched(t).options.ResourceVersion; got != "9" {
		t.Errorf("the next watch begins at %s, want at the bookmark", got)
	}
	s.expectLists(t, "0")
}

func TestReflector_StreamEndsAtOnceWithoutAnEvent_ListsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer("5")
		run(t, s.informer(t, 0))
		s.watched(t).Stop()
		s.watched(t)
		s.expectLists(t, "0", "5")
	})
}

func TestReflector_VersionExpires_ListsAgainAndNoErrorHandlerIsCalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer("5")
		informer, failures := s.failing(t)
		run(t, informer)
		first := s.watched(t)
		added := it("a", "6")
		first.Add(&added)
		first.Error(&errExpired.ErrStatus)
		s.watched(t)
		s.expectLists(t, "0", "6")
		if n := len(failures); n != 0 {
			t.Errorf("the watch error handler was called %d times", n)
		}
	})
}

func TestReflector_ListFails_ErrorHandlerIsCalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer("5")
		s.listErrors = []error{errInduced}
		informer, failures := s.failing(t)
		run(t, informer)
		if err := receive(t, failures, "the error"); !apierrors.IsInternalError(err) {
			t.Errorf("the handler is called with %v", err)
		}
		s.watched(t)
	})
}

func TestReflector_ListIsExpired_ListsAnyVersionAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer("5")
		run(t, s.informer(t, 0))
		first := s.watched(t)
		s.mu.Lock()
		s.listErrors = []error{errExpired}
		s.mu.Unlock()
		first.Error(&errExpired.ErrStatus)
		s.watched(t)
		s.expectLists(t, "0", "5", "")
	})
}

func TestReflector_WatchIsRefused_WatchesAgainWithoutAListAndNoErrorHandlerIsCalled(t *testing.T) {
	for name, refusal := range map[string]error{"429": apierrors.NewTooManyRequests("later", 1), "connection": syscall.ECONNREFUSED} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer("5")
				s.watchErrors = []error{refusal}
				informer, failures := s.failing(t)
				run(t, informer)
				if got := s.watched(t).options.ResourceVersion; got != "5" {
					t.Errorf("the watch begins at %s, want 5", got)
				}
				s.expectLists(t, "0")
				if n := len(failures); n != 0 {
					t.Errorf("the watch error handler was called %d times", n)
				}
			})
		})
	}
}

func TestReflector_WatchIsForbidden_ListsAgainAndErrorHandlerIsCalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer("5")
		s.watchErrors = []error{errForbidden}
		informer, failures := s.failing(t)
		run(t, informer)
		if err := receive(t, failures, "the error"); !apierrors.IsForbidden(err) {
			t.Errorf("the handler is called with %v", err)
		}
		s.watched(t)
		s.expectLists(t, "0", "5")
	})
}

func TestReflector_ListIsForbidden_SyncsOnceItIsAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer("5", it("a", "3"))
		s.listErrors = []error{errForbidden, errForbidden}
		informer, failures := s.failing(t)
		run(t, informer)
		for range 2 {
			if err := receive(t, failures, "the error"); !apierrors.IsForbidden(err) {
				t.Errorf("the handler is called with %v", err)
			}
			if informer.HasSynced() {
				t.Error("the informer has synced without a list")
			}
		}
		s.watched(t)
		eventually(t, "the informer has synced", informer.HasSynced)
	})
}

func TestReflector_AnotherErrorInTheStream_ListsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer("5")
		run(t, s.informer(t, 0))
		s.watched(t).Error(&errInduced.ErrStatus)
		s.watched(t)
		s.expectLists(t, "0", "5")
	})
}

func TestWatchList_FirstRequest_IsAWatchThatEndsWithABookmark(t *testing.T) {
	if !clientfeatures.FeatureGates().Enabled(clientfeatures.WatchListClient) {
		t.Error("WatchListClient is disabled by default")
	}
	s := newServer("5")
	informer := cache.NewSharedIndexInformer(s.lw(), &corev1.ConfigMap{}, 0, cache.Indexers{})
	run(t, informer)
	first := s.watched(t)
	if o := first.options; o.SendInitialEvents == nil || !*o.SendInitialEvents || o.ResourceVersionMatch != metav1.ResourceVersionMatchNotOlderThan || o.ResourceVersion != "" {
		t.Errorf("the first watch has %+v", o)
	}
	added := it("a", "3")
	first.Add(&added)
	if informer.HasSynced() {
		t.Error("the informer has synced before the bookmark")
	}
	first.Action("BOOKMARK", initialEventsEnd("5"))
	eventually(t, "the informer has synced", informer.HasSynced)
	s.expectLists(t)
}

func TestWatchList_RequestFails_FallsBackToAList(t *testing.T) {
	clientfeaturestesting.SetFeatureDuringTest(t, clientfeatures.WatchListClient, true)
	s := newServer("5")
	s.watchErrors = []error{apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("ConfigMap").GroupKind(), "it", nil)}
	run(t, cache.NewSharedIndexInformer(s.lw(), &corev1.ConfigMap{}, 0, cache.Indexers{}))
	if o := s.watched(t).options; o.SendInitialEvents != nil || o.ResourceVersion != "5" {
		t.Errorf("the watch after the list has %+v", o)
	}
	s.expectLists(t, "0")
}
