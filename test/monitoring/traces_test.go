//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package monitoring

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

func TestTraces_Span_NamesTriggersAndHasItsRequests(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.Without("controller"))
	env.SetConfig(t, "config-observability", map[string]string{"tracing-protocol": "stdout"})
	env.Process(t, "controller").Start(t)
	ns := env.Namespace(t)
	refs := env.Apply(t, ns, manifest)
	env.Await(t, refs[1], harness.Ready)
	harness.Eventually(t, "the spans of a reconciliation and of its status update", func(context.Context) error {
		var spans []span
		for text := range strings.Lines(env.Process(t, "controller").Log(t)) {
			var s span
			if json.Unmarshal([]byte(text), &s) == nil && s.SpanContext.SpanID != "" {
				spans = append(spans, s)
			}
		}
		for _, span := range spans {
			if span.Name != "Reconcile AddressableService" || span.attribute("reconcile.key") != ns+"/it" ||
				!strings.Contains(span.attribute("reconcile.causes"), "added AddressableService "+ns+"/it") {
				continue
			}
			if result := span.attribute("reconcile.result"); result != "success" {
				return fmt.Errorf("its result is %q", result)
			}
			for _, request := range spans {
				if request.Name == "HTTP PUT" && request.Parent.SpanID == span.SpanContext.SpanID &&
					strings.HasSuffix(request.attribute("url.full"), "/addressableservices/it/status") {
					return nil
				}
			}
			return errors.New("the reconciliation has no request below it")
		}
		return fmt.Errorf("no span of that reconciliation among %d", len(spans))
	})
}

// span is the format in which stdouttrace writes spans.
type span struct {
	Name        string      `json:"Name"`
	SpanContext spanContext `json:"SpanContext"`
	Parent      spanContext `json:"Parent"`
	Attributes  []struct {
		Key   string `json:"Key"`
		Value struct {
			Value any `json:"Value"`
		} `json:"Value"`
	} `json:"Attributes"`
}

type spanContext struct {
	SpanID string `json:"SpanID"`
}

func (s span) attribute(key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return fmt.Sprint(a.Value.Value)
		}
	}
	return ""
}
