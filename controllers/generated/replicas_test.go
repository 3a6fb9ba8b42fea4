package generated_test

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
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
				s.Spec.Replicas = some(w, int32(0), 1,
					2, 3, 6)
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

// replicaSet makes a ReplicaSet.
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

// replicationController makes a ReplicationController.
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
