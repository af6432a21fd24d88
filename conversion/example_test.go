/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion_test

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/conversion"
)

// ConvertTo shows the object at v1alpha1.
func (in *widget) ConvertTo(dst *oldWidget) (err error) {
	defer conversion.Recover(&err, in)
	var hub widgetStorage
	if err := in.AssignProperties_To_Widget(&hub); err != nil {
		return err
	}
	var old oldWidgetStorage
	if err := old.AssignProperties_From_Widget(&hub); err != nil {
		return err
	}
	return dst.AssignProperties_From_Widget(&old)
}

// ConvertFrom reads an object of v1alpha1.
func (in *widget) ConvertFrom(src *oldWidget) (err error) {
	defer conversion.Recover(&err, in)
	var old oldWidgetStorage
	if err := src.AssignProperties_To_Widget(&old); err != nil {
		return err
	}
	var hub widgetStorage
	if err := old.AssignProperties_To_Widget(&hub); err != nil {
		return err
	}
	return in.AssignProperties_From_Widget(&hub)
}

// An old version shows what it can; the annotation holds the rest. A rewrite keeps its code when another is put before it.
func Example() {
	code := int32(301)
	hub := &widget{
		ObjectMeta: metav1.ObjectMeta{Name: "a"},
		Spec: widgetSpec{
			Ref:      &reference{Kind: "Service", Name: "web"},
			Rewrites: []rewrite{{From: "/old", To: "/new", Code: &code}},
			Probe:    &probe{Path: "/healthz"},
		},
	}

	var old oldWidget
	if err := hub.ConvertTo(&old); err != nil {
		fmt.Println(err)
	}
	fmt.Println(old.Spec.ServiceName, old.Spec.Rewrites)
	fmt.Println(old.Annotations[annotation])

	old.Spec.ServiceName = "shop"
	old.Spec.Rewrites = append([]oldRewrite{{From: "/", To: "/home"}}, old.Spec.Rewrites...)

	var back widget
	if err := back.ConvertFrom(&old); err != nil {
		fmt.Println(err)
	}
	spec, err := json.Marshal(back.Spec)
	fmt.Println(string(spec), err)
	fmt.Println(len(back.Annotations))
	// Output:
	// web [{/old /new}]
	// {"c":{"spec":{"c":{"rewrites":{"c":{"0:wuG6b5b9OHY":{"e":{"v1/code":{"d":301}}}}}},"e":{"v1/probe":{"d":{"path":"/healthz"}}}}},"f":1}
	// {"ref":{"kind":"Service","name":"shop"},"rewrites":[{"from":"/","to":"/home"},{"from":"/old","to":"/new","code":301}],"probe":{"path":"/healthz"}} <nil>
	// 0
}
