/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

// query is one PromQL expression, and whom it belongs to.
type query struct{ where, text string }

// dashboard is the part of Grafana's format that holds queries.
type dashboard struct {
	Panels     []panel `json:"panels"`
	Templating struct {
		List []struct {
			Name  string `json:"name"`
			Type  string `json:"type"`
			Query any    `json:"query"`
		} `json:"list"`
	} `json:"templating"`
}

type panel struct {
	Title   string  `json:"title"`
	Type    string  `json:"type"`
	Panels  []panel `json:"panels"`
	Targets []struct {
		Expr string `json:"expr"`
	} `json:"targets"`
}

// variables are what Grafana puts into queries, as it does when everything is selected.
var variables = strings.NewReplacer("$__rate_interval", "5m", "$__range", "1h", "$__interval", "1m")

// panelQueries are the queries of a dashboard. A panel that shows data but has no query is an error.
func panelQueries(file string) ([]query, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var d dashboard
	if err := json.Unmarshal(content, &d); err != nil {
		return nil, fmt.Errorf("reading dashboard %s: %w", file, err)
	}
	replace := []string{}
	for _, v := range d.Templating.List {
		if v.Type == "query" {
			replace = append(replace, "$"+v.Name, ".*")
		}
	}
	var queries []query
	var problems []error
	var visit func([]panel)
	visit = func(panels []panel) {
		for _, p := range panels {
			visit(p.Panels)
			if p.Type != "row" && p.Type != "text" && len(p.Targets) == 0 {
				problems = append(problems, fmt.Errorf("dashboard %s: panel %q has no query", file, p.Title))
			}
			for _, target := range p.Targets {
				text := strings.NewReplacer(replace...).Replace(variables.Replace(target.Expr))
				queries = append(queries, query{where: "panel " + p.Title, text: text})
			}
		}
	}
	visit(d.Panels)
	if len(queries) == 0 {
		problems = append(problems, fmt.Errorf("dashboard %s has no queries", file))
	}
	return queries, errors.Join(problems...)
}

func newParser() parser.Parser { return parser.NewParser(parser.Options{}) }

// alertsOf are the alerts of a rules file, in order.
func alertsOf(file string) ([]rulefmt.Rule, error) {
	groups, errs := rulefmt.ParseFile(file, false, model.UTF8Validation, newParser(), nil)
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("reading rules %s: %w", file, err)
	}
	var alerts []rulefmt.Rule
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			if rule.Alert == "" {
				return nil, fmt.Errorf("rules %s: group %s has a rule that is no alert: %s", file, group.Name, rule.Record)
			}
			alerts = append(alerts, rule)
		}
	}
	if len(alerts) == 0 {
		return nil, fmt.Errorf("rules %s have no alerts", file)
	}
	return alerts, nil
}

// metricsOf are the names of the metrics that an expression asks for.
func metricsOf(expr parser.Expr) []string {
	var names []string
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		if selector, ok := node.(*parser.VectorSelector); ok {
			names = append(names, selector.Name)
		}
		return nil
	})
	slices.Sort(names)
	return slices.Compact(names)
}
