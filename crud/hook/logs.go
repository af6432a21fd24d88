/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"context"
	"flag"
	"fmt"
	"regexp"

	"knative.dev/pkg/logging"

	"github.com/mallard-dev/mallard/confidential"
)

// warnings logs the warnings of the API server. Those of requests about confidential objects are redacted.
type warnings struct{ logging.WarningHandler }

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (w warnings) HandleWarningHeaderWithContext(ctx context.Context, code int, agent, text string) {
	if confidential.Concerns(ctx) && text != "" {
		text = confidential.Warning(text)
	}
	w.HandleWarningHeader(code, agent, text)
}

var verbose = regexp.MustCompile(`(^|=)([89]|[1-9]\d+)(,|$)`)

// checkVerbosity rejects levels of klog at which client-go logs what it sends and receives.
func checkVerbosity(flags *flag.FlagSet) error {
	for _, name := range []string{"v", "vmodule"} {
		if set := flags.Lookup(name); set != nil && verbose.MatchString(set.Value.String()) {
			return fmt.Errorf("flag --%s=%s: use levels up to 7: from 8 on, client-go logs objects, also the values of Secrets", name, set.Value)
		}
	}
	return nil
}
