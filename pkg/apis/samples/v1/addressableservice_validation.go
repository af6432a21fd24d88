/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	"knative.dev/pkg/apis"
	duckv1 "knative.dev/pkg/apis/duck/v1"

	"github.com/mallard-dev/mallard/conversion/knative"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
)

// Validate implements apis.Validatable. The validating webhook calls it on create and update. It contains the rules that the schema and CEL cannot
// express, because they see neither annotations, nor the namespace, and repeats the others for objects that were written at an older version.
func (as *AddressableService) Validate(ctx context.Context) *apis.FieldError {
	// A status update cannot break these rules, and an object that is being deleted must be able to lose its finalizers whatever it holds.
	if apis.GetUpdatedSubresource(ctx) != "" || as.DeletionTimestamp != nil {
		return nil
	}
	errs := as.validateClass(ctx).Also(knative.Validate(ctx, conversionProperties, as))

	// A value that was accepted before must not block a later update of another field.
	if old, ok := apis.GetBaseline(ctx).(*AddressableService); ok && equality.Semantic.DeepEqual(old.Spec, as.Spec) {
		return errs
	}
	return errs.Also(as.Spec.validateRules().ViaField("spec"), as.validateTarget().ViaField("spec.ref"))
}

// validateClass reports a class that changes or is no name, and warns of one that this operator does not serve: such an object never gets a status.
func (as *AddressableService) validateClass(ctx context.Context) *apis.FieldError {
	class, ok := as.Annotations[samples.ClassAnnotationKey]
	old, isUpdate := apis.GetBaseline(ctx).(*AddressableService)
	if isUpdate && metav1.HasAnnotation(old.ObjectMeta, samples.ClassAnnotationKey) {
		if was := old.Annotations[samples.ClassAnnotationKey]; class != was {
			return classError(fmt.Sprintf("the class cannot be changed from %q to %q", was, class),
				"Delete the object and create it with the other class.")
		}
	} else if problems := validation.IsDNS1123Subdomain(class); ok && len(problems) > 0 {
		return classError(fmt.Sprintf("invalid class %q", class), problems[0])
	}
	if ok && class != samples.ClassMallard {
		// The API server drops a warning of several lines, which details would make of it.
		return classError(fmt.Sprintf("this operator serves no AddressableService of class %q; its class is %q", class, samples.ClassMallard), "").
			At(apis.WarningLevel)
	}
	return nil
}

// classError writes the path out, because ViaKey takes the dots of a key for those between fields.
func classError(message, details string) *apis.FieldError {
	return &apis.FieldError{
		Message: message,
		Paths:   []string{"metadata.annotations[" + samples.ClassAnnotationKey + "]"},
		Details: details,
	}
}

func (as *AddressableService) validateTarget() *apis.FieldError {
	ref := as.Spec.Ref
	if ref.GroupVersionKind().GroupKind() != samples.Kind("AddressableService") || cmp.Or(ref.Namespace, as.Namespace) != as.Namespace || ref.Name != as.Name {
		return nil
	}
	return &apis.FieldError{
		Message: "an AddressableService cannot refer to itself",
		Paths:   []string{"name"},
		Details: "Refer to a Service or to another Addressable.",
	}
}

// The rules of the schema, in Go. The API server validates a write against the schema of its version, but does not validate the converted
// object. So an old version could bypass these rules: with the annotation that holds properties without a field, or with a port that
// another port of v1 already has.
//
// A test compares them with the CRD.

// text checks a string by the rules of the schema; it must not be empty.
type text struct {
	max     int
	pattern *regexp.Regexp
}

var (
	apiVersionText = text{317, regexp.MustCompile(`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[a-z]([-a-z0-9]{0,61}[a-z0-9])?$`)}
	kindText       = text{63, regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*$`)}
	namespaceText  = text{63, regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)}
	nameText       = text{253, regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)}
	portNameText   = text{63, regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)}
	pathText       = text{1024, regexp.MustCompile(`^(/[A-Za-z0-9._~!$&'()*+,;=:@-]*)+$`)}
	aliasText      = text{63, regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)}

	visibilities = []string{string(VisibilityClusterLocal), string(VisibilityPublic)}
	appProtocols = []string{"http", "https", "grpc", "kubernetes.io/h2c", "kubernetes.io/ws", "kubernetes.io/wss"}
)

const (
	maxPorts = 16
	minPort  = 1
	maxPort  = 65535

	maxURL      = 8192
	maxCACerts  = 65536 // less than in the schema, because every address of an object repeats them
	maxAudience = 2048
	// maxAddresses bounds the encoded addresses. etcd stores no object of more than 1.5 MiB, and one character may take six bytes in JSON.
	maxAddresses = 1280 << 10
)

func (s *AddressableServiceSpec) validateRules() *apis.FieldError {
	errs := s.Ref.validateRules().ViaField("ref")
	errs = errs.Also(validatePorts(s.Ports).ViaField("ports"))
	if s.Path != nil {
		errs = errs.Also(validatePath(*s.Path).ViaField("path"))
	}
	errs = errs.Also(oneOf(visibilities, string(s.Visibility)).ViaField("visibility"))
	if s.Publish != nil {
		errs = errs.Also(aliasText.validate(s.Publish.Alias).ViaField("alias").ViaField("publish"))
	}
	return errs
}

func (r TargetReference) validateRules() *apis.FieldError {
	errs := apiVersionText.validate(r.APIVersion).ViaField("apiVersion").Also(
		kindText.validate(r.Kind).ViaField("kind"),
		nameText.validate(r.Name).ViaField("name"))
	if r.Namespace != "" {
		errs = errs.Also(namespaceText.validate(r.Namespace).ViaField("namespace"))
	}
	if r.APIVersion == "v1" && r.Kind != "" && r.Kind != "Service" {
		errs = errs.Also(apis.ErrInvalidValue(r.Kind, "kind", "must be Service when apiVersion is v1: no other core kind has an address"))
	}
	return errs
}

func validatePorts(ports []AddressPort) *apis.FieldError {
	if len(ports) > maxPorts {
		return apis.ErrOutOfBoundsValue(len(ports), 0, maxPorts, apis.CurrentField)
	}
	var errs *apis.FieldError
	for i, port := range ports {
		errs = errs.Also(port.validateRules().ViaIndex(i))
		if slices.ContainsFunc(ports[:i], func(p AddressPort) bool { return p.Name == port.Name }) {
			errs = errs.Also(apis.ErrInvalidValue(port.Name, "name", "another port has this name").ViaIndex(i))
		}
		if port.Port != 0 && slices.ContainsFunc(ports[:i], func(p AddressPort) bool { return p.Port == port.Port }) {
			errs = errs.Also(apis.ErrInvalidValue(port.Port, "port", "another entry has this port").ViaIndex(i))
		}
	}
	return errs
}

func (p *AddressPort) validateRules() *apis.FieldError {
	errs := portNameText.validate(p.Name).ViaField("name").Also(oneOf(appProtocols, p.AppProtocol).ViaField("appProtocol"))
	if p.Port != 0 && (p.Port < minPort || p.Port > maxPort) {
		errs = errs.Also(apis.ErrOutOfBoundsValue(p.Port, minPort, maxPort, "port"))
	}
	return errs
}

func validatePath(path string) *apis.FieldError {
	errs := pathText.validate(path)
	if segments := strings.Split(path, "/"); slices.Contains(segments, ".") || slices.Contains(segments, "..") {
		errs = errs.Also(apis.ErrInvalidValue(path, apis.CurrentField, "path must not hold the segments . or .."))
	}
	return errs
}

// ValidateAddresses checks addresses, at least one, before the status gets them.
func ValidateAddresses(addresses []duckv1.Addressable) error {
	for _, a := range addresses {
		text := a.URL.String()
		// The schema's format uri is what this function accepts, which is less than url.Parse does.
		if _, err := url.ParseRequestURI(text); err != nil || len(text) > maxURL {
			return fmt.Errorf("its URL %.100q is not a URI of at most %d characters", text, maxURL)
		}
		if len(ptr.Deref(a.CACerts, "")) > maxCACerts || len(ptr.Deref(a.Audience, "")) > maxAudience {
			return fmt.Errorf("its CACerts have more than %d characters, or its audience has more than %d", maxCACerts, maxAudience)
		}
	}
	encoded, err := json.Marshal(duckv1.AddressStatus{Address: &addresses[0], Addresses: addresses})
	if err != nil || len(encoded) > maxAddresses {
		return fmt.Errorf("%d copies of it take more than %d KiB as JSON", len(addresses)+1, maxAddresses>>10)
	}
	return nil
}

// validate checks a required text.
func (t text) validate(value string) *apis.FieldError {
	switch length := len([]rune(value)); {
	case length == 0:
		return apis.ErrMissingField(apis.CurrentField)
	case length > t.max:
		return apis.ErrOutOfBoundsValue(length, 1, t.max, apis.CurrentField)
	case !t.pattern.MatchString(value):
		return apis.ErrInvalidValue(value, apis.CurrentField, "must match "+t.pattern.String())
	}
	return nil
}

// oneOf checks a text that may be left out.
func oneOf(values []string, value string) *apis.FieldError {
	if value == "" || slices.Contains(values, value) {
		return nil
	}
	return apis.ErrInvalidValue(value, apis.CurrentField, "must be one of "+strings.Join(values, ", "))
}
