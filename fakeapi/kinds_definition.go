package fakeapi

import (
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// definitionKinds are the kinds that define kinds.
var definitionKinds = []*row{customResourceDefinitions}

var customResourceDefinitions = goType[definition, apiextensionsv1.CustomResourceDefinitionList](&row{
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
		terminate: terminateDefinition,
	},
})

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
		if have := d.Status.StoredVersions; !slices.Contains(have, v.Name) {
			d.Status.StoredVersions = append(have[:len(have):len(have)], v.Name)
		}
		return
	}
}

// terminateDefinition gives a definition a finalizer of the server's own, which
// goes when its last object is gone.
func terminateDefinition(obj runtime.Object, _ *metav1.DeleteOptions, now time.Time) runtime.Object {
	marked := obj.(*definition).DeepCopy()
	at := seconds(now)
	marked.DeletionTimestamp = &at
	if !slices.Contains(marked.Finalizers, apiextensionsv1.CustomResourceCleanupFinalizer) {
		marked.Finalizers = append(marked.Finalizers, apiextensionsv1.CustomResourceCleanupFinalizer)
	}
	setCondition(marked, now, apiextensionsv1.Terminating, apiextensionsv1.ConditionTrue, "InstanceDeletionPending",
		"CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon")
	return marked
}
