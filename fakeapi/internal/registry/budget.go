package registry

import (
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var disruptionBudgets = goType[policyv1.PodDisruptionBudget, policyv1.PodDisruptionBudgetList](&Kind{
	GVK:      policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"),
	Resource: "poddisruptionbudgets", Singular: "poddisruptionbudget", ShortNames: []string{"pdb"},
	Namespaced: true, Status: true, MustVersion: true,
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain,
		PrepareCreate: On(func(p *policyv1.PodDisruptionBudget) {
			p.Status, p.Generation = policyv1.PodDisruptionBudgetStatus{}, 1
		}),
		ValidateCreate: Check(validation.DisruptionBudget),
		Main: Update{Prepare: Over(func(p, old *policyv1.PodDisruptionBudget) {
			p.Status = old.Status
			if !equality.Semantic.DeepEqual(p.Spec, old.Spec) {
				p.Generation = old.Generation + 1
			}
		}), Validate: Compare(func(p, _ *policyv1.PodDisruptionBudget) field.ErrorList {
			return validation.DisruptionBudget(p)
		}), again: checks{onCreate}},
		ForStatus: Update{
			Prepare: Over(func(p, old *policyv1.PodDisruptionBudget) { p.Spec = old.Spec }),
			Validate: Compare(func(p, _ *policyv1.PodDisruptionBudget) field.ErrorList {
				return validation.DisruptionBudgetStatus(p)
			}), again: checks{onUpdate},
		},
	},
})
