/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package docs

import (
	"regexp"
	"strings"
	"testing"
)

// reports are paths of public reports on GitHub. Each stands for a case that was tried on the operator.
var reports = strings.Fields(`
apache/camel-k/issues/2184 apache/solr-operator/pull/254 fabric8io/kubernetes-client/issues/2095 flant/shell-operator/issues/212
flant/shell-operator/issues/346 flant/shell-operator/issues/379 flant/shell-operator/issues/56 flant/shell-operator/pull/182
fluxcd/flux2/issues/1887 knative-extensions/eventing-kafka-broker/issues/2885 knative/eventing/issues/1462
knative/eventing/issues/4441 knative/eventing/issues/8261 knative/pkg/issues/936 knative/serving/issues/12980
knative/serving/issues/1612 knative/serving/issues/3236 knative/serving/issues/4610 kserve/kserve/issues/1090
kserve/kserve/pull/4998 kubernetes-sigs/kubebuilder/issues/1684 kubernetes-sigs/kubebuilder/issues/3784
kubernetes/code-generator/issues/102 kubernetes/kubectl/issues/1207 kubernetes/kubernetes/issues/108081
kubernetes/kubernetes/issues/117260 kubernetes/kubernetes/issues/130903 kubernetes/kubernetes/issues/28115
kubernetes/kubernetes/issues/30213 kubernetes/kubernetes/issues/34146 kubernetes/kubernetes/issues/71925
kubernetes/kubernetes/issues/79610 kubernetes/sample-controller/issues/104 kubernetes/sample-controller/issues/81
moby/moby/issues/20211 oracle/weblogic-kubernetes-operator/pull/1830 pulumi/pulumi-kubernetes/issues/31
tektoncd/operator/issues/783
`)

func TestLearnedFromOthers_EachReport_HasARowWithATestOrALimit(t *testing.T) {
	page := read(t, "docs/explanation/learned-from-others.md")
	for _, report := range reports {
		row := regexp.MustCompile(`(?m)^\|.*\]\(https://github\.com/` + regexp.QuoteMeta(report) + `\).*$`).FindString(page)
		if !strings.Contains(row, "`Test") && !strings.Contains(row, "| a limit of ") {
			t.Errorf("%s: the page needs a row that names a test, or a limit: %s", report, row)
		}
	}
}
