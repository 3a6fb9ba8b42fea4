package replicas

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/controllers/ref"
	"github.com/threelaws/threelaws/sim/law"
)

// counts declares which pods the numbers in a set's status count (EXACT-8).
func counts(kind *Traits) []law.Count {
	number := func(name string, of func(s *appsv1.ReplicaSetStatus) int32,
		is func(set *Set, p *corev1.Pod) bool) law.Count {
		return law.Count{
			Name: name,
			Of: func(owner runtime.Object) int {
				set := kind.Read(owner)
				if set.selectsNothing() {
					return -1 // nobody counts for it
				}
				return int(of(&set.Status))
			},
			Is: func(owner, dependent runtime.Object) bool {
				p := dependent.(*corev1.Pod)
				if !pod.Active(p) {
					return false
				}
				set := kind.Read(owner)
				return is(&set, p)
			},
		}
	}
	list := []law.Count{
		number("replicas", func(s *appsv1.ReplicaSetStatus) int32 { return s.Replicas },
			func(*Set, *corev1.Pod) bool { return true }),
		number("fullyLabeledReplicas", func(s *appsv1.ReplicaSetStatus) int32 { return s.FullyLabeledReplicas },
			func(set *Set, p *corev1.Pod) bool { return ref.Contains(p.Labels, set.Template.Labels) }),
		number("readyReplicas", func(s *appsv1.ReplicaSetStatus) int32 { return s.ReadyReplicas },
			func(_ *Set, p *corev1.Pod) bool { return pod.Ready(p) }),
	}
	list = append(list, availableCount(kind))
	if kind.Terminating {
		list = append(list, terminatingCount(kind))
	}
	return list
}

// availableCount is judged where no time has to pass before a ready pod is
// available: otherwise it depends on when one looks.
func availableCount(kind *Traits) law.Count {
	return law.Count{
		Name: "availableReplicas",
		Of: func(owner runtime.Object) int {
			set := kind.Read(owner)
			if set.MinReadySeconds > 0 || set.selectsNothing() {
				return -1
			}
			return int(set.Status.AvailableReplicas)
		},
		Is: func(_, dependent runtime.Object) bool {
			p := dependent.(*corev1.Pod)
			return pod.Active(p) && pod.Available(p, 0, time.Time{})
		},
	}
}

func terminatingCount(kind *Traits) law.Count {
	return law.Count{
		Name: "terminatingReplicas",
		Of: func(owner runtime.Object) int {
			set := kind.Read(owner)
			if set.Status.TerminatingReplicas == nil {
				return -1
			}
			return int(*set.Status.TerminatingReplicas)
		},
		Is: func(owner, dependent runtime.Object) bool {
			set, p := kind.Read(owner), dependent.(*corev1.Pod)
			return pod.Terminating(p) && set.Matches(p.Labels)
		},
	}
}
