package randomworlds_test

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

var replicaSets = subject{
	name:   "replicaset",
	beside: []string{"kubelet", "garbagecollector"},
	kind:   "ReplicaSet",
	begin: func(w *world) {
		for range w.n(5) {
			w.podMade()
		}
		w.replicaSet()
		if w.in(3) {
			w.replicaSet()
		}
	},
	owner: (*world).replicaSet,
}

var replicationControllers = subject{
	name:   "replication",
	beside: []string{"kubelet", "garbagecollector"},
	kind:   "ReplicationController",
	begin: func(w *world) {
		for range w.n(4) {
			w.podMade()
		}
		w.replicationController()
	},
	owner: (*world).replicationController,
}

func init() {
	replicaSets.acts = []act{
		{8, "the set is scaled", func(w *world) {
			edit(w, "ReplicaSet", "", nil, func(s *appsv1.ReplicaSet) {
				s.Spec.Replicas = some(w, int32(0), 1, 2, 3, 6)
			})
		}},
		{3, "the set changes", func(w *world) {
			edit(w, "ReplicaSet", "", nil, func(s *appsv1.ReplicaSet) {
				switch w.n(3) {
				case 0:
					s.Spec.MinReadySeconds = int32(one(w, 0, 2, 30))
				case 1:
					s.Spec.Template = w.template(s.Spec.Template.Labels, corev1.RestartPolicyAlways)
				default:
					s.Labels = map[string]string{"of": "it"}
				}
			})
		}},
		{2, "the status changes", func(w *world) {
			edit(w, "ReplicaSet", "status", nil, func(s *appsv1.ReplicaSet) {
				switch w.n(3) {
				case 0:
					s.Status = appsv1.ReplicaSetStatus{}
				case 1:
					s.Status.Conditions = append(s.Status.Conditions, appsv1.ReplicaSetCondition{Type: "Odd",
						Status: "True"})
				default:
					s.Status.ObservedGeneration = 0
				}
			})
		}},
	}
	replicationControllers.acts = []act{
		{8, "the controller is scaled", func(w *world) {
			edit(w, "ReplicationController", "", nil, func(s *corev1.ReplicationController) {
				s.Spec.Replicas = some(w, int32(0), 1, 2, 3, 6)
			})
		}},
		{3, "the controller changes", func(w *world) {
			edit(w, "ReplicationController", "", nil, func(s *corev1.ReplicationController) {
				switch w.n(3) {
				case 0:
					s.Spec.MinReadySeconds = int32(one(w, 0, 2, 30))
				case 1:
					s.Spec.Selector = w.labels()
				default:
					t := w.template(w.labels(), corev1.RestartPolicyAlways)
					s.Spec.Template = &t
				}
			})
		}},
		{2, "the status changes", func(w *world) {
			edit(w, "ReplicationController", "status", nil, func(s *corev1.ReplicationController) {
				switch w.n(2) {
				case 0:
					s.Status = corev1.ReplicationControllerStatus{}
				default:
					s.Status.Conditions = append(s.Status.Conditions,
						corev1.ReplicationControllerCondition{Type: "Odd", Status: "True"})
				}
			})
		}},
	}
}

func (w *world) replicaSet() {
	labels := w.labels()
	s := &appsv1.ReplicaSet{TypeMeta: typeOf("apps/v1", "ReplicaSet")}
	s.Name, s.Labels = one(w, "a", "a", "b"), labels
	s.Spec = appsv1.ReplicaSetSpec{Replicas: some(w, int32(0), 1, 2, 3, 6), MinReadySeconds: int32(one(w, 0, 0, 2, 30)),
		Selector: w.selector(labels), Template: w.template(labels, corev1.RestartPolicyAlways)}
	if w.in(4) {
		s.OwnerReferences = w.owners()
	}
	w.create(s)
}

func (w *world) replicationController() {
	labels := w.labels()
	t := w.template(labels, corev1.RestartPolicyAlways)
	s := &corev1.ReplicationController{TypeMeta: typeOf("v1", "ReplicationController")}
	s.Name, s.Labels = one(w, "a", "a", "b"), labels
	s.Spec = corev1.ReplicationControllerSpec{Replicas: some(w, int32(0), 1, 2, 3, 6),
		MinReadySeconds: int32(one(w, 0, 0, 2, 30)), Template: &t}
	if w.in(2) {
		s.Spec.Selector = labels
	}
	w.create(s)
}

var deployments = subject{
	name:   "deployment",
	beside: []string{"replicaset", "replicaset", "kubelet", "garbagecollector"},
	kind:   "Deployment",
	begin: func(w *world) {
		for range w.n(3) {
			w.oldReplicaSet()
		}
		w.deployment()
		if w.in(4) {
			w.deployment()
		}
	},
	owner: (*world).deployment,
}

func init() {
	deployments.acts = []act{
		{8, "the deployment is scaled", func(w *world) {
			edit(w, "Deployment", "", nil, func(d *appsv1.Deployment) {
				d.Spec.Replicas = some(w, int32(0), 1, 3, 4, 10)
			})
		}},
		{12, "the template changes", func(w *world) {
			edit(w, "Deployment", "", nil, func(d *appsv1.Deployment) {
				d.Spec.Template.Spec.Containers[0].Image = one(w, "i", "j", "k", "l")
			})
		}},
		{4, "the deployment is paused, or goes on", func(w *world) {
			edit(w, "Deployment", "", nil, func(d *appsv1.Deployment) { d.Spec.Paused = !d.Spec.Paused })
		}},
		{3, "the strategy changes", func(w *world) {
			edit(w, "Deployment", "", nil, func(d *appsv1.Deployment) { d.Spec.Strategy = w.strategy() })
		}},
		{3, "limits of the deployment change", func(w *world) {
			edit(w, "Deployment", "", nil, func(d *appsv1.Deployment) {
				switch w.n(3) {
				case 0:
					d.Spec.RevisionHistoryLimit = some(w, int32(0), 1, 2, 1<<31-1)
				case 1:
					d.Spec.ProgressDeadlineSeconds = some(w, int32(31), 60, 600, 1<<31-1)
				default:
					d.Spec.MinReadySeconds = int32(one(w, 0, 2, 30))
				}
			})
		}},
		{4, "the deployment is annotated", func(w *world) {
			edit(w, "Deployment", "", nil, func(d *appsv1.Deployment) {
				d.Annotations = with(d.Annotations, map[string]string{
					one(w, "deprecated.deployment.rollback.to", "deprecated.deployment.rollback.to", "note",
						"deployment.kubernetes.io/revision", "kubectl.kubernetes.io/last-applied-configuration"): one(w,
						"0", "1", "2", "x")})
			})
		}},
		{8, "replica sets have pods", (*world).setsProgress},
		{4, "a replica set changes", (*world).setEdited},
		{4, "a replica set has a pod", (*world).setPod},
		{2, "pods of replica sets go", (*world).podGone},
		{2, "a replica set is made", (*world).oldReplicaSet},
		{3, "a name is taken", (*world).setReplaced},
		{2, "a replica set is deleted", func(w *world) {
			if list := objects[*appsv1.ReplicaSet](w, "ReplicaSet"); len(list) > 0 {
				w.remove("ReplicaSet", one(w, list...).Name, "", nil)
			}
		}},
		{2, "the status changes", func(w *world) {
			edit(w, "Deployment", "status", nil, func(d *appsv1.Deployment) {
				switch w.n(4) {
				case 0:
					d.Status = appsv1.DeploymentStatus{}
				case 1:
					d.Status.Conditions = append(d.Status.Conditions, appsv1.DeploymentCondition{Type: "Odd",
						Status: "True"})
				case 2:
					d.Status.CollisionCount = some(w, int32(0), 1)
				default:
					d.Status.Conditions = nil
				}
			})
		}},
	}
}

// setsProgress writes the status of ReplicaSets as their controller would, or almost so.
func (w *world) setsProgress() {
	for _, s := range objects[*appsv1.ReplicaSet](w, "ReplicaSet") {
		if w.in(4) {
			continue
		}
		name := s.Name
		edit(w, "ReplicaSet", "status", func(s *appsv1.ReplicaSet) bool { return s.Name == name },
			func(s *appsv1.ReplicaSet) {
				n := int32(1)
				if s.Spec.Replicas != nil {
					n = *s.Spec.Replicas
				}
				if !w.in(5) {
					s.Status.ObservedGeneration = s.Generation
				}
				s.Status.Replicas, s.Status.ReadyReplicas, s.Status.AvailableReplicas = n, n, n
				if w.in(3) {
					s.Status.ReadyReplicas = int32(w.n(int(n) + 1))
					s.Status.AvailableReplicas = int32(w.n(int(s.Status.ReadyReplicas) + 1))
				}
				s.Status.FullyLabeledReplicas = s.Status.ReadyReplicas
				if w.in(6) {
					s.Status.Conditions = []appsv1.ReplicaSetCondition{{Type: appsv1.ReplicaSetReplicaFailure,
						Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: "quota",
						LastTransitionTime: w.now()}}
				} else if w.in(2) {
					s.Status.Conditions = nil
				}
				if w.in(2) {
					s.Status.TerminatingReplicas = some(w, int32(0), 1)
				}
			})
	}
}

func (w *world) setEdited() {
	edit(w, "ReplicaSet", "", nil, func(s *appsv1.ReplicaSet) {
		switch w.n(6) {
		case 0:
			s.Spec.Replicas = some(w, int32(0), 1, 3, 10)
		case 1:
			s.Labels = w.labels()
		case 2:
			s.OwnerReferences = w.owners()
		case 3:
			s.OwnerReferences = nil
		case 4:
			s.Annotations = with(s.Annotations, map[string]string{w.setAnnotation(): one(w, "1", "2", "9", "x",
				"", "1,2")})
		default:
			s.Finalizers = one(w, nil, []string{"example.com/odd"})
		}
	})
}

func (w *world) setPod() {
	list := objects[*appsv1.ReplicaSet](w, "ReplicaSet")
	if len(list) == 0 {
		return
	}
	s := one(w, list...)
	w.names++
	p := &corev1.Pod{TypeMeta: typeOf("v1", "Pod"), Spec: w.podSpec(corev1.RestartPolicyAlways)}
	p.Name, p.Labels, p.Spec.NodeName = fmt.Sprintf("p%d", w.names), s.Labels, "n0"
	p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(s, w.kind("ReplicaSet").GVK)}
	if w.in(8) {
		p.OwnerReferences[0].UID = "0f0f0f0f-0000-4000-8000-000000000004"
	}
	if w.create(p) && w.in(2) {
		w.remove("Pod", p.Name, "", nil)
	}
}

func (w *world) setAnnotation() string {
	return "deployment.kubernetes.io/" + one(w, "revision", "revision", "desired-replicas", "max-replicas",
		"revision-history")
}

func (w *world) setReplaced() {
	list := objects[*appsv1.ReplicaSet](w, "ReplicaSet")
	if len(list) == 0 {
		return
	}
	s := one(w, list...).DeepCopy()
	w.remove("ReplicaSet", s.Name, "", nil)
	s.ObjectMeta = metav1.ObjectMeta{Name: s.Name, Labels: s.Labels, OwnerReferences: w.owners()}
	s.TypeMeta = typeOf("apps/v1", "ReplicaSet")
	s.Spec.Template.Spec.Containers[0].Image = "other"
	if w.in(4) {
		s.Spec.Template.Spec.Containers[0].Image = "i"
	}
	w.create(s)
}

func (w *world) deployment() {
	labels := w.labels()
	d := &appsv1.Deployment{TypeMeta: typeOf("apps/v1", "Deployment")}
	d.Name, d.Labels = one(w, "a", "a", "a", "b", "b", strings.Repeat("long.", 49)), labels
	if len(d.Name) > 1 {
		d.Name += "name"
	}
	d.Spec = appsv1.DeploymentSpec{Replicas: some(w, int32(0), 1, 3, 4, 10),
		Selector: w.selector(labels), Template: w.template(labels, corev1.RestartPolicyAlways), Strategy: w.strategy(),
		MinReadySeconds: int32(one(w, 0, 0, 2, 30)), Paused: w.in(6),
		RevisionHistoryLimit:    some(w, int32(0), 1, 2, 1<<31-1),
		ProgressDeadlineSeconds: some(w, int32(31), 60, 600, 1<<31-1)}
	if w.in(3) {
		d.Annotations = map[string]string{"note": one(w, "1", "2")}
	}
	w.create(d)
}

func (w *world) strategy() appsv1.DeploymentStrategy {
	if w.in(4) {
		return appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	}
	s := appsv1.DeploymentStrategy{}
	if w.in(3) {
		return s
	}
	s.Type = appsv1.RollingUpdateDeploymentStrategyType
	s.RollingUpdate = &appsv1.RollingUpdateDeployment{MaxSurge: w.share(), MaxUnavailable: w.share()}
	return s
}

func (w *world) share() *intstr.IntOrString {
	return some(w, intstr.FromInt32(0), intstr.FromInt32(1), intstr.FromInt32(2), intstr.FromString("0%"),
		intstr.FromString("25%"), intstr.FromString("50%"), intstr.FromString("100%"))
}

func (w *world) oldReplicaSet() {
	labels := w.labels()
	w.names++
	s := &appsv1.ReplicaSet{TypeMeta: typeOf("apps/v1", "ReplicaSet")}
	s.Name, s.Labels = fmt.Sprintf("r%d", w.names), w.labels()
	if w.in(2) {
		s.Labels = labels
	}
	s.Spec = appsv1.ReplicaSetSpec{Replicas: some(w, int32(0), 1, 3), Selector: w.selector(labels),
		Template: w.template(labels, corev1.RestartPolicyAlways)}
	if w.in(2) {
		s.Annotations = map[string]string{w.setAnnotation(): one(w, "1", "3", "x")}
	}
	s.OwnerReferences = w.owners()
	w.create(s)
}
