// Package crd is about CustomResourceDefinitions themselves: which are accepted,
// how they come by their names, and what their conditions say. What the objects
// that they define are like is said by package custom.
package crd

import (
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

// Definition is a CustomResourceDefinition.
type Definition = apiextensionsv1.CustomResourceDefinition

// SetCondition sets a condition of a definition. The time of a condition that
// keeps its status stays.
func SetCondition(d *Definition, now time.Time, kind apiextensionsv1.CustomResourceDefinitionConditionType,
	status apiextensionsv1.ConditionStatus, reason, message string) {
	want := apiextensionsv1.CustomResourceDefinitionCondition{
		Type: kind, Status: status, Reason: reason, Message: message, LastTransitionTime: metadata.Seconds(now)}
	have := apihelpers.FindCRDCondition(d, kind)
	switch {
	case have == nil:
		d.Status.Conditions = append(d.Status.Conditions, want)
	case have.Status == status && !have.LastTransitionTime.IsZero():
		want.LastTransitionTime = have.LastTransitionTime
		*have = want
	default:
		*have = want
	}
}

// Established says whether the definition is in force.
func Established(d *Definition) bool {
	return apihelpers.IsCRDConditionTrue(d, apiextensionsv1.Established)
}

// Terminating says whether its objects are being deleted with it.
func Terminating(d *Definition) bool {
	return apihelpers.IsCRDConditionTrue(d, apiextensionsv1.Terminating)
}

// Served says whether the definition's kinds answer requests.
func Served(d *Definition) bool {
	return Established(d) || apihelpers.IsCRDConditionTrue(d, apiextensionsv1.NamesAccepted)
}

// Same says whether two states of a definition define the same.
func Same(a, b *Definition) bool { return Terminating(a) == Terminating(b) && SameStorage(a, b) }

// SameStorage says whether the objects of two states of a definition are read, written and
// watched in the same way.
func SameStorage(a, b *Definition) bool {
	return a.UID == b.UID && equality.Semantic.DeepEqual(a.Spec, b.Spec) &&
		equality.Semantic.DeepEqual(a.Status.AcceptedNames, b.Status.AcceptedNames)
}

// ByWebhook says whether a webhook makes objects of one version those of another.
func ByWebhook(d *Definition) bool {
	c := d.Spec.Conversion
	return c != nil && c.Strategy == apiextensionsv1.WebhookConverter
}

// DeletionBegun says whether their deletion is under way.
func DeletionBegun(d *Definition) bool {
	for _, condition := range d.Status.Conditions {
		if condition.Type == apiextensionsv1.Terminating {
			return condition.Reason == "InstanceDeletionInProgress"
		}
	}
	return false
}

var (
	specPath   = field.NewPath("spec")
	statusPath = field.NewPath("status")
)
