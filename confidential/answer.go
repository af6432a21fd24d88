/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package confidential

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Answer returns the error of a request about a confidential object, without texts of the API server. faults are those that the caller knows. Errors
// of the connection stay as they are.
func Answer(err error, faults ...string) error {
	var answer apierrors.APIStatus
	_, isConnection := errors.AsType[net.Error](err)
	switch {
	case errors.As(err, &answer):
		status := redacted(answer.Status(), faults)
		// The text around it is of the program.
		if around, ok := strings.CutSuffix(err.Error(), answer.Status().Message); ok {
			status.Message = around + status.Message
		}
		return &Error{status.Message, &apierrors.StatusError{ErrStatus: status}, err}
	case err == nil, isConnection, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, context.Canceled):
		return err
	}
	return &Error{fmt.Sprintf("reading the answer of the API server failed (%T)", err), nil, err}
}

// Warning returns the part of a warning of the API server that has no value of an object.
func Warning(text string) string {
	if known := safe.FindString(text); known != "" {
		return known
	}
	return "the API server warns about the object" + withheld
}

const withheld = ": its text is not shown, since it may contain values of the object"

// The messages of the API server, or their beginnings, that have no value of an object. A beginning that it writes itself cannot be forged by what
// follows it.
var (
	denied = regexp.MustCompile(`^admission webhook "[\w.-]+" denied the request`)
	safe   = regexp.MustCompile(`^(?:` + strings.Join([]string{
		denied.String()[1:],
		`Validation failed for ValidatingAdmissionPolicy '[\w.-]+'(?: with binding '[\w.-]+')?`,
		`[\w.]+ "[^"]*" (?:not found|already exists|is invalid)`,
		`object is being deleted: [\w.]+ "[^"]*" already exists`,
		`[\w.]+(?: "[^"]*")? is forbidden: (?:` + strings.Join([]string{
			`User "[^"]*" cannot \w+ resource "[\w./-]+" in API group "[\w.-]*"(?: in the namespace "[\w.-]*"| at the cluster scope)?`,
			`(?:ValidatingAdmissionP|P|p)olicy '[\w.-]+'(?: with binding '[\w.-]+')? denied request`,
			`exceeded quota: [\w.-]+, requested: [\w./=,-]+, used: [\w./=,-]+, limited: [\w./=,-]+`,
			`unable to create new content in namespace [\w.-]+ because it is being terminated`,
		}, "|") + ")",
		`Operation cannot be fulfilled on [\w.]+ "[^"]*": (?:` + strings.Join([]string{
			`the object has been modified(?:; please apply your changes to the latest version and try again)?`,
			`Precondition failed: UID in precondition: [\w-]*, UID in object meta: [\w-]*`,
			`the (?:UID|ResourceVersion) in the precondition \([\w-]*\) does not match the (?:UID|ResourceVersion) in record \([\w-]*\)`,
		}, "|") + ")",
		`Apply failed with \d+ conflicts?`,
		`failed to create typed patch object \([^()]*\)(?:: \.[\w./-]+: (?:field not declared in schema|expected (?:string|boolean|map|list|numeric)))?`,
		`the name of the object \([\w.-]*\) does not match the name on the URL \([\w.-]*\)`,
		`Internal error occurred(?:: failed calling webhook "[\w.-]+")?`,
		`Timeout: request did not complete within requested timeout`,
		`Too many requests`,
		`an error on the server`,
		`the server (?:is currently unable to handle the request|has received too many requests(?: and has asked us to try again later)?|` +
			`was unable to return a response in the time allotted, but may still be processing the request|reported a conflict|` +
			`could not find the requested resource|rejected our request (?:for an unknown reason|due to an error in our request)|` +
			`has asked for the client to provide credentials|responded with the status code \d+)`,
		`Request entity too large: limit is \d+`,
		`etcdserver: request is too large`,
		`Unauthorized`,
		`(?:[\w.]+ in version "[\w.]+" cannot be handled as a \w+: )?strict decoding error: (?:(?:, )?(?:unknown|duplicate) field "[^"]*")+$`,
	}, "|") + `)`)
	// decoding matches those with the first of the faults only.
	decoding  = regexp.MustCompile(`strict decoding error|^failed to create typed patch object`)
	conflict  = regexp.MustCompile(`^conflict with "[^"]*"(?: with subresource "\w+")? using [\w./-]+(?: at [\w:.-]+)?$`)
	tooLong   = regexp.MustCompile(`^Too long: may not be more than \d+ bytes$`)
	wrongType = regexp.MustCompile(`^Invalid value: "` + jsonType + `": \S+ in body must be of type (` + jsonType + `): "(` + jsonType + `)"$`)
	path      = regexp.MustCompile(`^\.?[\w./-]+(?:[\w./-]|\[[\w./ -]*\])*$`)
)

const jsonType = `(?:string|integer|number|boolean|array|object|null)`

// redacted returns a status with the same meaning and none of its texts.
func redacted(answer metav1.Status, faults []string) metav1.Status {
	only, hasFaults := metav1.Status{Status: metav1.StatusFailure, Code: answer.Code}, len(faults) > 0
	isOfWebhook := denied.MatchString(answer.Message) // which decides about the other fields, too
	if !isOfWebhook {
		only.Reason = answer.Reason
	}
	if from := answer.Details; from != nil && !isOfWebhook {
		only.Details = &metav1.StatusDetails{Name: from.Name, Group: from.Group, Kind: from.Kind, UID: from.UID, RetryAfterSeconds: from.RetryAfterSeconds}
		for _, cause := range from.Causes {
			known := metav1.StatusCause{Type: cause.Type, Field: cause.Field, Message: meaning(cause)}
			if !path.MatchString(known.Field) {
				known.Field = ""
			}
			only.Details.Causes = append(only.Details.Causes, known)
			switch {
			case known.Field == "patch" && len(faults) == 0:
				faults = []string{"the API server cannot decode the object with the patch: check the fields, their types, apiVersion and kind"}
			case known.Field != "" && known.Field != "patch":
				faults = append(faults, known.Field+": "+known.Message)
			}
		}
	}
	known, details := safe.FindString(answer.Message), strings.Join(slices.Compact(faults), ", ")
	switch {
	case known == "" && details == "":
		only.Message = fmt.Sprintf("the API server answered %d %s", only.Code, only.Reason) + withheld
	case known == "" || hasFaults && decoding.MatchString(known):
		only.Message = details
	default:
		only.Message = strings.TrimSuffix(known+": "+details, ": ")
	}
	return only
}

// meanings are those of the types of causes.
var meanings = map[metav1.CauseType]string{
	metav1.CauseTypeFieldValueNotFound: "is not found", metav1.CauseTypeFieldValueRequired: "is required",
	metav1.CauseTypeFieldValueDuplicate: "is a duplicate", metav1.CauseTypeFieldValueInvalid: "has an invalid value",
	metav1.CauseTypeFieldValueNotSupported: "has a value that is not supported", metav1.CauseTypeForbidden: "is forbidden",
	metav1.CauseTypeTooLong: "is too long", metav1.CauseTypeTooMany: "has too many items", metav1.CauseTypeTypeInvalid: "has another type",
}

// rules are the ends of messages that are the same for each value.
var rules = slices.Concat([]string{"field is immutable when `immutable` is set", "field is immutable", "may not change once set", "is immutable"},
	validation.IsValidLabelValue("!"), validation.IsQualifiedName("!"), validation.IsDNS1123Subdomain("!"), validation.IsDNS1123Label("!"),
	validation.IsConfigMapKey("!"))

// meaning describes a cause without its message.
func meaning(cause metav1.StatusCause) string {
	if types := wrongType.FindStringSubmatch(cause.Message); types != nil {
		return "must be of type " + types[1] + ", is of type " + types[2]
	}
	text := cmp.Or(conflict.FindString(cause.Message), tooLong.FindString(cause.Message), meanings[cause.Type], "is rejected")
	for _, rule := range rules {
		if strings.HasSuffix(cause.Message, rule) {
			return text + ": " + rule
		}
	}
	return text
}
