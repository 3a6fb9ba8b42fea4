package registry

import (
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/crd"
	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

var customResourceDefinitions = goType[crd.Definition, apiextensionsv1.CustomResourceDefinitionList](&Kind{
	GVK:      apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"),
	Resource: "customresourcedefinitions", Singular: "customresourcedefinition", ShortNames: []string{"crd", "crds"},
	Categories: []string{"api-extensions"}, Status: true, ReturnDeleted: true, MustVersion: true,
	Default: On(apiextensionsv1.SetObjectDefaults_CustomResourceDefinition),
	strategy: strategy{
		Prefix:        "apiextensions.k8s.io/customresourcedefinitions",
		PrepareCreate: On(prepareDefinition),
		Create: func(obj, _ runtime.Object, _ bool) (field.ErrorList, []string) {
			d := obj.(*crd.Definition)
			return crd.Validate(d), crd.UnknownFormats(d, nil)
		},
		Main: Update{
			Prepare: Over(prepareDefinitionUpdate),
			Judge: func(obj, old runtime.Object, _ bool) (field.ErrorList, []string) {
				d, was := obj.(*crd.Definition), old.(*crd.Definition)
				return crd.ValidateUpdate(d, was), crd.UnknownFormats(d, was)
			},
			Keeps: true,
		},
		ForStatus: Update{
			Prepare: Over(func(d, old *crd.Definition) { d.Spec = old.Spec }),
			Judge: func(obj, old runtime.Object, _ bool) (field.ErrorList, []string) {
				return crd.ValidateStatus(obj.(*crd.Definition), old.(*crd.Definition)), nil
			},
			Keeps: true,
		},
		Terminate: terminateDefinition,
	},
})

func prepareDefinition(d *crd.Definition) {
	d.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
	d.Generation = 1
	noteStorageVersion(d)
}

func prepareDefinitionUpdate(d, old *crd.Definition) {
	d.Status = old.Status
	if !equality.Semantic.DeepEqual(d.Spec, old.Spec) {
		d.Generation = old.Generation + 1
	}
	noteStorageVersion(d)
}

// noteStorageVersion remembers in the status that objects may be stored in the
// version that is now the storage version.
func noteStorageVersion(d *crd.Definition) {
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
	marked := obj.(*crd.Definition).DeepCopy()
	at := metadata.Seconds(now)
	marked.DeletionTimestamp = &at
	if !slices.Contains(marked.Finalizers, apiextensionsv1.CustomResourceCleanupFinalizer) {
		marked.Finalizers = append(marked.Finalizers, apiextensionsv1.CustomResourceCleanupFinalizer)
	}
	crd.SetCondition(marked, now, apiextensionsv1.Terminating, apiextensionsv1.ConditionTrue, "InstanceDeletionPending",
		"CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon")
	return marked
}
