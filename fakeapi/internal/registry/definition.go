package registry

import (
	"fmt"
	"slices"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	admissiondefaults "k8s.io/kubernetes/pkg/apis/admissionregistration/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/crd"
	"github.com/threelaws/threelaws/fakeapi/internal/expression"
	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
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

var validatingWebhooks = goType[admissionv1.ValidatingWebhookConfiguration,
	admissionv1.ValidatingWebhookConfigurationList](&Kind{
	GVK:      admissionv1.SchemeGroupVersion.WithKind("ValidatingWebhookConfiguration"),
	Resource: "validatingwebhookconfigurations", Singular: "validatingwebhookconfiguration",
	Categories: apiExtensions, MustVersion: true,
	Default: On(admissiondefaults.SetObjectDefaults_ValidatingWebhookConfiguration),
	strategy: strategy{PrepareCreate: first,
		Create:       spoken(validation.ValidatingWebhooks),
		Canonicalize: asStored,
		Main: Update{
			Prepare: RecountExactly(func(c *admissionv1.ValidatingWebhookConfiguration) any { return c.Webhooks }),
			Judge:   spoken(validation.ValidatingWebhooks),
		},
	},
})

var mutatingWebhooks = goType[admissionv1.MutatingWebhookConfiguration,
	admissionv1.MutatingWebhookConfigurationList](&Kind{
	GVK:      admissionv1.SchemeGroupVersion.WithKind("MutatingWebhookConfiguration"),
	Resource: "mutatingwebhookconfigurations", Singular: "mutatingwebhookconfiguration",
	Categories: apiExtensions, MustVersion: true,
	Default: On(admissiondefaults.SetObjectDefaults_MutatingWebhookConfiguration),
	strategy: strategy{PrepareCreate: first,
		Create:       spoken(validation.MutatingWebhooks),
		Canonicalize: asStored,
		Main: Update{
			Prepare: RecountExactly(func(c *admissionv1.MutatingWebhookConfiguration) any { return c.Webhooks }),
			Judge:   spoken(validation.MutatingWebhooks),
		},
	},
})

var apiExtensions = []string{"api-extensions"}

func spoken[T runtime.Object](check func(validation.Language, T) field.ErrorList) validation.Judge {
	return checked(func(obj T) field.ErrorList { return check(expression.Language, obj) })
}

func checked[T runtime.Object](check func(T) field.ErrorList) validation.Judge {
	return func(obj, _ runtime.Object, _ bool) (field.ErrorList, []string) {
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
}
