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
	"k8s.io/utils/ptr"

	"github.com/mallard-dev/mallard/crud/internal/child"
	"github.com/mallard-dev/mallard/crud/internal/closest"
)

// Bindings define the events for which a hook runs. The names of the fields in JSON and YAML are those of shell-operator.
type Bindings struct {
	// OnStartup runs the hook once when the process begins to lead, before its other bindings. Hooks with a lower number run first.
	OnStartup  *int         `json:"onStartup,omitempty"`
	Schedule   []Schedule   `json:"schedule,omitempty"`
	Kubernetes []Kubernetes `json:"kubernetes,omitempty"`
	// Validating and Mutating answer reviews of requests to the API server. See Reviews.
	Validating []Admission `json:"kubernetesValidating,omitempty"`
	Mutating   []Admission `json:"kubernetesMutating,omitempty"`
	Settings   Settings    `json:"settings,omitzero"`
}

// Common are the fields of bindings of both kinds.
type Common struct {
	// Name is that of the binding in binding contexts and snapshots: schedule or kubernetes by default.
	Name string `json:"name,omitempty"`
	// Queue is main by default. The runs of a queue follow one another.
	Queue string `json:"queue,omitempty"`
	// AllowFailure drops a run that failed, which is otherwise repeated before other runs of the hook in the queue.
	AllowFailure bool `json:"allowFailure,omitempty"`
	// IncludeSnapshotsFrom are names of kubernetes bindings whose objects are part of the binding context.
	IncludeSnapshotsFrom []string `json:"includeSnapshotsFrom,omitempty"`
	// Group has one binding context for all bindings of the group, with the snapshots of all.
	Group string `json:"group,omitempty"`
}

// Schedule runs a hook at times.
type Schedule struct {
	Common `json:",inline"`

	// Crontab has five fields, or six with seconds first, or is a descriptor such as @hourly or @every 10m.
	Crontab string `json:"crontab"`
}

// Kubernetes runs a hook when objects change.
type Kubernetes struct {
	Common `json:",inline"`

	// APIVersion may be empty if a single group serves the kind.
	APIVersion string `json:"apiVersion,omitempty"`
	// Kind is the kind, or the plural, singular or short name of its resource.
	Kind          string                `json:"kind"`
	NameSelector  *NameSelector         `json:"nameSelector,omitempty"`
	LabelSelector *metav1.LabelSelector `json:"labelSelector,omitempty"`
	FieldSelector *FieldSelector        `json:"fieldSelector,omitempty"`
	Namespace     *NamespaceSelector    `json:"namespace,omitempty"`
	// ExecuteHookOnEvent are the events that run the hook: all if it is nil, none if it is empty.
	ExecuteHookOnEvent []WatchEvent `json:"executeHookOnEvent,omitempty"`
	// WatchEvent is an older name of ExecuteHookOnEvent.
	WatchEvent []WatchEvent `json:"watchEvent,omitempty"`
	// ExecuteHookOnSynchronization reports whether the hook runs with the objects that exist when the process begins to lead, true by default.
	ExecuteHookOnSynchronization *bool `json:"executeHookOnSynchronization,omitempty"`
	// JQFilter is a jq program. The hook does not run for a change that leaves its result as it was.
	JQFilter string `json:"jqFilter,omitempty"`
	// KeepFullObjectsInMemory leaves the objects out of binding contexts if it is false, so that they have the results of JQFilter alone.
	KeepFullObjectsInMemory *bool `json:"keepFullObjectsInMemory,omitempty"`

	// These are accepted, and have no effect: nothing waits for the first list of another hook, and no event is repeated without a change.
	WaitForSynchronization  *bool  `json:"waitForSynchronization,omitempty"`
	ResynchronizationPeriod string `json:"resynchronizationPeriod,omitempty"`
}

// NameSelector selects by names.
type NameSelector struct {
	MatchNames []string `json:"matchNames"`
}

// NamespaceSelector selects namespaces by their names, or by their labels.
type NamespaceSelector struct {
	NameSelector  *NameSelector         `json:"nameSelector,omitempty"`
	LabelSelector *metav1.LabelSelector `json:"labelSelector,omitempty"`
}

// FieldSelector selects by the fields that the API server supports for the kind.
type FieldSelector struct {
	MatchExpressions []FieldExpression `json:"matchExpressions"`
}

// FieldExpression compares one field. Operator is Equals, =, ==, NotEquals or !=.
type FieldExpression struct {
	Field    string `json:"field"`
	Operator string `json:"operator"`
	Value    string `json:"value"`
}

// Settings are those of all runs of a hook.
type Settings struct {
	// ExecutionMinInterval is the shortest time between runs on average, and ExecutionBurst how many may follow one another before.
	ExecutionMinInterval metav1.Duration `json:"executionMinInterval,omitzero"`
	ExecutionBurst       int             `json:"executionBurst,omitempty"`
	// Timeout ends a run. By default it is that of Options.
	Timeout metav1.Duration `json:"timeout,omitzero"`
	// Namespaces are those in which the hook may change objects. If it is empty, permissions alone decide, also about objects without namespace.
	Namespaces []string `json:"namespaces,omitempty"`
	// RunOnOwnWrites runs the hook also for changes that its own operations made.
	RunOnOwnWrites bool `json:"runOnOwnWrites,omitempty"`
}

// WatchEvent is the type of a change of an object.
type WatchEvent string

// The events.
const (
	Added    WatchEvent = "Added"
	Modified WatchEvent = "Modified"
	Deleted  WatchEvent = "Deleted"
)

const mainQueue = "main"

var crontabs = cron.NewParser(cron.SecondOptional | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)

func (b *Bindings) complete() error {
	b.Schedule, b.Kubernetes = slices.Clone(b.Schedule), slices.Clone(b.Kubernetes)
	b.Validating, b.Mutating = slices.Clone(b.Validating), slices.Clone(b.Mutating)
	var errs []error
	names := sets.New[string]()
	for i := range b.Kubernetes {
		k := &b.Kubernetes[i]
		if k.complete("kubernetes"); names.Has(k.Name) {
			errs = append(errs, fmt.Errorf("kubernetes[%d].name: another binding has the name %s: set a different one", i, k.Name))
		}
		names.Insert(k.Name)
	}
	check := func(kind string, i int, included []string, err error) {
		path := fmt.Sprintf("%s[%d]", kind, i)
		errs = append(errs, in(path, err))
		for _, from := range included {
			if !names.Has(from) {
				advice := closest.Advice(from, sets.List(names))
				errs = append(errs, fmt.Errorf("%s.includeSnapshotsFrom: no kubernetes binding has the name %s: %s", path, from, advice))
			}
		}
	}
	for i := range b.Kubernetes {
		check("kubernetes", i, b.Kubernetes[i].IncludeSnapshotsFrom, b.Kubernetes[i].check())
	}
	for i := range b.Schedule {
		s := &b.Schedule[i]
		s.complete("schedule")
		_, err := crontabs.Parse(s.Crontab)
		if err != nil {
			err = fmt.Errorf("crontab: %w: use five fields, or six with seconds first", err)
		}
		check("schedule", i, s.IncludeSnapshotsFrom, err)
	}
	for i := range b.Validating {
		check("kubernetesValidating", i, b.Validating[i].IncludeSnapshotsFrom, b.Validating[i].complete())
	}
	for i := range b.Mutating {
		check("kubernetesMutating", i, b.Mutating[i].IncludeSnapshotsFrom, b.Mutating[i].complete())
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

func (c *Common) complete(name string) {
	c.Name, c.Queue = cmp.Or(c.Name, name), cmp.Or(c.Queue, mainQueue)
}

func (k *Kubernetes) check() error {
	if k.ExecuteHookOnEvent == nil {
		k.ExecuteHookOnEvent = k.WatchEvent
	}
	_, err := k.fields()
	errs := []error{err, checkLabels("labelSelector", k.LabelSelector), k.Namespace.check()}
	if k.Kind == "" {
		errs = append(errs, errors.New("kind: it is missing"))
	}
	for _, event := range k.ExecuteHookOnEvent {
		if event != Added && event != Modified && event != Deleted {
			errs = append(errs, fmt.Errorf("executeHookOnEvent: there is no %s: use Added, Modified and Deleted", event))
		}
	}
	if err := child.Compile(k.JQFilter); k.JQFilter != "" && err != nil {
		errs = append(errs, fmt.Errorf("jqFilter: %w", err))
	}
	return errors.Join(errs...)
}

func (n *NamespaceSelector) check() error {
	if n == nil {
		return nil
	}
	if n.LabelSelector != nil && n.NameSelector != nil {
		return errors.New("namespace: use either nameSelector or labelSelector")
	}
	return checkLabels("namespace.labelSelector", n.LabelSelector)
}

func checkLabels(field string, selector *metav1.LabelSelector) error {
	if _, err := metav1.LabelSelectorAsSelector(selector); err != nil {
		return fmt.Errorf("%s: %w", field, err)
	}
	return nil
}

var fieldOperators = map[string]func(field, value string) fields.Selector{
	"Equals": fields.OneTermEqualSelector, "=": fields.OneTermEqualSelector, "==": fields.OneTermEqualSelector,
	"NotEquals": fields.OneTermNotEqualSelector, "!=": fields.OneTermNotEqualSelector,
}

func (k *Kubernetes) fields() (fields.Selector, error) {
	var selectors []fields.Selector
	for i, e := range ptr.Deref(k.FieldSelector, FieldSelector{}).MatchExpressions {
		selector := fieldOperators[e.Operator]
		if selector == nil {
			return nil, fmt.Errorf("fieldSelector.matchExpressions[%d].operator: there is no %q: use Equals or NotEquals", i, e.Operator)
		}
		selectors = append(selectors, selector(e.Field, e.Value))
	}
	return fields.AndSelectors(selectors...), nil
}

// in adds a path to each of the errors that were joined.
func in(path string, err error) error {
	if err == nil {
		return nil
	}
	return errors.New(path + "." + strings.ReplaceAll(err.Error(), "\n", "\n"+path+"."))
}
