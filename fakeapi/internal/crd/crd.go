// Package crd validates CustomResourceDefinitions, accepts their names and sets their conditions.
package crd

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/transport"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

// Definition is a CustomResourceDefinition.
type Definition = apiextensionsv1.CustomResourceDefinition

// SetCondition sets a condition of a CRD. It keeps the transition time if the condition's status does not change.
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

// Established reports whether the CRD is established.
func Established(d *Definition) bool {
	return apihelpers.IsCRDConditionTrue(d, apiextensionsv1.Established)
}

// Terminating reports whether the CRD and its objects are being deleted.
func Terminating(d *Definition) bool {
	return apihelpers.IsCRDConditionTrue(d, apiextensionsv1.Terminating)
}

// Served reports whether the server serves the kinds of the CRD.
func Served(d *Definition) bool {
	return Established(d) || apihelpers.IsCRDConditionTrue(d, apiextensionsv1.NamesAccepted)
}

// Same reports whether two states of a CRD define the same kinds with the same behavior.
func Same(a, b *Definition) bool { return Terminating(a) == Terminating(b) && SameStorage(a, b) }

// SameStorage reports whether the UID, spec and accepted names of a CRD are unchanged. Stored objects then stay valid.
func SameStorage(a, b *Definition) bool {
	return a.UID == b.UID && equality.Semantic.DeepEqual(a.Spec, b.Spec) &&
		equality.Semantic.DeepEqual(a.Status.AcceptedNames, b.Status.AcceptedNames)
}

// ByWebhook reports whether a webhook converts objects between the CRD's versions.
func ByWebhook(d *Definition) bool {
	c := d.Spec.Conversion
	return c != nil && c.Strategy == apiextensionsv1.WebhookConverter
}

// DeletionBegun reports whether the deletion of the CRD's objects has begun and is not complete.
func DeletionBegun(d *Definition) bool {
	c := apihelpers.FindCRDCondition(d, apiextensionsv1.Terminating)
	return c != nil && c.Reason == "InstanceDeletionInProgress"
}

var (
	specPath   = field.NewPath("spec")
	statusPath = field.NewPath("status")
)

func hasDefaults(s *apiextensions.CustomResourceDefinitionSpec) (found bool) {
	eachSchema(s, func(schema *apiextensions.JSONSchemaProps, _ *field.Path) {
		eachProps(schema, func(p *apiextensions.JSONSchemaProps) { found = found || p.Default != nil })
	})
	return found
}

// Taken holds the accepted names of the CRDs of a group.
type Taken struct{ resources, kinds map[string]bool }

// Take adds the accepted names of a CRD to t.
func (t *Taken) Take(n *apiextensionsv1.CustomResourceDefinitionNames) {
	if t.kinds == nil {
		t.resources, t.kinds = map[string]bool{}, map[string]bool{}
	}
	t.resources[n.Plural], t.resources[n.Singular] = true, true
	for _, short := range n.ShortNames {
		t.resources[short] = true
	}
	t.kinds[n.Kind], t.kinds[n.ListKind] = true, true
}

// free returns an error if another CRD uses the name want. have is the CRD's own accepted name.
func free(want, have string, used map[string]bool) error {
	if want == have || !used[want] {
		return nil
	}
	return fmt.Errorf("%q is already in use", want)
}

// AcceptNames returns the CRD after accepting the names that no other CRD uses; nil if nothing changes.
func AcceptNames(d *Definition, used Taken, now time.Time) *Definition {
	if equality.Semantic.DeepEqual(d.Spec.Names, d.Status.AcceptedNames) {
		return nil
	}
	want, have, got := d.Spec.Names, d.Status.AcceptedNames, d.Status.AcceptedNames
	status, reason, message := apiextensionsv1.ConditionTrue, "NoConflicts", "no conflicts found"
	refused := func(err error, why string) bool {
		if err != nil {
			status, reason, message = apiextensionsv1.ConditionFalse, why, err.Error()
		}
		return err != nil
	}
	if !refused(free(want.Plural, have.Plural, used.resources), "PluralConflict") {
		got.Plural = want.Plural
	}
	if !refused(free(want.Singular, have.Singular, used.resources), "SingularConflict") {
		got.Singular = want.Singular
	}
	if !reflect.DeepEqual(want.ShortNames, have.ShortNames) &&
		!refused(freeShortNames(want.ShortNames, have.ShortNames, used.resources), "ShortNamesConflict") {
		got.ShortNames = want.ShortNames
	}
	if !refused(free(want.Kind, have.Kind, used.kinds), "KindConflict") {
		got.Kind = want.Kind
	}
	if !refused(free(want.ListKind, have.ListKind, used.kinds), "ListKindConflict") {
		got.ListKind = want.ListKind
	}
	got.Categories = want.Categories
	before := apihelpers.FindCRDCondition(d, apiextensionsv1.NamesAccepted)
	if reflect.DeepEqual(got, have) && before != nil && before.Status == status && before.Reason == reason &&
		before.Message == message {
		return nil
	}
	d = d.DeepCopy()
	d.Status.AcceptedNames = got
	SetCondition(d, now, apiextensionsv1.NamesAccepted, status, reason, message)
	switch before := apihelpers.FindCRDCondition(d, apiextensionsv1.Established); {
	case before != nil && before.Status == apiextensionsv1.ConditionTrue:
	case status == apiextensionsv1.ConditionTrue:
		SetCondition(d, now, apiextensionsv1.Established, apiextensionsv1.ConditionFalse, "Installing", initialNames)
	case before == nil:
		SetCondition(d, now, apiextensionsv1.Established, apiextensionsv1.ConditionFalse, "NotAccepted",
			"not all names are accepted")
	}
	return d
}

const initialNames = "the initial names have been accepted"

func freeShortNames(want, have []string, used map[string]bool) error {
	var errs []error
	for _, short := range want {
		if slices.Contains(have, short) {
			continue
		}
		if err := free(short, "", used); err != nil {
			errs = append(errs, err)
		}
	}
	if all := utilerrors.NewAggregate(errs); all != nil {
		return all
	}
	return nil
}

// Establish returns the CRD with the condition Established. The condition is false if the CA bundle of the webhook is
// invalid. Establish returns nil if nothing changes, or if the names are not accepted.
func Establish(d *Definition, now time.Time) *Definition {
	if !apihelpers.IsCRDConditionTrue(d, apiextensionsv1.NamesAccepted) || Established(d) {
		return nil
	}
	if c := d.Spec.Conversion; c != nil && c.Webhook != nil && c.Webhook.ClientConfig != nil &&
		badBundle(c.Webhook.ClientConfig.CABundle) != nil {
		return withCondition(d, now, apiextensionsv1.Established, apiextensionsv1.ConditionFalse, "InvalidCABundle",
			"The conversion webhook CABundle is invalid")
	}
	return withCondition(d, now, apiextensionsv1.Established, apiextensionsv1.ConditionTrue, "InitialNamesAccepted",
		initialNames)
}

// badBundle returns an error if a CA bundle is invalid. An empty bundle is valid.
func badBundle(bundle []byte) error {
	_, err := transport.TLSConfigFor(&transport.Config{TLS: transport.TLSConfig{CAData: bundle}})
	return err
}

// Approve returns the CRD with its approval condition set; nil if nothing changes, or if the group needs no approval.
func Approve(d *Definition, now time.Time) *Definition {
	if !apihelpers.IsProtectedCommunityGroup(d.Spec.Group) {
		return nil
	}
	status, reason := apiextensionsv1.ConditionFalse, ""
	state, message := apihelpers.GetAPIApprovalState(d.Annotations)
	switch state {
	case apihelpers.APIApprovalInvalid:
		reason = "InvalidAnnotation"
	case apihelpers.APIApprovalMissing:
		reason = "MissingAnnotation"
	case apihelpers.APIApprovalBypassed:
		reason = "UnapprovedAnnotation"
	case apihelpers.APIApproved:
		status, reason = apiextensionsv1.ConditionTrue, "ApprovedAnnotation"
	}
	return withCondition(d, now, apiextensionsv1.KubernetesAPIApprovalPolicyConformant, status, reason, message)
}

func withCondition(d *Definition, now time.Time, kind apiextensionsv1.CustomResourceDefinitionConditionType,
	status apiextensionsv1.ConditionStatus, reason, message string) *Definition {
	if have := apihelpers.FindCRDCondition(d, kind); have != nil && have.Status == status && have.Reason == reason &&
		have.Message == message {
		return nil
	}
	d = d.DeepCopy()
	SetCondition(d, now, kind, status, reason, message)
	return d
}
