/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"cmp"
	"maps"
	"slices"

	"github.com/robfig/cron/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/mallard-dev/mallard/crud/internal/child"
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

// complete sets defaults, and returns every mistake.
func (b *Bindings) complete() error {
	b.Schedule, b.Kubernetes = slices.Clone(b.Schedule), slices.Clone(b.Kubernetes)
	b.Validating, b.Mutating = slices.Clone(b.Validating), slices.Clone(b.Mutating)
	var errs field.ErrorList
	names := sets.New[string]()
	for i := range b.Kubernetes {
		k := &b.Kubernetes[i]
		if k.complete("kubernetes"); names.Has(k.Name) {
			errs = append(errs, field.Duplicate(field.NewPath("kubernetes").Index(i).Child("name"), k.Name))
		}
		names.Insert(k.Name)
	}
	add := func(path *field.Path, included []string, found field.ErrorList) {
		errs = append(errs, found...)
		for _, from := range included {
			errs = append(errs, oneOf(path.Child("includeSnapshotsFrom"), from, sets.List(names)...)...)
		}
	}
	for i := range b.Kubernetes {
		path := field.NewPath("kubernetes").Index(i)
		add(path, b.Kubernetes[i].IncludeSnapshotsFrom, b.Kubernetes[i].check(path))
	}
	for i := range b.Schedule {
		path := field.NewPath("schedule").Index(i)
		add(path, b.Schedule[i].IncludeSnapshotsFrom, b.Schedule[i].check(path))
	}
	for kind, bindings := range map[string][]Admission{"kubernetesValidating": b.Validating, "kubernetesMutating": b.Mutating} {
		for i := range bindings {
			path := field.NewPath(kind).Index(i)
			add(path, bindings[i].IncludeSnapshotsFrom, bindings[i].complete(path))
		}
	}
	if b.OnStartup == nil && len(b.Schedule)+len(b.Kubernetes)+len(b.Validating)+len(b.Mutating) == 0 {
		const advice = "there is no binding: use onStartup, schedule, kubernetes, kubernetesValidating or kubernetesMutating"
		errs = append(errs, field.Required(field.NewPath("onStartup"), advice))
	}
	s := b.Settings
	if s.ExecutionBurst < 0 || s.ExecutionMinInterval.Duration < 0 || s.Timeout.Duration < 0 {
		errs = append(errs, field.Forbidden(field.NewPath("settings"), "executionBurst, executionMinInterval and timeout must not be negative"))
	}
	return errs.ToAggregate()
}

func (c *Common) complete(name string) {
	c.Name, c.Queue = cmp.Or(c.Name, name), cmp.Or(c.Queue, mainQueue)
}

func (s *Schedule) check(path *field.Path) (errs field.ErrorList) {
	s.complete("schedule")
	if _, err := crontabs.Parse(s.Crontab); err != nil {
		errs = append(errs, field.Invalid(path.Child("crontab"), s.Crontab, err.Error()+": use five fields, or six with seconds first"))
	}
	return errs
}

func (k *Kubernetes) check(path *field.Path) field.ErrorList {
	if k.ExecuteHookOnEvent == nil {
		k.ExecuteHookOnEvent = k.WatchEvent
	}
	errs := append(checkLabels(path, k.LabelSelector), k.Namespace.check(path.Child("namespace"))...)
	if k.Kind == "" {
		errs = append(errs, field.Required(path.Child("kind"), ""))
	}
	for i, e := range ptr.Deref(k.FieldSelector, FieldSelector{}).MatchExpressions {
		operator := path.Child("fieldSelector", "matchExpressions").Index(i).Child("operator")
		errs = append(errs, oneOf(operator, e.Operator, slices.Sorted(maps.Keys(fieldOperators))...)...)
	}
	for _, event := range k.ExecuteHookOnEvent {
		errs = append(errs, oneOf(path.Child("executeHookOnEvent"), event, Added, Modified, Deleted)...)
	}
	if err := child.Compile(k.JQFilter); k.JQFilter != "" && err != nil {
		errs = append(errs, field.Invalid(path.Child("jqFilter"), k.JQFilter, err.Error()))
	}
	return errs
}

func (n *NamespaceSelector) check(path *field.Path) field.ErrorList {
	switch {
	case n == nil:
		return nil
	case n.LabelSelector != nil && n.NameSelector != nil:
		return field.ErrorList{field.Forbidden(path, "use either nameSelector or labelSelector")}
	}
	return checkLabels(path, n.LabelSelector)
}

func checkLabels(path *field.Path, selector *metav1.LabelSelector) field.ErrorList {
	return metav1validation.ValidateLabelSelector(selector, metav1validation.LabelSelectorValidationOptions{}, path.Child("labelSelector"))
}

func oneOf[T ~string](path *field.Path, value T, valid ...T) field.ErrorList {
	if slices.Contains(valid, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, value, valid)}
}

var fieldOperators = map[string]func(field, value string) fields.Selector{
	"Equals": fields.OneTermEqualSelector, "=": fields.OneTermEqualSelector, "==": fields.OneTermEqualSelector,
	"NotEquals": fields.OneTermNotEqualSelector, "!=": fields.OneTermNotEqualSelector,
}

func (k *Kubernetes) fields() fields.Selector {
	var selectors []fields.Selector
	for _, e := range ptr.Deref(k.FieldSelector, FieldSelector{}).MatchExpressions {
		selectors = append(selectors, fieldOperators[e.Operator](e.Field, e.Value))
	}
	return fields.AndSelectors(selectors...)
}
