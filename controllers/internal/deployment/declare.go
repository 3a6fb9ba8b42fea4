package deployment

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/controllers/internal/template"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// New returns the controller in an era.
func New(o Options) host.Controller {
	return host.Controller{
		Name:   "deployment",
		Era:    string(o.Era),
		For:    Kind,
		Owns:   []schema.GroupVersionKind{SetKind},
		New:    func(env *host.Env) host.Reconciler { return newReconciler(&o, env) },
		Routes: routes(&o),
		Contract: law.Contract{
			Selector: func(owner runtime.Object) labels.Selector { return selector(owner.(*appsv1.Deployment)) },
			Ignores:  func(owner runtime.Object) bool { return selector(owner.(*appsv1.Deployment)) == nil },
			Identity: identity,
			Counts:   counts(),
			Invariants: []*law.Invariant{{ID: "EXACT-11", When: law.AtWrite, Check: func(f *law.Facts) string {
				return oversteps(f.Owner, f.Dependents, f.Before, f.After, f.Now, f.All)
			}}},
			Profile: law.Upstream,
		},
	}
}

// identity is unique among the ReplicaSets that a Deployment creates: the template (EXACT-3). The rollout decides their
// pods, so no number of ReplicaSets is declared.
func identity(dependent runtime.Object) string {
	rs := dependent.(*appsv1.ReplicaSet)
	t := rs.Spec.Template
	t.Labels = template.Plain(t.Labels)
	return "the ReplicaSet of template " + template.Hash(&t, nil)
}

// counts returns the numbers of the status; each sums the pod numbers of ReplicaSets (EXACT-8).
func counts() []law.Count {
	number := func(name string, of func(s *appsv1.DeploymentStatus) int32,
		each func(s *appsv1.ReplicaSetStatus) int32) law.Count {
		return law.Count{
			Name: name,
			Of:   func(owner runtime.Object) int { return int(of(&owner.(*appsv1.Deployment).Status)) },
			Each: func(_, dependent runtime.Object) int {
				return int(each(&dependent.(*appsv1.ReplicaSet).Status))
			},
		}
	}
	return []law.Count{
		number("replicas", func(s *appsv1.DeploymentStatus) int32 { return s.Replicas },
			func(s *appsv1.ReplicaSetStatus) int32 { return s.Replicas }),
		number("readyReplicas", func(s *appsv1.DeploymentStatus) int32 { return s.ReadyReplicas },
			func(s *appsv1.ReplicaSetStatus) int32 { return s.ReadyReplicas }),
		number("availableReplicas", func(s *appsv1.DeploymentStatus) int32 { return s.AvailableReplicas },
			func(s *appsv1.ReplicaSetStatus) int32 { return s.AvailableReplicas }),
	}
}
