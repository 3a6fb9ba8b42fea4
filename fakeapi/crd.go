package fakeapi

import (
	"fmt"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// definitionKinds are the kinds that define kinds.
var definitionKinds = []*Kind{definitions}

// definition is a CustomResourceDefinition.
type definition = apiextensionsv1.CustomResourceDefinition

var definitions = goType[definition, apiextensionsv1.CustomResourceDefinitionList](&Kind{
	GVK:      apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"),
	Resource: "customresourcedefinitions", Singular: "customresourcedefinition", ShortNames: []string{"crd", "crds"},
	Categories: []string{"api-extensions"}, Status: true, ReturnDeleted: true, MustVersion: true,
	Default: on(apiextensionsv1.SetObjectDefaults_CustomResourceDefinition),
	strategy: strategy{
		prefix:         "apiextensions.k8s.io/customresourcedefinitions",
		prepareCreate:  on(prepareDefinition),
		validateCreate: check(validateDefinition),
		warnCreate:     func(obj runtime.Object) []string { return unknownFormats(obj.(*definition), nil) },
		main: update{
			prepare:  over(prepareDefinitionUpdate),
			validate: compare(validateDefinitionUpdate),
			warn:     func(obj, old runtime.Object) []string { return unknownFormats(obj.(*definition), old.(*definition)) },
			keeps:    true,
		},
		status: update{
			prepare:  over(func(d, old *definition) { d.Spec = old.Spec }),
			validate: compare(validateDefinitionStatus),
			keeps:    true,
		},
		remove: removeDefinition,
	},
})

// What follows a write to a definition needs the table of kinds, which may not
// refer to itself.
func init() { definitions.follow = (*call).followDefinition }

func prepareDefinition(d *definition) {
	d.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
	d.Generation = 1
	noteStorageVersion(d)
}

func prepareDefinitionUpdate(d, old *definition) {
	d.Status = old.Status
	if !equality.Semantic.DeepEqual(d.Spec, old.Spec) {
		d.Generation = old.Generation + 1
	}
	noteStorageVersion(d)
}

// noteStorageVersion remembers in the status that objects may be stored in the
// version that is now the storage version.
func noteStorageVersion(d *definition) {
	for _, v := range d.Spec.Versions {
		if !v.Storage {
			continue
		}
		if have := d.Status.StoredVersions; !contains(have, v.Name) {
			d.Status.StoredVersions = append(have[:len(have):len(have)], v.Name)
		}
		return
	}
}

// removeDefinition is the definitions' own way to be deleted: the first
// request gives the definition a finalizer of the server's own, which goes
// when its last object is gone. Later requests delete in the common way.
func removeDefinition(c *call, old *entry, opts *metav1.DeleteOptions) (runtime.Object, bool, bool, error) {
	d := old.obj.(*definition)
	if pre := opts.Preconditions; pre != nil {
		if pre.UID != nil && *pre.UID != d.UID {
			return nil, false, true, c.errConflict(d.Name, fmt.Sprintf(
				"Precondition failed: UID in precondition: %v, UID in object meta: %v", *pre.UID, d.UID))
		}
		if pre.ResourceVersion != nil && *pre.ResourceVersion != d.ResourceVersion {
			return nil, false, true, c.errConflict(d.Name, fmt.Sprintf(
				"Precondition failed: ResourceVersion in precondition: %v, ResourceVersion in object meta: %v", *pre.ResourceVersion, d.ResourceVersion))
		}
	}
	if d.DeletionTimestamp != nil {
		return nil, false, false, nil
	}
	marked := d.DeepCopy()
	now := seconds(c.now)
	marked.DeletionTimestamp = &now
	if !contains(marked.Finalizers, apiextensionsv1.CustomResourceCleanupFinalizer) {
		marked.Finalizers = append(marked.Finalizers, apiextensionsv1.CustomResourceCleanupFinalizer)
	}
	setCondition(marked, c.now, apiextensionsv1.Terminating, apiextensionsv1.ConditionTrue, "InstanceDeletionPending",
		"CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon")
	if len(opts.DryRun) == 0 {
		c.commit(c.s.writable(c.k), old, old.key, marked, marked)
	}
	return marked, false, true, nil
}

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
