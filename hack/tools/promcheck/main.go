/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	dashboard := flag.String("dashboard", "", "Grafana dashboard (JSON) whose queries must find something")
	rules := flag.String("rules", "", "Prometheus rules (YAML) whose alerts must find nothing")
	scrapes := flag.String("scrapes", "", "folder of scrapes in the text format, each named JOB_INSTANCE_MILLISECONDS.prom")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *dashboard, *rules, *scrapes); err != nil {
		fmt.Fprintln(os.Stderr, "promcheck:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, dashboard, rules, scrapes string) error {
	if dashboard == "" || rules == "" || scrapes == "" {
		return errors.New("the flags --dashboard, --rules and --scrapes must all be set")
	}
	panels, err := panelQueries(dashboard)
	if err != nil {
		return err
	}
	alerts, err := alertsOf(rules)
	if err != nil {
		return err
	}
	store, err := load(scrapes)
	if err != nil {
		return err
	}
	errs := []error{store.check(ctx, out, panels, true)}
	queries := make([]query, 0, len(alerts))
	for _, alert := range alerts {
		queries = append(queries, query{where: "alert " + alert.Alert, text: alert.Expr})
	}
	errs = append(errs, store.check(ctx, out, queries, false), store.close())
	return errors.Join(errs...)
}
