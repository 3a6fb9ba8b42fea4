package registry

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

// apiServices name servers of further groups: nothing here is passed on to them.
var apiServices = goType[apiregistrationv1.APIService, apiregistrationv1.APIServiceList](&Kind{
	GVK:      apiregistrationv1.SchemeGroupVersion.WithKind("APIService"),
	Resource: "apiservices", Singular: "apiservice", Categories: apiExtensions, Status: true, MustVersion: true,
	Default: On(func(a *apiregistrationv1.APIService) {
		if a.Spec.Service != nil {
			orDefault(&a.Spec.Service.Port, 443)
		}
	}),
	strategy: strategy{
		AnyFinalizer:   true,
		Prefix:         "apiregistration.k8s.io/apiservices",
		ValidateCreate: Check(validation.APIService),
		PrepareCreate: On(func(a *apiregistrationv1.APIService) {
			a.Status = apiregistrationv1.APIServiceStatus{}
			if a.Spec.Service == nil {
				a.Status.Conditions = []apiregistrationv1.APIServiceCondition{{
					Type: apiregistrationv1.Available, Status: apiregistrationv1.ConditionTrue, Reason: "Local",
					Message:            "Local APIServices are always available",
					LastTransitionTime: metav1.Time(a.CreationTimestamp)}}
			}
		}),
		Main: Update{
			Prepare:  Over(func(a, old *apiregistrationv1.APIService) { a.Status = old.Status }),
			Validate: again(validation.APIService), again: checks{onUpdate},
		},
		ForStatus: Update{
			Prepare: Over(func(a, old *apiregistrationv1.APIService) {
				a.Spec, a.Labels, a.Annotations = old.Spec, old.Labels, old.Annotations
				a.Finalizers, a.OwnerReferences = old.Finalizers, old.OwnerReferences
			}),
			Validate: Compare(validation.APIServiceStatus), again: checks{onUpdate},
		},
		ResetByStatus: wholeMetadata,
	},
})
