/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
)

const monitoring = "../../../monitoring/"

// alertCase is one alert on made-up samples, one a minute for an hour, in the notation of promtool: a+bxn counts up.
type alertCase struct {
	// trouble is what the alert is for, well is as near to it as may be without being it.
	trouble, well string
	// says is in the summary.
	says string
}

var alertCases = map[string]alertCase{
	"MallardMetricsMissing": {
		`process_ready{job="controller",instance="a"} 1x9
		 process_ready{job="webhook",instance="b"} 1x60`,
		`process_ready{job="controller",instance="a"} 1x9
		 process_ready{job="controller",instance="c"} 0x60
		 process_ready{job="webhook",instance="b"} 1x60`, "No controller of Mallard",
	},
	"MallardNotReady": {
		`process_ready{job="webhook",instance="a"} 0x60`,
		`process_ready{job="webhook",instance="a"} 0x9 1x60`, "webhook on a has not been ready",
	},
	"MallardNoLeader": {
		// One process has lost the lease, the other has never held it.
		`leader_held{kind="Widget",lease="c.00-of-01",instance="a"} 0x60
		 reconcile_passes_total{kind="Widget",instance="a"} 0x60
		 reconcile_passes_total{kind="Widget",instance="b"} 0x60`,
		`reconcile_passes_total{kind="Widget",instance="a"} 0x60
		 leader_held{kind="Widget",lease="c.00-of-01",instance="a"} 0x60
		 leader_held{kind="Widget",lease="c.00-of-01",instance="b"} 1x60`, "led Widget",
	},
	"MallardTwoLeaders": {
		`leader_held{kind="Widget",lease="l",instance="a"} 1x60
		 leader_held{kind="Widget",lease="l",instance="b"} 1x60`,
		`leader_held{kind="Widget",lease="l",instance="a"} 1x60
		 leader_held{kind="Gadget",lease="l",instance="a"} 1x60
		 leader_held{kind="Widget",lease="l",instance="b"} 0x60`, "2 processes lead Widget",
	},
	"MallardReconcileErrors": {
		`reconcile_passes_total{kind="Widget",result="success"} 0+3x60
		 reconcile_passes_total{kind="Widget",result="error"} 0+1x60`,
		`reconcile_passes_total{kind="Widget",result="success"} 0+6x60
		 reconcile_passes_total{kind="Widget",result="conflict"} 0+6x60
		 reconcile_passes_total{kind="Widget",result="error"} 0+1x60`, "25% of the reconciliations of Widget fail",
	},
	"MallardReconcileSlow": {
		`reconcile_duration_seconds_bucket{kind="Widget",result="success",le="5"} 0+9x60
		 reconcile_duration_seconds_bucket{kind="Widget",result="success",le="10"} 0+10x60
		 reconcile_duration_seconds_bucket{kind="Widget",result="success",le="+Inf"} 0+10x60`,
		`reconcile_duration_seconds_bucket{kind="Widget",result="success",le="5"} 0+1000x60
		 reconcile_duration_seconds_bucket{kind="Widget",result="success",le="10"} 0+1001x60
		 reconcile_duration_seconds_bucket{kind="Widget",result="success",le="+Inf"} 0+1001x60`, "of Widget takes 9",
	},
	"MallardQueueStuck": {
		`kn_workqueue_longest_running_processor_seconds{name="widgets"} 0+60x60`,
		`kn_workqueue_longest_running_processor_seconds{name="widgets"} 290x60`, "A worker of widgets",
	},
	"MallardQueueGrows": {
		`kn_workqueue_depth{name="widgets"} 0+50x60`,
		`kn_workqueue_depth{name="widgets"} 3000-50x60`, "wait in the queue widgets",
	},
	"MallardAPIRequestsFail": {
		`kubernetes_client_responses_total{job="controller",code="200"} 0+6x60
		 kubernetes_client_responses_total{job="controller",code="503"} 0+1x60
		 kubernetes_client_responses_total{job="controller",code="<error>"} 0+1x60`,
		`kubernetes_client_responses_total{job="controller",code="200"} 0+6x60
		 kubernetes_client_responses_total{job="controller",code="404"} 0+6x60
		 kubernetes_client_responses_total{job="controller",code="409"} 0+6x60`, "25% of the requests of controller",
	},
	"MallardForbidden": {
		`kubernetes_client_responses_total{job="controller",code="403"} 0+1x60`,
		`kubernetes_client_responses_total{job="controller",code="403"} 0x10 3x60`, "forbids requests of controller",
	},
	"MallardCertificateExpires": {
		// The samples begin at 0, so this is half a day after their end.
		`webhook_certificate_expiry_timestamp_seconds{instance="a"} 43200x60
		 webhook_certificate_expiry_timestamp_seconds{instance="b"} 604800x60`,
		`webhook_certificate_expiry_timestamp_seconds{instance="a"} 86400x60`, "expires in 11h",
	},
	"MallardConfigMapRefused": {
		`config_valid{config_map="config-x",instance="a"} 1x60
		 config_valid{config_map="config-x",instance="b"} 0x60`,
		`config_valid{config_map="config-x",instance="a"} 1x60`, "config-x is invalid",
	},
	"MallardWebhookSlow": {
		`kn_webhook_handler_duration_seconds_bucket{le="1"} 0+9x60
		 kn_webhook_handler_duration_seconds_bucket{le="+Inf"} 0+10x60
		 kn_webhook_handler_duration_seconds_bucket{le="2.5"} 0+10x60`,
		`kn_webhook_handler_duration_seconds_bucket{le="1"} 0+10x60
		 kn_webhook_handler_duration_seconds_bucket{le="+Inf"} 0+10x60
		 kn_webhook_handler_duration_seconds_bucket{le="2.5"} 0+10x60`, "requests to the webhook takes 2",
	},
	"MallardConversionPanics": {
		`conversion_panics_total{job="webhook"} 0x40 1x20`,
		`conversion_panics_total{job="webhook"} 1x60`, "webhook has panicked",
	},
	"MallardConversionDrops": {
		`conversion_bag_dropped_total{job="webhook",what="entry"} 0x40 1x20
		 conversion_bag_dropped_total{job="webhook",what="annotation"} 0x60`,
		`conversion_bag_dropped_total{job="webhook",what="entry"} 1x60`, "(entry)",
	},
	"MallardConversionTruncates": {
		`conversion_bag_truncated_total{job="webhook"} 0x40 1x20`,
		`conversion_bag_truncated_total{job="webhook"} 1x60
		 conversion_bag_large_total{job="webhook"} 0+1x60`, "without all its properties",
	},
}

// moreCases are further cases of alerts that have more than one trouble.
var moreCases = []struct{ alert, name, series, says string }{
	{"MallardMetricsMissing", "no webhook", `process_ready{job="controller"} 1x60
		process_ready{job="webhook"} 1x9`, "No webhook of Mallard"},
	{"MallardMetricsMissing", "never a webhook", `process_ready{job="controller"} 1x60`, "No webhook of Mallard has"},
	{"MallardNoLeader", "a share without a leader", `reconcile_passes_total{kind="Widget",instance="a"} 0x60
		leader_held{kind="Widget",lease="c.00-of-02",instance="a"} 1x60
		leader_held{kind="Widget",lease="c.01-of-02",instance="b"} 1x9`, "led Widget (c.01-of-02)"},
	{"MallardNoLeader", "another number of shares", `reconcile_passes_total{kind="Widget",instance="a"} 0x60
		leader_held{kind="Widget",lease="c.00-of-02",instance="a"} 1x9
		leader_held{kind="Widget",lease="c.01-of-02",instance="b"} 1x9
		leader_held{kind="Widget",lease="c.00-of-01",instance="c"} _x9 1x50`, ""},
}

func TestAlerts_FurtherTroubles_FireOnce(t *testing.T) {
	alerts := alertsByName(t)
	for _, tc := range moreCases {
		t.Run(tc.alert+" "+tc.name, func(t *testing.T) {
			says := evaluate(t, alerts[tc.alert], tc.series)
			if tc.says == "" && len(says) > 0 || tc.says != "" && (len(says) != 1 || !strings.Contains(says[0], tc.says)) {
				t.Errorf("it says %q, want one that says %q", says, tc.says)
			}
		})
	}
}

// TestAlerts_SeveralInstallations_AreKeptApart evaluates each alert where one installation is in trouble and others, in another namespace of the
// same cluster and in the same namespace of another cluster, are not.
func TestAlerts_SeveralInstallations_AreKeptApart(t *testing.T) {
	alerts := alertsByName(t)
	for name, tc := range alertCases {
		t.Run(name, func(t *testing.T) {
			neighbours := installation(tc.well, "one", "theirs") + "\n" + installation(tc.well, "two", "ours")
			if says := evaluate(t, alerts[name], neighbours); len(says) > 0 {
				t.Errorf("two installations that are well disturb each other: %q", says)
			}
			says := evaluate(t, alerts[name], installation(tc.trouble, "one", "ours")+"\n"+neighbours)
			if len(says) != 1 || !strings.Contains(says[0], tc.says) && !strings.Contains(says[0], "in ours") {
				t.Errorf("beside installations that are well, an installation in trouble says %q, want one that says %q", says, tc.says)
			}
		})
	}
}

// installation gives series the labels of one installation.
func installation(series, cluster, namespace string) string {
	return strings.ReplaceAll(series, "{", `{cluster="`+cluster+`",namespace="`+namespace+`",`)
}

func alertsByName(t *testing.T) map[string]rulefmt.Rule {
	t.Helper()
	alerts, err := alertsOf(monitoring + "rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]rulefmt.Rule{}
	for _, alert := range alerts {
		byName[alert.Alert] = alert
	}
	return byName
}

func TestEachAlertFiresOnItsTroubleAlone(t *testing.T) {
	alerts, err := alertsOf(monitoring + "rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tested := map[string]bool{}
	for _, alert := range alerts {
		tested[alert.Alert] = true
		tc, ok := alertCases[alert.Alert]
		if !ok {
			t.Errorf("alertCases lacks %s", alert.Alert)
			continue
		}
		t.Run(alert.Alert, func(t *testing.T) {
			if says := evaluate(t, alert, tc.trouble); len(says) != 1 || !strings.Contains(says[0], tc.says) {
				t.Errorf("in trouble it says %q, want one that says %q", says, tc.says)
			}
			if says := evaluate(t, alert, tc.well); len(says) > 0 {
				t.Errorf("while all is well it says %q", says)
			}
			if alert.Annotations["description"] == "" || alert.Labels["severity"] == "" || alert.For == 0 {
				t.Error("it lacks a description, a severity or a time for which trouble must last")
			}
		})
	}
	for name := range alertCases {
		if !tested[name] {
			t.Errorf("there is no alert %s", name)
		}
	}
}

// evaluate looks at an alert once a minute for an hour, as Prometheus would, and returns the summaries of what
// fires in the end.
func evaluate(t *testing.T, alert rulefmt.Rule, series string) []string {
	t.Helper()
	storage := promqltest.LoadedStorage(t, "load 1m\n  "+strings.ReplaceAll(series, "\n", "\n  ")+"\n")
	ask := rules.EngineQueryFunc(newEngine(), storage)
	expr, err := newParser().ParseExpr(alert.Expr)
	if err != nil {
		t.Fatal(err)
	}
	rule := rules.NewAlertingRule(alert.Alert, expr, time.Duration(alert.For), time.Duration(alert.KeepFiringFor),
		labels.FromMap(alert.Labels), labels.FromMap(alert.Annotations), labels.EmptyLabels(), "", true, slog.New(slog.DiscardHandler))
	for minute := range 60 {
		at := time.Unix(0, 0).UTC().Add(time.Duration(minute) * time.Minute)
		if _, err := rule.Eval(context.Background(), 0, at, ask, &url.URL{}, 0); err != nil {
			t.Fatalf("evaluating %s: %v", alert.Alert, err)
		}
	}
	var summaries []string
	for _, active := range rule.ActiveAlerts() {
		if active.State == rules.StateFiring {
			summaries = append(summaries, active.Annotations.Get("summary"))
		}
	}
	return summaries
}
