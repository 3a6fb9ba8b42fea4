package registry

import (
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var disruptionBudgets = goType[policyv1.PodDisruptionBudget, policyv1.PodDisruptionBudgetList](&Kind{
	GVK:      policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"),
	Resource: "poddisruptionbudgets", Singular: "poddisruptionbudget", ShortNames: []string{"pdb"},
	Namespaced: true, Status: true, MustVersion: true,
	strategy: strategy{
		PrepareCreate: On(func(p *policyv1.PodDisruptionBudget) {
			p.Status, p.Generation = policyv1.PodDisruptionBudgetStatus{}, 1
		}),
		Create: validation.PodDisruptionBudget.Create,
		Main: Update{Prepare: Over(func(p, old *policyv1.PodDisruptionBudget) {
			p.Status = old.Status
			if !equality.Semantic.DeepEqual(p.Spec, old.Spec) {
				p.Generation = old.Generation + 1
			}
		}), Judge: validation.PodDisruptionBudget.Update},
		ForStatus: Update{
			Prepare: Over(func(p, old *policyv1.PodDisruptionBudget) { p.Spec = old.Spec }),
			Judge:   validation.PodDisruptionBudget.Status,
		},
	},
})
