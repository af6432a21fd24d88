/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/robfig/cron/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/mallard-dev/mallard/crud/internal/child"
	"github.com/mallard-dev/mallard/crud/internal/closest"
)

const mainQueue = "main"

// crontabs parses crontabs with and without seconds.
var crontabs = cron.NewParser(cron.SecondOptional | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)

// complete sets defaults, and returns every mistake.
func (b *Bindings) complete() error {
	b.Schedule, b.Kubernetes = slices.Clone(b.Schedule), slices.Clone(b.Kubernetes)
	b.Validating, b.Mutating = slices.Clone(b.Validating), slices.Clone(b.Mutating)
	var errs []error
	names := sets.New[string]()
	for i := range b.Kubernetes {
		k := &b.Kubernetes[i]
		k.complete("kubernetes")
		errs = append(errs, in(fmt.Sprintf("kubernetes[%d]", i), k.check()))
		if names.Has(k.Name) {
			errs = append(errs, fmt.Errorf("kubernetes[%d].name: another binding has the name %s: set a different one", i, k.Name))
		}
		names.Insert(k.Name)
	}
	for i := range b.Schedule {
		s := &b.Schedule[i]
		s.complete("schedule")
		if _, err := crontabs.Parse(s.Crontab); err != nil {
			errs = append(errs, fmt.Errorf("schedule[%d].crontab: %w: use five fields, or six with seconds first", i, err))
		}
	}
	checkIncluded := func(path string, included []string) {
		for _, from := range included {
			if !names.Has(from) {
				advice := closest.Advice(from, sets.List(names))
				errs = append(errs, fmt.Errorf("%s.includeSnapshotsFrom: no kubernetes binding has the name %s: %s", path, from, advice))
			}
		}
	}
	for _, common := range b.commons() {
		checkIncluded(common.path, common.of.IncludeSnapshotsFrom)
	}
	for _, a := range b.admissions() {
		errs = append(errs, in(a.path, a.of.complete()))
		checkIncluded(a.path, a.of.IncludeSnapshotsFrom)
	}
	if b.OnStartup == nil && len(b.Schedule)+len(b.Kubernetes)+len(b.Validating)+len(b.Mutating) == 0 {
		errs = append(errs, errors.New("there is no binding: use onStartup, schedule, kubernetes, kubernetesValidating or kubernetesMutating"))
	}
	s := b.Settings
	if s.ExecutionBurst < 0 || s.ExecutionMinInterval.Duration < 0 || s.Timeout.Duration < 0 {
		errs = append(errs, errors.New("settings: executionBurst, executionMinInterval and timeout must not be negative"))
	}
	return errors.Join(errs...)
}

// at is a part of the bindings, with its path.
type at[T any] struct {
	path string
	of   *T
}

// commons are the common fields of all bindings.
func (b *Bindings) commons() (all []at[Common]) {
	for i := range b.Kubernetes {
		all = append(all, at[Common]{fmt.Sprintf("kubernetes[%d]", i), &b.Kubernetes[i].Common})
	}
	for i := range b.Schedule {
		all = append(all, at[Common]{fmt.Sprintf("schedule[%d]", i), &b.Schedule[i].Common})
	}
	return all
}

// admissions are the bindings that answer reviews.
func (b *Bindings) admissions() (all []at[Admission]) {
	for i := range b.Validating {
		all = append(all, at[Admission]{fmt.Sprintf("kubernetesValidating[%d]", i), &b.Validating[i]})
	}
	for i := range b.Mutating {
		all = append(all, at[Admission]{fmt.Sprintf("kubernetesMutating[%d]", i), &b.Mutating[i]})
	}
	return all
}

func (c *Common) complete(name string) {
	c.Name, c.Queue = cmp.Or(c.Name, name), cmp.Or(c.Queue, mainQueue)
}

func (k *Kubernetes) check() error {
	if k.ExecuteHookOnEvent == nil {
		k.ExecuteHookOnEvent = k.WatchEvent
	}
	if k.Kind == "" {
		return errors.New("kind: it is missing")
	}
	for _, event := range k.ExecuteHookOnEvent {
		if event != Added && event != Modified && event != Deleted {
			return fmt.Errorf("executeHookOnEvent: there is no %s: use Added, Modified and Deleted", event)
		}
	}
	if _, err := metav1.LabelSelectorAsSelector(k.LabelSelector); err != nil {
		return fmt.Errorf("labelSelector: %w", err)
	}
	if _, err := k.fields(); err != nil {
		return err
	}
	if err := k.Namespace.check(); err != nil {
		return err
	}
	if k.JQFilter == "" {
		return nil
	}
	if err := child.Compile(k.JQFilter); err != nil {
		return fmt.Errorf("jqFilter: %w", err)
	}
	return nil
}

func (n *NamespaceSelector) check() error {
	if n == nil {
		return nil
	}
	if _, err := metav1.LabelSelectorAsSelector(n.LabelSelector); err != nil {
		return fmt.Errorf("namespace.labelSelector: %w", err)
	}
	if n.LabelSelector != nil && n.NameSelector != nil {
		return errors.New("namespace: use either nameSelector or labelSelector")
	}
	return nil
}

// fields returns the field selector.
func (k *Kubernetes) fields() (fields.Selector, error) {
	selectors := []fields.Selector{}
	if k.FieldSelector != nil {
		for i, e := range k.FieldSelector.MatchExpressions {
			switch e.Operator {
			case "Equals", "=", "==":
				selectors = append(selectors, fields.OneTermEqualSelector(e.Field, e.Value))
			case "NotEquals", "!=":
				selectors = append(selectors, fields.OneTermNotEqualSelector(e.Field, e.Value))
			default:
				return nil, fmt.Errorf("fieldSelector.matchExpressions[%d].operator: there is no %q: use Equals or NotEquals", i, e.Operator)
			}
		}
	}
	return fields.AndSelectors(selectors...), nil
}

// runsOn reports whether an event runs the hook.
func (k *Kubernetes) runsOn(event WatchEvent) bool {
	return k.ExecuteHookOnEvent == nil || slices.Contains(k.ExecuteHookOnEvent, event)
}

// in adds a path to each of the errors that were joined.
func in(path string, err error) error {
	if err == nil {
		return nil
	}
	return errors.New(path + "." + strings.ReplaceAll(err.Error(), "\n", "\n"+path+"."))
}
