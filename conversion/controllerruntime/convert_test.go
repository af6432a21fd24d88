/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllerruntime_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/conversion/controllerruntime"
)

func TestConvertThrough_BetweenAnyTwoVersions_Converts(t *testing.T) {
	convert := controllerruntime.ConvertThrough[hub]
	var older, oldest spoke
	var back hub
	for _, step := range []struct{ from, to metav1.Object }{{&hub{Text: "text"}, &older}, {&older, &oldest}, {&oldest, &back}} {
		if err := convert(t.Context(), step.from, step.to); err != nil {
			t.Fatal(err)
		}
	}
	if back.Text != "text" || oldest.Annotations[annotation] == "" {
		t.Errorf("the text is %q, by way of the annotation %q", back.Text, oldest.Annotations[annotation])
	}
}

func TestConvertThrough_ObjectThatCannotBeConverted_IsReported(t *testing.T) {
	convert := controllerruntime.ConvertThrough[hub]
	text := annotated(`{"e":{"v1/text":{"d":"broken"}},"f":1}`)
	for want, objects := range map[string][2]metav1.Object{
		"converting *v1.ObjectMeta to *controllerruntime_test.hub":              {&metav1.ObjectMeta{}, &hub{}},
		"converting *controllerruntime_test.hub to *controllerruntime_test.hub": {&hub{}, &hub{}},
		"the text cannot be converted":                                          {text, &spoke{}},
	} {
		if err := convert(t.Context(), objects[0], objects[1]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
