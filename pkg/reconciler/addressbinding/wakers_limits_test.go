/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"fmt"
	"testing"

	"k8s.io/client-go/tools/cache"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

func TestWebhookRules_KindNotServed_HandlerSendsNoRequest(t *testing.T) {
	var bindings []*v1.AddressBinding
	for i := range 100 {
		bindings = append(bindings, object(fmt.Sprintf("b%d", i), withSubject("example.com/v1", "Duck", "k")))
	}
	w := newWakers(t, bindings...)
	w.webhooks().OnAdd(everywhere, false)
	if n := len(w.discovery.Actions()); n != 0 {
		t.Errorf("%d bindings of one kind cost %d requests, want none", len(bindings), n)
	}
	if got := w.woken(); len(got) > 0 {
		t.Errorf("woken are %q, though their kind does not exist", got)
	}
}

func TestHandlersIgnoreWhatIsNoObject(t *testing.T) {
	w := newWakers(t)
	all := append(w.addressBindings(), w.addressableServices(), w.subjects(), w.namespaces(), w.crds(), w.webhooks())
	for _, junk := range []any{"text", nil, cache.DeletedFinalStateUnknown{Key: "ns/a", Obj: "text"}, cache.DeletedFinalStateUnknown{Key: "ns/a"}} {
		for _, handler := range all {
			handler.OnAdd(junk, true)
			handler.OnUpdate(junk, junk)
			handler.OnDelete(junk)
		}
	}
	if got := w.woken(); len(got) > 0 {
		t.Errorf("woken are %q", got)
	}
}
