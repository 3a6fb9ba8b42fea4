package randomworlds_test

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

var daemonSets = subject{
	name:   "daemonset",
	beside: []string{"kubelet", "garbagecollector", "scheduler", "podgc"},
	kind:   "DaemonSet",
	begin: func(w *world) {
		for range 1 + w.n(4) {
			w.node()
		}
		for range w.n(4) {
			w.podMade()
		}
		w.daemonSet()
		if w.in(5) {
			w.daemonSet()
		}
	},
	owner: (*world).daemonSet,
}

func init() {
	daemonSets.acts = []act{
		{10, "the template changes", func(w *world) {
			edit(w, "DaemonSet", "", nil, func(s *appsv1.DaemonSet) {
				if w.in(3) {
					w.placed(&s.Spec.Template.Spec)
				} else {
					s.Spec.Template.Spec.Containers[0].Image = one(w, "i", "j", "k", "l")
				}
			})
		}},
		{5, "the set changes", func(w *world) {
			edit(w, "DaemonSet", "", nil, func(s *appsv1.DaemonSet) {
				switch w.n(4) {
				case 0:
					s.Spec.UpdateStrategy = w.daemonStrategy()
				case 1:
					s.Spec.RevisionHistoryLimit = some(w, int32(0), 1, 2)
				case 2:
					s.Annotations = with(s.Annotations, map[string]string{
						one(w, "note", "deprecated.daemonset.template.generation"): one(w, "1", "2", "x")})
				default:
					s.Spec.MinReadySeconds = int32(one(w, 0, 2, 30))
				}
			})
		}},
		{5, "a node comes", (*world).node},
		{8, "a node changes", func(w *world) {
			edit(w, "Node", "", nil, func(n *corev1.Node) { w.nodeLike(n) })
		}},
		{2, "a node goes", func(w *world) {
			if list := objects[*corev1.Node](w, "Node"); len(list) > 0 {
				w.remove("Node", one(w, list...).Name, "", nil)
			}
		}},
		{8, "the daemons are ready", func(w *world) {
			for _, p := range objects[*corev1.Pod](w, "Pod") {
				name := p.Name
				if !w.in(5) {
					edit(w, "Pod", "status", func(p *corev1.Pod) bool { return p.Name == name }, func(p *corev1.Pod) {
						p.Status.Phase = corev1.PodRunning
						p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady,
							Status:             corev1.ConditionTrue,
							LastTransitionTime: metav1.NewTime(w.World.Clock.Now().Add(-time.Hour))}}
					})
				}
			}
		}},
		{4, "all nodes are alike", func(w *world) {
			for _, n := range objects[*corev1.Node](w, "Node") {
				name := n.Name
				edit(w, "Node", "", func(n *corev1.Node) bool { return n.Name == name }, func(n *corev1.Node) {
					n.Spec.Taints, n.Spec.Unschedulable = nil, false
				})
			}
		}},
		{3, "pods fail again and again", func(w *world) {
			for range 2 + w.n(4) {
				w.podEnds(corev1.PodFailed)
				w.podEnds(corev1.PodFailed)
				w.settle(one(w, time.Second, 2*time.Second, 5*time.Second))
			}
		}},
		{4, "a revision changes", func(w *world) { w.revisionEdited() }},
		{2, "the status changes", func(w *world) {
			edit(w, "DaemonSet", "status", nil, func(s *appsv1.DaemonSet) {
				switch w.n(3) {
				case 0:
					s.Status = appsv1.DaemonSetStatus{}
				case 1:
					s.Status.Conditions = append(s.Status.Conditions, appsv1.DaemonSetCondition{Type: "Odd",
						Status: "True"})
				default:
					s.Status.CollisionCount = some(w, int32(0), 1)
				}
			})
		}},
	}
}

func (w *world) node() {
	n := &corev1.Node{TypeMeta: typeOf("v1", "Node")}
	n.Name = fmt.Sprintf("n%d", w.n(4))
	w.nodeLike(n)
	w.create(n)
}

// nodeLike changes a node so that it repels or attracts pods.
func (w *world) nodeLike(n *corev1.Node) {
	n.Labels = one(w, nil, map[string]string{"disk": "ssd"}, map[string]string{"disk": "hdd", "zone": "7"})
	n.Spec.Unschedulable = w.in(5)
	n.Spec.Taints = nil
	for range w.n(3) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{
			Key: one(w, "odd", "odder", corev1.TaintNodeUnschedulable, corev1.TaintNodeNotReady,
				corev1.TaintNodeDiskPressure,
				corev1.TaintNodeNetworkUnavailable),
			Value: one(w, "", "v"),
			Effect: one(w, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute,
				corev1.TaintEffectPreferNoSchedule)})
	}
	if w.in(2) {
		n.Spec.Taints = nil
	}
}

func (w *world) daemonSet() {
	labels := w.labels()
	s := &appsv1.DaemonSet{TypeMeta: typeOf("apps/v1", "DaemonSet")}
	s.Name, s.Labels = one(w, "a", "a", "b"), labels
	s.Spec = appsv1.DaemonSetSpec{Selector: w.selector(labels), UpdateStrategy: w.daemonStrategy(),
		Template: w.template(labels, corev1.RestartPolicyAlways), MinReadySeconds: int32(one(w, 0, 0, 2, 30)),
		RevisionHistoryLimit: some(w, int32(0), 1, 2)}
	w.placed(&s.Spec.Template.Spec)
	w.create(s)
}

// placed restricts pods to some nodes.
func (w *world) placed(s *corev1.PodSpec) {
	s.NodeSelector, s.Tolerations, s.Affinity, s.NodeName = nil, nil, nil, ""
	if w.in(4) {
		s.NodeSelector = one(w, map[string]string{"disk": "ssd"}, map[string]string{"disk": "hdd"},
			map[string]string{"disk": "hdd", "zone": "7"})
	}
	s.HostNetwork = w.in(6)
	for range w.n(3) {
		t := corev1.Toleration{Key: one(w, "odd", "odder", "", corev1.TaintNodeNotReady),
			Operator: one(w, corev1.TolerationOpExists, corev1.TolerationOpEqual),
			Effect:   one(w, "", corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute)}
		if t.Operator == corev1.TolerationOpEqual {
			t.Value = one(w, "", "v")
			if t.Key == "" {
				t.Key = "odd"
			}
		}
		if t.Effect == corev1.TaintEffectNoExecute && w.in(2) {
			t.TolerationSeconds = some(w, int64(5))
		}
		s.Tolerations = append(s.Tolerations, t)
	}
	if w.in(4) {
		s.Affinity = &corev1.Affinity{NodeAffinity: w.affinity()}
	}
	if w.in(10) {
		s.NodeName = "n1"
	}
}

func (w *world) affinity() *corev1.NodeAffinity {
	a := &corev1.NodeAffinity{}
	if w.in(5) {
		return nil
	}
	if w.in(5) {
		return a
	}
	a.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{}
	for range 1 + w.n(2) {
		t := corev1.NodeSelectorTerm{}
		for range w.n(3) {
			r := corev1.NodeSelectorRequirement{Key: one(w, "disk", "zone", "none"),
				Operator: one(w, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists,
					corev1.NodeSelectorOpDoesNotExist, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt)}
			switch r.Operator {
			case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
				r.Values = one(w, []string{"ssd"}, []string{"hdd", "7"})
			case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
				r.Values = []string{one(w, "5", "7", "9")}
			}
			t.MatchExpressions = append(t.MatchExpressions, r)
		}
		if w.in(3) {
			t.MatchFields = []corev1.NodeSelectorRequirement{{Key: metav1.ObjectNameField,
				Operator: one(w, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn), Values: []string{one(w,
					"n0", "n1")}}}
		}
		a.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms = append(
			a.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms, t)
	}
	return a
}

func (w *world) daemonStrategy() appsv1.DaemonSetUpdateStrategy {
	s := appsv1.DaemonSetUpdateStrategy{Type: one(w, "", appsv1.OnDeleteDaemonSetStrategyType,
		appsv1.RollingUpdateDaemonSetStrategyType, appsv1.RollingUpdateDaemonSetStrategyType)}
	if s.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		none := intstr.FromInt32(0)
		s.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxSurge: w.share(), MaxUnavailable: w.share()}
		if w.in(2) {
			s.RollingUpdate.MaxSurge = &none
		} else {
			s.RollingUpdate.MaxUnavailable = &none
		}
	}
	return s
}
