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
	Default: On(apiregistrationv1.SetObjectDefaults_APIService),
	strategy: strategy{
		Prefix: "apiregistration.k8s.io/apiservices",
		Create: validation.APIService.Create,
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
			Prepare: Over(func(a, old *apiregistrationv1.APIService) { a.Status = old.Status }),
			Judge:   validation.APIService.Update,
		},
		ForStatus: Update{
			Prepare: Over(func(a, old *apiregistrationv1.APIService) {
				a.Spec, a.Labels, a.Annotations = old.Spec, old.Labels, old.Annotations
				a.Finalizers, a.OwnerReferences = old.Finalizers, old.OwnerReferences
			}),
			Judge: validation.APIService.Status,
		},
		ResetByStatus: wholeMetadata,
	},
})
