package randomworlds_test

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
)

func (w *world) now() metav1.Time { return metav1.NewTime(w.World.Clock.Now()) }

func (w *world) around() metav1.Time {
	return metav1.NewTime(w.World.Clock.Now().Add(
		one(w, 0, 0, -time.Second, -3*time.Second, -time.Minute, -time.Hour, 5*time.Second)))
}

func (w *world) podsRun() {
	every := w.in(2)
	for _, p := range objects[*corev1.Pod](w, "Pod") {
		if p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed || !every && w.in(2) {
			continue
		}
		name := p.Name
		edit(w, "Pod", "status", func(p *corev1.Pod) bool { return p.Name == name }, func(p *corev1.Pod) {
			if p.Status.Phase == corev1.PodRunning && w.in(2) {
				return
			}
			p.Status.Phase = corev1.PodRunning
			w.ready(p, corev1.ConditionTrue)
		})
	}
}

func (w *world) ready(p *corev1.Pod, is corev1.ConditionStatus) {
	c := corev1.PodCondition{Type: corev1.PodReady, Status: is}
	if !w.in(12) {
		c.LastTransitionTime = w.around()
	}
	list := p.Status.Conditions[:0:0]
	for _, old := range p.Status.Conditions {
		if old.Type != c.Type {
			list = append(list, old)
		}
	}
	p.Status.Conditions = append(list, c)
}

func (w *world) podStatus() {
	edit(w, "Pod", "status", nil, func(p *corev1.Pod) {
		switch w.n(5) {
		case 0:
			w.ready(p, one(w, corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown))
		case 1:
			p.Status.Phase = one(w, corev1.PodPending, corev1.PodRunning, corev1.PodUnknown)
		case 2:
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{
				Type: one(w, corev1.DisruptionTarget, "Odd"), Status: one(w, corev1.ConditionTrue,
					corev1.ConditionFalse)})
		default:
			n := int32(w.n(4))
			s := corev1.ContainerStatus{Name: "c", RestartCount: n}
			if w.in(3) {
				s.Name = "i"
				p.Status.InitContainerStatuses = []corev1.ContainerStatus{s}
			} else {
				p.Status.ContainerStatuses = []corev1.ContainerStatus{s}
			}
		}
	})
}

func (w *world) podEnds(phase corev1.PodPhase) {
	for range 1 + w.n(3) {
		edit(w, "Pod", "status", func(p *corev1.Pod) bool {
			return p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed
		}, func(p *corev1.Pod) {
			p.Status.Phase = phase
			w.ready(p, corev1.ConditionFalse)
			end := &corev1.ContainerStateTerminated{}
			if phase == corev1.PodFailed {
				end.ExitCode = one(w, int32(1), 1, 2, 3, 42, 137, 0)
			}
			if !w.in(4) {
				end.StartedAt, end.FinishedAt = w.around(), w.around()
			}
			s := corev1.ContainerStatus{Name: "c", State: corev1.ContainerState{Terminated: end}}
			switch w.n(6) {
			case 0: // no termination time
			case 1:
				if w.in(2) {
					p.Status.ContainerStatuses = []corev1.ContainerStatus{s}
					late := *end
					if late.FinishedAt = w.around(); w.in(3) {
						late.FinishedAt = metav1.Time{}
					}
					s.State.Terminated = one(w, &late, &late, nil)
				}
				s.Name = "i"
				p.Status.InitContainerStatuses = []corev1.ContainerStatus{s}
			case 2:
				p.Status.Reason = "Evicted"
				p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{
					Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue})
			default:
				p.Status.ContainerStatuses = []corev1.ContainerStatus{s}
			}
		})
	}
}

func (w *world) pod() *corev1.Pod {
	list := objects[*corev1.Pod](w, "Pod")
	if len(list) == 0 {
		return nil
	}
	return one(w, list...)
}

func (w *world) podDeleted() {
	if p := w.pod(); p != nil {
		w.remove("Pod", p.Name, "", some(w, int64(30), 0, 1))
	}
}

func (w *world) podGoing() {
	list := objects[*corev1.Pod](w, "Pod")
	for range min(len(list), 1+w.n(3)) {
		w.remove("Pod", one(w, list...).Name, "", new(int64(30)))
	}
}

func (w *world) podGone() {
	for _, p := range objects[*corev1.Pod](w, "Pod") {
		if p.DeletionTimestamp != nil && !w.in(4) {
			w.remove("Pod", p.Name, "", new(int64))
		}
	}
}

func (w *world) podBound() {
	for _, p := range objects[*corev1.Pod](w, "Pod") {
		if p.Spec.NodeName == "" && !w.in(3) {
			w.do("Pod", p.Name, fakeapi.Request{Verb: fakeapi.Create, Subresource: "binding", Object: &corev1.Binding{
				ObjectMeta: metav1.ObjectMeta{Name: p.Name, Namespace: p.Namespace},
				Target:     corev1.ObjectReference{Kind: "Node", Name: one(w, "n0", "n1", "n2", "n9")}}})
		}
	}
}

func (w *world) podReplaced() {
	old := w.pod()
	if old == nil {
		return
	}
	w.patch("Pod", old.Name, "", `{"metadata":{"finalizers":null}}`)
	w.remove("Pod", old.Name, "", new(int64))
	p := old.DeepCopy()
	p.TypeMeta = typeOf("v1", "Pod")
	p.ObjectMeta = metav1.ObjectMeta{Name: old.Name, Labels: old.Labels, Annotations: old.Annotations,
		Finalizers: old.Finalizers, OwnerReferences: old.OwnerReferences}
	if w.in(2) {
		p.OwnerReferences = w.owners()
	}
	w.create(p)
}

func (w *world) podTwin() {
	old := w.pod()
	if old == nil {
		return
	}
	p := old.DeepCopy()
	p.TypeMeta = typeOf("v1", "Pod")
	w.names++
	p.ObjectMeta = metav1.ObjectMeta{Name: one(w, "a", "p", "z") + fmt.Sprint(w.names), Labels: old.Labels,
		Annotations: old.Annotations, Finalizers: old.Finalizers, OwnerReferences: old.OwnerReferences}
	if w.create(p) && w.in(2) {
		edit(w, "Pod", "status", func(q *corev1.Pod) bool { return q.Name == p.Name }, func(q *corev1.Pod) {
			q.Status = old.Status
		})
	}
}

func (w *world) podForsaken() {
	for range 1 + w.n(3) {
		edit(w, "Pod", "", nil, func(p *corev1.Pod) {
			if p.OwnerReferences = nil; w.in(2) {
				p.Labels = w.labels()
			}
		})
	}
}

func (w *world) podEdited() {
	edit(w, "Pod", "", nil, func(p *corev1.Pod) {
		switch w.n(7) {
		case 0:
			p.Labels = nil
		case 1:
			p.Labels = with(p.Labels, w.labels())
		case 2:
			p.OwnerReferences = nil
		case 3:
			p.OwnerReferences = w.owners()
		case 4:
			p.Finalizers = w.finalizers()
		case 5:
			p.Annotations = with(p.Annotations, w.annotations())
		default:
			if keys := slices.Sorted(maps.Keys(p.Labels)); len(keys) > 0 {
				p.Labels = with(p.Labels, map[string]string{one(w, keys...): one(w, "odd", "0", "1", "2")})
			}
		}
	})
}

func with(m, more map[string]string) map[string]string {
	out := map[string]string{}
	for _, m := range []map[string]string{m, more} {
		for k, v := range m {
			out[k] = v
		}
	}
	return out
}

func (w *world) labels() map[string]string {
	return one(w, map[string]string{"app": "a"}, map[string]string{"app": "a"}, map[string]string{"app": "b"},
		map[string]string{"app": "a", "tier": "x"}, map[string]string{"odd": "yes"},
		map[string]string{"app": "a", "odd": "yes"})
}

func (w *world) annotations() map[string]string {
	return map[string]string{one(w, "batch.kubernetes.io/job-completion-index", "note",
		"batch.kubernetes.io/job-index-failure-count", "batch.kubernetes.io/job-index-ignored-failure-count",
		"controller.kubernetes.io/pod-deletion-cost"): one(w, "0", "1", "2", "7", "-1", "-7", "x", "2147483647",
		"99999999999")}
}

func (w *world) finalizers() []string {
	return one(w, nil, nil, []string{"batch.kubernetes.io/job-tracking"}, []string{"example.com/odd"},
		[]string{"example.com/odd", "batch.kubernetes.io/job-tracking"})
}

func (w *world) owners() []metav1.OwnerReference {
	list := objects[metav1.Object](w, w.subject.kind)
	r := metav1.OwnerReference{APIVersion: w.kind(w.subject.kind).GVK.GroupVersion().String(),
		Kind: w.subject.kind, Name: "x", UID: "0f0f0f0f-0000-4000-8000-000000000000"}
	if len(list) > 0 {
		owner := one(w, list...)
		r.Name = owner.GetName()
		if !w.in(4) {
			r.UID = owner.GetUID()
		}
	}
	yes := true
	switch w.n(6) {
	case 0:
		return nil
	case 5:
		r.UID, r.Controller = types.UID("0f0f0f0f-0000-4000-8000-000000000003"), &yes
		if w.in(2) {
			r.Kind = one(w, "CronJob", "Deployment")
		} else {
			r.APIVersion = "example.com/v1"
		}
	case 1:
		r.Kind, r.APIVersion, r.UID = "ReplicaSet", "apps/v1", types.UID("0f0f0f0f-0000-4000-8000-000000000001")
		fallthrough
	case 2, 3:
		r.Controller = &yes
	}
	return []metav1.OwnerReference{r}
}

func (w *world) podMade() {
	p := &corev1.Pod{TypeMeta: typeOf("v1", "Pod"), Spec: w.podSpec(corev1.RestartPolicyAlways)}
	w.names++
	p.Name = fmt.Sprintf("p%d", w.names)
	if list := objects[metav1.Object](w, w.subject.kind); len(list) > 0 && w.in(2) {
		p.Name = fmt.Sprintf("%s-%s", one(w, list...).GetName(), one(w, "0", "1", "2", "01", "7", "x"))
	}
	p.Labels, p.OwnerReferences, p.Finalizers = w.labels(), w.owners(), w.finalizers()
	if w.in(2) {
		p.Annotations = w.annotations()
	}
	if w.in(2) {
		p.Spec.NodeName = one(w, "n0", "n1", "n9")
	}
	if w.create(p) && w.in(2) {
		edit(w, "Pod", "status", func(q *corev1.Pod) bool { return q.Name == p.Name }, func(p *corev1.Pod) {
			p.Status.Phase = one(w, corev1.PodRunning, corev1.PodFailed, corev1.PodSucceeded)
			w.ready(p, corev1.ConditionTrue)
		})
	}
}

func (w *world) podSpec(restart corev1.RestartPolicy) corev1.PodSpec {
	s := corev1.PodSpec{RestartPolicy: restart, Containers: []corev1.Container{{Name: "c", Image: one(w, "i", "j")}}}
	if w.in(2) {
		s.InitContainers = []corev1.Container{{Name: "i", Image: "i",
			RestartPolicy: some(w, corev1.ContainerRestartPolicyAlways)}}
	}
	return s
}

func (w *world) template(labels map[string]string, restart corev1.RestartPolicy) corev1.PodTemplateSpec {
	t := corev1.PodTemplateSpec{Spec: w.podSpec(restart)}
	t.Labels = labels
	if w.in(3) {
		t.Annotations = map[string]string{"note": one(w, "1", "2")}
	}
	if restart != corev1.RestartPolicyAlways && w.in(3) {
		t.Annotations = with(t.Annotations, map[string]string{"threelaws.example/exit-code": one(w, "1", "42")})
	}
	if w.in(8) {
		t.Finalizers = w.finalizers()
	}
	return t
}

func (w *world) selector(labels map[string]string) *metav1.LabelSelector {
	if labels["app"] == "" {
		return &metav1.LabelSelector{MatchLabels: labels}
	}
	s := &metav1.LabelSelector{MatchLabels: map[string]string{"app": labels["app"]}}
	switch w.n(5) {
	case 0:
		s.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "odd",
			Operator: metav1.LabelSelectorOpDoesNotExist}}
	case 1:
		s = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: []string{labels["app"]}},
			{Key: "odd", Operator: metav1.LabelSelectorOpDoesNotExist}}}
	}
	return s
}
