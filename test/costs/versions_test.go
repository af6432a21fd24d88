//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package costs

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// comparing is the longest time until the API server has compared each of its watch caches with etcd, which it does at random every 5 to 7.5 minutes.
const comparing = 9 * time.Minute

// TestCosts_OlderVersions_AreConvertedOnlyWhereServed counts the conversions by the webhook, for each write and while nothing changes.
func TestCosts_OlderVersions_AreConvertedOnlyWhereServed(t *testing.T) {
	for name, test := range map[string]struct {
		options []harness.Option
		// served is the number of versions. Each has a watch cache, to which the API server converts each write, unless it stores that version.
		served int
	}{
		"Config":      {nil, 1},
		"AllVersions": {[]harness.Option{harness.AllVersions()}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const objects = 50
			env := harness.Own(t, test.options...)
			ns := env.Namespace(t)
			createTarget(t, env, ns)
			mark := env.Mark(t)
			addressableServices.create(t, env, ns, objects, 1).await(t)
			resource := v1.Resource("addressableservices")
			// They are two per object, unless one is reconciled before the cache has its target.
			writes := len(mark.Entries(t, harness.Writes, func(e harness.AuditEntry) bool {
				return e.Namespace == ns && e.Resource == resource.Resource && e.Code < http.StatusBadRequest
			}))
			conversions := writes * (test.served - 1)
			harness.Eventually(t, "the watch caches have all writes", func(context.Context) error {
				// A watch cache that starts after the first objects were created converts those of its list as well.
				n := env.Conversions(t, resource)
				if n < conversions {
					return fmt.Errorf("%d conversions, want %d", n, conversions)
				}
				conversions = n
				return nil
			})
			harness.EventuallyWithin(t, comparing, "each watch cache is compared with etcd", func(context.Context) error {
				if n := env.ConsistencyChecks(t, resource); n < test.served {
					return fmt.Errorf("%d of %d are", n, test.served)
				}
				return nil
			})
			n := env.Conversions(t, resource) - conversions
			t.Logf("%d versions, %d objects: %d conversions by %d writes, %d while nothing changes", test.served, objects, conversions, writes, n)
			// One cache may be compared twice before another one is compared.
			if least := objects * (test.served - 1); n < least || test.served == 1 && n != 0 {
				t.Errorf("%d conversions while nothing changes, want %d", n, least)
			}
		})
	}
}
