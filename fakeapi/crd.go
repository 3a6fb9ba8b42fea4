package fakeapi

import (
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// definition is a CustomResourceDefinition.
type definition = apiextensionsv1.CustomResourceDefinition

// setCondition sets a condition of a definition. The time of a condition that
// keeps its status stays.
func setCondition(d *definition, now time.Time, kind apiextensionsv1.CustomResourceDefinitionConditionType,
	status apiextensionsv1.ConditionStatus, reason, message string) {
	want := apiextensionsv1.CustomResourceDefinitionCondition{
		Type: kind, Status: status, Reason: reason, Message: message, LastTransitionTime: seconds(now)}
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

func established(d *definition) bool {
	return apihelpers.IsCRDConditionTrue(d, apiextensionsv1.Established)
}

func terminating(d *definition) bool {
	return apihelpers.IsCRDConditionTrue(d, apiextensionsv1.Terminating)
}

// served says whether the definition's kinds answer requests.
func served(d *definition) bool {
	return established(d) || apihelpers.IsCRDConditionTrue(d, apiextensionsv1.NamesAccepted)
}

// sameDefinition says whether two states of a definition define the same.
func sameDefinition(a, b *definition) bool {
	return a.UID == b.UID && terminating(a) == terminating(b) && equality.Semantic.DeepEqual(a.Spec, b.Spec) &&
		equality.Semantic.DeepEqual(a.Status.AcceptedNames, b.Status.AcceptedNames)
}

func deletionBegun(d *definition) bool {
	for _, condition := range d.Status.Conditions {
		if condition.Type == apiextensionsv1.Terminating {
			return condition.Reason == "InstanceDeletionInProgress"
		}
	}
	return false
}
