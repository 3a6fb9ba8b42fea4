package registry

import (
	"fmt"
	"slices"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	admissiondefaults "k8s.io/kubernetes/pkg/apis/admissionregistration/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/crd"
	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var customResourceDefinitions = kind[crd.Definition, apiextensionsv1.CustomResourceDefinitionList](
	apiextensionsv1.SchemeGroupVersion, validation.Kind{
		Create: func(obj, _ runtime.Object, _ bool) (field.ErrorList, []string) {
			d := obj.(*crd.Definition)
			return crd.Validate(d), crd.UnknownFormats(d, nil)
		},
		Update: func(obj, old runtime.Object, _ bool) (field.ErrorList, []string) {
			d, was := obj.(*crd.Definition), old.(*crd.Definition)
			return crd.ValidateUpdate(d, was), crd.UnknownFormats(d, was)
		},
		Status: func(obj, old runtime.Object, _ bool) (field.ErrorList, []string) {
			return crd.ValidateStatus(obj.(*crd.Definition), old.(*crd.Definition)), nil
		},
	}, &Kind{
		Counts: "Spec", ReturnDeleted: true, MustVersion: true,
		Default:       On(apiextensionsv1.SetObjectDefaults_CustomResourceDefinition),
		Prefix:        "apiextensions.k8s.io/customresourcedefinitions",
		PrepareCreate: On(noteStorageVersion),
		Main:          Update{Prepare: Over(func(d, _ *crd.Definition) { noteStorageVersion(d) }), Keeps: true},
		Terminate:     terminateDefinition,
	})

// noteStorageVersion adds the storage version to the status.
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

// Webhooks of admission.

var validatingWebhooks = kind[admissionv1.ValidatingWebhookConfiguration,
	admissionv1.ValidatingWebhookConfigurationList](admissionv1.SchemeGroupVersion, checked(validation.ValidatingWebhooks),
	&Kind{
		Counts: "Webhooks", Exactly: true, MustVersion: true, Canonicalize: asStored,
		Default: On(admissiondefaults.SetObjectDefaults_ValidatingWebhookConfiguration),
	})

var mutatingWebhooks = kind[admissionv1.MutatingWebhookConfiguration,
	admissionv1.MutatingWebhookConfigurationList](admissionv1.SchemeGroupVersion, checked(validation.MutatingWebhooks),
	&Kind{
		Counts: "Webhooks", Exactly: true, MustVersion: true, Canonicalize: asStored,
		Default: On(admissiondefaults.SetObjectDefaults_MutatingWebhookConfiguration),
	})

func checked[T runtime.Object](check func(T) field.ErrorList) validation.Kind {
	judge := func(obj, _ runtime.Object, _ bool) (field.ErrorList, []string) {
		m := metadata.Of(obj)
		errs := append(apivalidation.ValidateObjectMetaAccessor(m, false, apivalidation.NameIsDNSSubdomain,
			metadata.Path), check(obj.(T))...)
		const reserved = ".static.k8s.io"
		if len(errs) > 0 || !strings.HasSuffix(m.GetName(), reserved) {
			return errs, nil
		}
		return nil, []string{fmt.Sprintf("metadata.name: names ending with %q are reserved for static manifest-based "+
			"configurations and cannot be managed via the API", reserved)}
	}
	return validation.Kind{Create: judge, Update: judge}
}
