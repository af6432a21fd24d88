/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
)

const (
	// uidDigits is the number of digits of the hash of an object's UID in its Pods' names. It distinguishes the Pods of objects whose
	// names are equal after shortening.
	uidDigits = 10

	// slotDigits is the number of digits of a slot. A thousand Pods may be desired, and some more terminating.
	slotDigits = 6

	// noSlot is the slot of a Pod with a name that we would not give.
	noSlot = -1
)

// prefixOf returns the prefix of the names of an object's Pods. An object's name may have 253 characters and dots; a Pod's host
// name, which is its name unless that has dots, 63.
func prefixOf(sd *v1alpha1.SimpleDeployment) string {
	const room = validation.DNS1123LabelMaxLength - len("-") - uidDigits - len("-") - slotDigits
	name := strings.ReplaceAll(sd.Name, ".", "-")
	name = strings.TrimRight(name[:min(len(name), room)], "-")
	return name + "-" + hashOf([]byte(sd.UID), uidDigits) + "-"
}

// labelOf is an object's name as the value of a label: the name itself, unless it is too long for one.
func labelOf(name string) string {
	const room = validation.LabelValueMaxLength - len("-") - uidDigits
	if len(name) <= validation.LabelValueMaxLength {
		return name
	}
	return name[:room] + "-" + hashOf([]byte(name), uidDigits)
}

func hashOf(content []byte, digits int) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])[:digits]
}

func nameOf(prefix string, slot int) string { return prefix + strconv.Itoa(slot) }

// slotOf is the slot that a name with the prefix stands for, or noSlot.
func slotOf(prefix, name string) int {
	text, ok := strings.CutPrefix(name, prefix)
	slot, err := strconv.Atoi(text)
	if !ok || err != nil || slot < 0 || nameOf(prefix, slot) != name {
		return noSlot
	}
	return slot
}
