package registry

import (
	"fmt"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	admissiondefaults "k8s.io/kubernetes/pkg/apis/admissionregistration/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/expression"
	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

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

// spoken makes a check that compiles expressions the rules of a kind.
func spoken[T runtime.Object](check func(validation.Language, T) field.ErrorList) validation.Judge {
	return checked(func(obj T) field.ErrorList { return check(expression.Language, obj) })
}

// checked makes a check the rules of a kind, with those about metadata before it.
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
