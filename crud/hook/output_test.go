/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"flag"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"k8s.io/klog/v2"

	"knative.dev/pkg/logging"

	"github.com/mallard-dev/mallard/confidential"
)

func TestWarnings_AboutSecrets_AreLoggedWithoutTheirTexts(t *testing.T) {
	core, logs := observer.New(zap.DebugLevel)
	handler := warnings{logging.WarningHandler{Logger: zap.New(core).Sugar()}}
	handler.HandleWarningHeaderWithContext(t.Context(), 299, "", "hunter2 is shown")
	handler.HandleWarningHeaderWithContext(confidential.Context(t.Context()), 299, "", "Validation failed for ValidatingAdmissionPolicy 'p': hunter2")
	handler.HandleWarningHeaderWithContext(confidential.Context(t.Context()), 299, "", "")
	all := logs.All()
	if len(all) != 2 || all[0].Message != "API Warning: hunter2 is shown" || all[1].Message != "API Warning: Validation failed for ValidatingAdmissionPolicy 'p'" {
		t.Errorf("logged is %+v", all)
	}
}

func TestCheckVerbosity_LevelsThatLogObjects_AreRejected(t *testing.T) {
	for arg, want := range map[string]bool{
		"--v=7": true, "--v=8": false, "--v=10": false, "--vmodule=request=7": true, "--vmodule=request=8,a=1": false, "--vmodule=a=1,request=12": false,
	} {
		flags := flag.NewFlagSet("", flag.ContinueOnError)
		klog.InitFlags(flags)
		if err := flags.Parse([]string{arg}); err != nil {
			t.Fatal(err)
		}
		if err := checkVerbosity(flags); (err == nil) != want || err != nil && !strings.Contains(err.Error(), "flag "+arg+": use levels up to 7") {
			t.Errorf("%s: the error is %v", arg, err)
		}
		if err := flags.Parse([]string{"--v=0", "--vmodule="}); err != nil { // klog has one state for all flags
			t.Fatal(err)
		}
	}
}
