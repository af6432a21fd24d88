/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package migration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

const (
	// requestTimeout bounds one request, as the API server itself does; one that hangs is retried.
	requestTimeout = time.Minute
	// defaultEvery is the number of objects after which a run logs its progress.
	defaultEvery = 500
	// unlimited leaves it to the API server's priority and fairness how many requests a second there may be.
	unlimited = -1
)

// Migrator moves objects. NewForConfig makes one.
type Migrator struct {
	// Metadata and CRDs are clients of the same API server.
	Metadata metadata.Interface
	CRDs     clientset.Interface
	// Log gets progress, retries, and each object that failed.
	Log *zap.SugaredLogger
	// Backoff defines the number of attempts of a request and the delays between them. A Cap would end the tries.
	Backoff wait.Backoff
	// Every is after how many objects progress is logged.
	Every int
}

// NewForConfig makes a Migrator that tries each request for about a minute, and logs progress every 500 objects.
func NewForConfig(config *rest.Config, log *zap.SugaredLogger) (*Migrator, error) {
	config = rest.CopyConfig(config)
	config.Timeout = requestTimeout
	if config.QPS == 0 {
		config.QPS = unlimited
	}
	m := &Migrator{Log: log, Backoff: defaultBackoff, Every: defaultEvery}
	var err error
	if m.Metadata, err = metadata.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("creating a client for metadata: %w", err)
	}
	if m.CRDs, err = clientset.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("creating a client for CRDs: %w", err)
	}
	return m, nil
}

// Summary holds the results of a run.
type Summary struct {
	// Resource is the name of the CRD, and Version its storage version.
	Resource, Version string
	// Cleaned is the number of objects that had entries of managedFields removed, and Moved the number of those that were written because they might
	// not have been stored at Version, the cleaned ones among them. Deleted is how many were deleted before it was their turn.
	Cleaned, Moved, Deleted int
	// StoredBefore and Stored are status.storedVersions at the beginning and at the end.
	StoredBefore, Stored []string
}

// String is a line for people.
func (s Summary) String() string {
	if s.Cleaned+s.Moved+s.Deleted == 0 && strings.Join(s.StoredBefore, ",") == strings.Join(s.Stored, ",") {
		return fmt.Sprintf("%s: there was nothing to do: all objects are stored at %s", s.Resource, s.Version)
	}
	return fmt.Sprintf("%s: stored at %s: %d moved, %d cleaned, %d deleted concurrently; status.storedVersions was %v and is %v",
		s.Resource, s.Version, s.Moved, s.Cleaned, s.Deleted, s.StoredBefore, s.Stored)
}

// run is one migration of one resource.
type run struct {
	migrator *Migrator
	log      *zap.SugaredLogger
	tally    *tally
	crd      *apiextensionsv1.CustomResourceDefinition
	plan     plan
}

// MigrateAll migrates one resource after the other and logs what was done for each. One that fails does not keep the
// others from their turn. Versions to be dropped of a resource that is not among them are an error, and nothing is done.
func (m *Migrator) MigrateAll(ctx context.Context, resources Resources, drop Versions) error {
	for resource := range drop {
		if !slices.Contains(resources, resource) {
			return fmt.Errorf("versions of %s should be dropped, which is not among the resources to be migrated: %v", resource, resources)
		}
	}
	var failures []error
	for _, resource := range resources {
		summary, err := m.Migrate(ctx, resource, drop[resource])
		if err == nil {
			m.Log.Info(summary)
			continue
		}
		m.Log.Errorw("Not migrated", "resource", resource.String(), "cleaned", summary.Cleaned, "moved", summary.Moved,
			"deleted", summary.Deleted, "error", err.Error())
		failures = append(failures, err)
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(failures...)
}

// Migrate cleans and moves the objects of a resource. Entries of managedFields are removed if they name a version that is not served, that does not
// exist, or that drop names; dropping a version that is still served makes sense only when no client writes at it any more.
//
// An error that wraps an ObjectsError means that these objects failed and all others are migrated; any other error means that the run ended
// early. In both cases Migrate can be called again. The Summary is valid in any case.
func (m *Migrator) Migrate(ctx context.Context, resource schema.GroupResource, drop []string) (Summary, error) {
	log := m.Log.With("resource", resource.String())
	r := &run{migrator: m, log: log, tally: &tally{log: log, every: m.Every}}
	summary := Summary{Resource: resource.String()}
	if err := r.read(ctx, resource, drop); err != nil {
		return summary, fmt.Errorf("migrating %s: %w", resource, err)
	}
	summary.Version, summary.StoredBefore, summary.Stored = r.plan.storage.Version, r.crd.Status.StoredVersions, r.crd.Status.StoredVersions
	r.log.Infow("Migrating", "storageVersion", summary.Version, "storedVersions", summary.StoredBefore, "kept", r.plan.keep.UnsortedList())

	err := r.writeAll(ctx)
	failures := r.tally.sorted()
	if err == nil && len(failures) == 0 && r.tally.moves {
		err = r.prune(ctx)
	}
	for _, failure := range failures {
		r.log.Errorw("Failed", "object", failure.Object.String(), "error", failure.Err.Error())
	}
	summary.Cleaned, summary.Moved, summary.Deleted = r.tally.cleaned, r.tally.moved, r.tally.deleted
	if len(failures) > 0 {
		err = errors.Join(err, failures)
	}
	if err != nil {
		return summary, fmt.Errorf("migrating %s: %w", resource, err)
	}
	summary.Stored = []string{summary.Version}
	return summary, nil
}

// read reads the CRD and makes the plan.
func (r *run) read(ctx context.Context, resource schema.GroupResource, drop []string) error {
	err := r.try(ctx, "reading the CRD", func(ctx context.Context) (err error) {
		r.crd, err = r.migrator.CRDs.ApiextensionsV1().CustomResourceDefinitions().Get(ctx, resource.String(), metav1.GetOptions{})
		return err //nolint:wrapcheck // try does
	})
	if err != nil {
		return err
	}
	if r.plan, err = newPlan(r.crd, drop); err != nil {
		return err
	}
	r.tally.moves = !slices.Equal(r.crd.Status.StoredVersions, []string{r.plan.storage.Version})
	return nil
}
