/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversiontest

import (
	"flag"
	"os"
	"strconv"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
)

// object has the texts of its type parameter.
type object[Texts any] struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec Texts `json:"spec"`
}

// kindOf is a kind with so many versions that are all the same.
func kindOf[Texts any](versions int) Kind {
	var k Kind
	for range versions {
		k.Versions = append(k.Versions, Version{Name: "v1", New: func() metav1.Object { return &object[Texts]{} }})
	}
	return k
}

func TestInputs_DependOnTheSizeOfTheKind(t *testing.T) {
	unset(t, testrand.InputsVariable)
	setShort(t, false)
	small, several, large, huge := kindOf[[1]string](2), kindOf[[1]string](3), kindOf[[300]string](2), kindOf[[10_000]string](2)
	of := func(k Kind) int { return k.affordable(t) }
	if of(small) < 200 || of(several) >= of(small)/2 || of(large) >= of(several) || of(large) <= of(huge) || of(huge) != fewest {
		t.Errorf("%d small objects of two versions, %d of three, %d large ones and %d huge ones; want at least 200, less than half of that, fewer, and %d",
			of(small), of(several), of(large), of(huge), fewest)
	}
	if again := of(large); again != of(large) {
		t.Errorf("%d inputs at first, and then %d", again, of(large))
	}

	setShort(t, true)
	if of(small) != 100 || of(huge) != fewest {
		t.Errorf("with -short, %d small objects and %d huge ones, want 100 and %d", of(small), of(huge), fewest)
	}
	t.Setenv(testrand.InputsVariable, "1234")
	if of(small) != 1234 || of(huge) != 1234 {
		t.Errorf("with %s=1234, %d small objects and %d huge ones", testrand.InputsVariable, of(small), of(huge))
	}
}

func unset(t *testing.T, variable string) {
	t.Helper()
	t.Setenv(variable, "") // restores the value in the end
	if err := os.Unsetenv(variable); err != nil {
		t.Fatal(err)
	}
}

// setShort sets the flag -short, until the test ends.
func setShort(t *testing.T, short bool) {
	t.Helper()
	before := testing.Short()
	set := func(value bool) {
		if err := flag.Set("test.short", strconv.FormatBool(value)); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { set(before) })
	set(short)
}
