/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package migration

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/pager"
)

// errChanged is returned if the spec of the CRD changes: the storage version may have been another for a while, and objects written at that one.
var errChanged = errors.New("the CRD was changed during the migration, and objects may have been stored at another version: migrate again")

// Migrator moves objects. NewForConfig returns one.
type Migrator struct {
	Metadata metadata.Interface
	CRDs     clientset.Interface
	// Backoff defines the number of attempts of a request and the delays between them.
	Backoff wait.Backoff
}

// NewForConfig returns a Migrator that tries each request for a minute, which is longer than a webhook or an API server takes to be replaced. Unless the
// config has a limit, the API server's priority and fairness decides on the number of requests per second.
func NewForConfig(config *rest.Config) *Migrator {
	config = rest.CopyConfig(config)
	config.Timeout, config.QPS = time.Minute, cmp.Or(config.QPS, -1) // a request that hangs is retried
	return &Migrator{
		Metadata: metadata.NewForConfigOrDie(config),
		CRDs:     clientset.NewForConfigOrDie(config),
		Backoff:  wait.Backoff{Duration: 2 * time.Second, Steps: 30},
	}
}

// run is the migration of one resource.
type run struct {
	*Migrator

	crd     *apiextensionsv1.CustomResourceDefinition
	storage schema.GroupVersionResource
	// moves is set if objects may be stored at another version.
	moves bool
}

// Migrate writes each object of the CRD with a name that may be stored at another version than the storage version, or whose managedFields name a version
// that is not served, and prunes status.storedVersions. It returns the number of objects that it wrote, also with an error.
func (m *Migrator) Migrate(ctx context.Context, name string) (written int, err error) {
	r := run{Migrator: m}
	err = r.try(ctx, "reading the CRD", func() (err error) {
		r.crd, err = m.CRDs.ApiextensionsV1().CustomResourceDefinitions().Get(ctx, name, metav1.GetOptions{})
		return err //nolint:wrapcheck // try does
	})
	if err != nil {
		return 0, err
	}
	isStored := func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Storage }
	stored := r.crd.Spec.Versions[slices.IndexFunc(r.crd.Spec.Versions, isStored)]
	if !stored.Served {
		return 0, fmt.Errorf("the storage version %s is not served, so that objects can neither be listed nor written at it", stored.Name)
	}
	r.storage = schema.GroupVersionResource{Group: r.crd.Spec.Group, Version: stored.Name, Resource: r.crd.Spec.Names.Plural}
	r.moves = !slices.Equal(r.crd.Status.StoredVersions, []string{stored.Name})
	if written, err = r.writeAll(ctx); err != nil {
		return written, fmt.Errorf("status.storedVersions is left as it is: %w", err)
	}
	if r.moves {
		err = r.prune(ctx)
	}
	return written, err
}

// writeAll writes every object once that has to be cleaned or moved. It reads and sends metadata only.
func (r *run) writeAll(ctx context.Context) (written int, err error) {
	var rejected []error
	err = pager.New(r.list).EachListItem(ctx, metav1.ListOptions{}, func(item runtime.Object) error {
		wrote, err := r.write(ctx, item.(*metav1.PartialObjectMetadata)) //nolint:forcetypeassert // of a list of them
		switch {
		case wrote:
			written++
		case err == nil || apierrors.IsNotFound(err): // it was deleted
		case ctx.Err() != nil, transient(err):
			return err // the others would fail, too
		default:
			rejected = append(rejected, err)
		}
		return nil
	})
	return written, errors.Join(append(rejected, err)...)
}

// list lists a page. Writing the previous one may have taken longer than etcd keeps the revision that the continue token refers to. The API server then
// sends another token with its error, which continues at the present revision: the objects that this list may lack were created since, hence at
// the storage version.
func (r *run) list(ctx context.Context, options metav1.ListOptions) (page runtime.Object, err error) {
	err = r.try(ctx, "listing objects", func() (err error) {
		page, err = r.Metadata.Resource(r.storage).List(ctx, options)
		status := apierrors.APIStatus(nil)
		if apierrors.IsResourceExpired(err) && errors.As(err, &status) && status.Status().Continue != "" {
			options.Continue = status.Status().Continue
			page, err = r.Metadata.Resource(r.storage).List(ctx, options)
		}
		return err //nolint:wrapcheck // try does
	})
	return page, err
}

// write cleans an object's managedFields, or else patches it with nothing if it may be stored at another version: either makes the API server store it
// at the storage version. After a failure the object is read again, since it may have changed, or may be clean by now.
func (r *run) write(ctx context.Context, object *metav1.PartialObjectMetadata) (wrote bool, err error) {
	client, read := r.Metadata.Resource(r.storage).Namespace(object.Namespace), object
	err = r.try(ctx, "writing "+cache.MetaObjectToName(object).String(), func() (err error) {
		if read == nil {
			if read, err = client.Get(ctx, object.Name, metav1.GetOptions{}); err != nil {
				return err //nolint:wrapcheck // try does
			}
		}
		kind, patch := types.MergePatchType, []byte("{}")
		if kept := r.clean(read.ManagedFields); kept != nil {
			kind = types.JSONPatchType
			patch, err = json.Marshal([]map[string]any{
				{"op": "replace", "path": "/metadata/managedFields", "value": kept},
				{"op": "replace", "path": "/metadata/resourceVersion", "value": read.ResourceVersion},
			})
		}
		if err != nil || kind == types.MergePatchType && !r.moves {
			return err //nolint:wrapcheck // try does
		}
		read = nil
		_, err = client.Patch(ctx, object.Name, kind, patch, metav1.PatchOptions{})
		wrote = err == nil
		return err //nolint:wrapcheck // try does
	})
	return wrote, err
}

// prune sets status.storedVersions to the storage version, unless the spec of the CRD has changed since it was read. The patch carries the
// resourceVersion, so that this is still so when it arrives.
func (r *run) prune(ctx context.Context) error {
	client := r.CRDs.ApiextensionsV1().CustomResourceDefinitions()
	return r.try(ctx, "writing status.storedVersions", func() error {
		live, err := client.Get(ctx, r.crd.Name, metav1.GetOptions{})
		if err != nil {
			return err //nolint:wrapcheck // try does
		}
		if live.UID != r.crd.UID || live.Generation != r.crd.Generation {
			return errChanged
		}
		patch := fmt.Appendf(nil, `{"metadata": {"resourceVersion": %q}, "status": {"storedVersions": [%q]}}`, live.ResourceVersion, r.storage.Version)
		_, err = client.Patch(ctx, r.crd.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
		return err //nolint:wrapcheck // try does
	})
}

// try repeats a request while that can help. Package retry would report success for one that is canceled.
func (m *Migrator) try(ctx context.Context, what string, request func() error) error {
	var last error
	ended := wait.ExponentialBackoffWithContext(ctx, m.Backoff, func(context.Context) (done bool, err error) {
		last = request()
		return last == nil || !transient(last), nil
	})
	if last != nil {
		return fmt.Errorf("%s: %w", what, last)
	}
	return ended //nolint:wrapcheck // nil, or the end of ctx
}

// transient reports whether the same request may succeed later: the object was changed concurrently, the server is busy, fails or cannot be reached, or
// a webhook that it calls fails, which is an error 500. A webhook may deny an object with that code, too: the words are those of k8s.io/apiserver.
func transient(err error) bool {
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		code := status.Status().Code
		isDenied := strings.Contains(err.Error(), " denied the request")
		return code == http.StatusConflict || code == http.StatusTooManyRequests || code >= http.StatusInternalServerError && !isDenied
	}
	return !errors.Is(err, errChanged) && !errors.Is(err, context.Canceled)
}
