package randomworlds_test

import (
	"bytes"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/host"
)

var statefulSets = subject{
	name:   "statefulset",
	beside: []string{"kubelet", "garbagecollector", "persistentvolumeclaim-protection"},
	kind:   "StatefulSet",
	begin: func(w *world) {
		for range w.n(4) {
			w.podMade()
		}
		if w.in(3) {
			w.claimMade()
		}
		w.statefulSet()
		if w.in(5) {
			w.statefulSet()
		}
		for range w.n(3) {
			w.memberMade()
		}
	},
	owner: (*world).statefulSet,
}

func init() {
	statefulSets.acts = []act{
		{8, "the set is scaled", func(w *world) {
			edit(w, "StatefulSet", "", nil, func(s *appsv1.StatefulSet) {
				s.Spec.Replicas = some(w, int32(0), 1, 2, 3, 4)
			})
		}},
		{10, "the template changes", func(w *world) {
			edit(w, "StatefulSet", "", nil, func(s *appsv1.StatefulSet) {
				s.Spec.Template.Spec.Containers[0].Image = one(w, "i", "j", "k", "l")
			})
		}},
		{5, "the set changes", func(w *world) {
			edit(w, "StatefulSet", "", nil, func(s *appsv1.StatefulSet) {
				switch w.n(6) {
				case 0:
					s.Spec.UpdateStrategy = w.setStrategy()
				case 1:
					s.Spec.PersistentVolumeClaimRetentionPolicy = w.retention()
				case 2:
					s.Spec.RevisionHistoryLimit = some(w, int32(0), 1, 2)
				case 3:
					s.Spec.Ordinals = w.ordinals()
				case 4:
					s.Annotations = with(s.Annotations, map[string]string{"note": one(w, "1", "2")})
				default:
					s.Spec.MinReadySeconds = int32(one(w, 0, 2, 30))
				}
			})
		}},
		{6, "a claim changes", (*world).claimEdited},
		{5, "a claim is made", (*world).claimMade},
		{5, "a member comes from elsewhere", (*world).memberMade},
		{3, "a pod is not itself", func(w *world) {
			if w.in(2) {
				w.Cluster.Fail(host.FailedRequest{Process: w.process().Name, Verb: fakeapi.Update, Kind: "Pod",
					Code: 409,
					Nth:  1 + w.n(2)})
			}
			edit(w, "Pod", "", nil, func(p *corev1.Pod) {
				p.Labels = map[string]string{}
				if w.in(2) {
					p.Labels = w.labels()
				}
				p.Labels[appsv1.StatefulSetRevisionLabel] = one(w, "odd", p.Name)
			})
		}},
		{4, "a revision changes", func(w *world) { w.revisionEdited() }},
		{2, "the status changes", func(w *world) {
			edit(w, "StatefulSet", "status", nil, func(s *appsv1.StatefulSet) {
				switch w.n(3) {
				case 0:
					s.Status = appsv1.StatefulSetStatus{}
				case 1:
					s.Status.CurrentRevision = one(w, "", "odd")
				default:
					s.Status.CollisionCount = some(w, int32(0), 1)
				}
			})
		}},
	}
}

func (w *world) statefulSet() {
	labels := w.labels()
	s := &appsv1.StatefulSet{TypeMeta: typeOf("apps/v1", "StatefulSet")}
	s.Name, s.Labels = one(w, "a", "a", "b"), labels
	s.Spec = appsv1.StatefulSetSpec{Replicas: some(w, int32(0), 1, 2, 3, 4), ServiceName: "s",
		Selector: w.selector(labels), Template: w.template(labels, corev1.RestartPolicyAlways),
		UpdateStrategy: w.setStrategy(), MinReadySeconds: int32(one(w, 0, 0, 2, 30)),
		RevisionHistoryLimit: some(w, int32(0), 1, 2), Ordinals: w.ordinals(),
		PodManagementPolicy: one(w, "", appsv1.OrderedReadyPodManagement,
			appsv1.ParallelPodManagement),
		PersistentVolumeClaimRetentionPolicy: w.retention()}
	for _, name := range []string{"data", "log"}[:w.n(3)] {
		c := corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}}}}
		c.Name = name
		if w.in(2) {
			c.Labels = map[string]string{"claim": name}
		}
		s.Spec.VolumeClaimTemplates = append(s.Spec.VolumeClaimTemplates, c)
	}
	if len(s.Spec.VolumeClaimTemplates) > 0 && w.in(2) {
		s.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: one(w, "data", "other")}}
	}
	w.create(s)
}

func (w *world) memberMade() {
	list := objects[*appsv1.StatefulSet](w, "StatefulSet")
	if len(list) == 0 {
		return
	}
	s := one(w, list...)
	p := &corev1.Pod{TypeMeta: typeOf("v1", "Pod"), Spec: w.podSpec(corev1.RestartPolicyAlways)}
	p.Name, p.Labels = fmt.Sprintf("%s-%d", s.Name, w.n(5)), s.Spec.Template.Labels
	if w.in(4) {
		p.Labels = with(p.Labels, map[string]string{appsv1.StatefulSetPodNameLabel: p.Name})
	}
	if w.in(4) {
		p.OwnerReferences = w.owners()
	}
	for _, name := range []string{"data", "log"} {
		if w.in(2) {
			v := corev1.Volume{Name: name}
			v.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{
				ClaimName: name + "-" + one(w, p.Name, p.Name, "other")}
			p.Spec.Volumes = append(p.Spec.Volumes, v)
		}
	}
	if w.create(p) && !w.in(3) {
		edit(w, "Pod", "status", func(q *corev1.Pod) bool { return q.Name == p.Name }, func(q *corev1.Pod) {
			q.Status.Phase = one(w, corev1.PodRunning, corev1.PodRunning, corev1.PodPending, corev1.PodFailed)
			w.ready(q, corev1.ConditionTrue)
		})
	}
}

func (w *world) setStrategy() appsv1.StatefulSetUpdateStrategy {
	s := appsv1.StatefulSetUpdateStrategy{Type: one(w, "", appsv1.RollingUpdateStatefulSetStrategyType,
		appsv1.OnDeleteStatefulSetStrategyType)}
	if s.Type == appsv1.RollingUpdateStatefulSetStrategyType && !w.in(3) {
		s.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: some(w, int32(0), 1, 2, 9)}
	}
	return s
}

func (w *world) ordinals() *appsv1.StatefulSetOrdinals {
	return some(w, appsv1.StatefulSetOrdinals{}, appsv1.StatefulSetOrdinals{Start: 1},
		appsv1.StatefulSetOrdinals{Start: 3})
}

func (w *world) retention() *appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy {
	policy := func() appsv1.PersistentVolumeClaimRetentionPolicyType {
		return one(w, appsv1.RetainPersistentVolumeClaimRetentionPolicyType,
			appsv1.DeletePersistentVolumeClaimRetentionPolicyType)
	}
	if w.in(3) {
		return nil
	}
	return &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenDeleted: policy(), WhenScaled: policy()}
}

func (w *world) claimEdited() {
	if w.in(3) {
		if list := objects[*corev1.PersistentVolumeClaim](w, "pvc"); len(list) > 0 {
			w.remove("pvc", one(w, list...).Name, "", nil)
		}
		return
	}
	edit(w, "pvc", "", nil, func(c *corev1.PersistentVolumeClaim) {
		switch w.n(5) {
		case 0:
			c.OwnerReferences = nil
		case 1:
			c.Finalizers = one(w, nil, []string{"example.com/odd"})
		case 2:
			for i := range c.OwnerReferences {
				c.OwnerReferences[i].Controller = some(w, false)
			}
		default:
			c.OwnerReferences = append(c.OwnerReferences[:len(c.OwnerReferences):len(c.OwnerReferences)],
				w.claimOwners()...)
		}
	})
}

func (w *world) claimOwners() []metav1.OwnerReference {
	list := w.owners()
	if len(list) > 0 && w.in(3) {
		list[0].Name = one(w, "a", "b", "a-0", "a-1")
		list[0].Kind = one(w, list[0].Kind, "Pod", "StatefulSet")
	}
	if p := w.pod(); p != nil && w.in(2) {
		r := metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID, Controller: some(w,
			true, false)}
		if w.in(3) {
			r.UID = "0f0f0f0f-0000-4000-8000-000000000002"
		}
		return []metav1.OwnerReference{r}
	}
	return list
}

func (w *world) claimMade() {
	c := &corev1.PersistentVolumeClaim{TypeMeta: typeOf("v1", "PersistentVolumeClaim"),
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}}}}
	c.Name = fmt.Sprintf("%s-%s-%d", one(w, "data", "log", "tmp"), one(w, "a", "b"), w.n(4))
	c.OwnerReferences = w.claimOwners()
	w.create(c)
}

func (w *world) revisionEdited() {
	const kind = "ControllerRevision"
	list := objects[*appsv1.ControllerRevision](w, kind)
	if len(list) == 0 {
		return
	}
	switch w.n(5) {
	case 0:
		w.remove(kind, one(w, list...).Name, "", nil)
	case 2: // another revision takes the name
		r := one(w, list...).DeepCopy()
		w.remove(kind, r.Name, "", nil)
		r.ObjectMeta = metav1.ObjectMeta{Name: r.Name, Labels: r.Labels, OwnerReferences: w.owners()}
		if r.TypeMeta = typeOf("apps/v1", kind); !w.in(3) {
			r.Data = runtime.RawExtension{Raw: []byte(one(w, `{}`, `{"spec":{"replicas":"x"}}`))}
		}
		w.create(r)
	case 1:
		r := one(w, list...).DeepCopy()
		w.names++
		r.ObjectMeta = metav1.ObjectMeta{Name: fmt.Sprintf("h%d", w.names), Labels: r.Labels,
			OwnerReferences: w.owners()}
		r.Revision = int64(w.n(5))
		if w.in(2) { // the same template, as stored before a default existed
			r.Data.Raw = bytes.Replace(r.Data.Raw, []byte(`"dnsPolicy":"ClusterFirst",`), nil, 1)
		} else if w.in(2) {
			r.Data = runtime.RawExtension{Raw: []byte(one(w, `{}`, `{"spec":{"replicas":"x"}}`,
				`{"spec":{"template":{"$patch":"replace"}}}`))}
		}
		r.TypeMeta = typeOf("apps/v1", kind)
		w.create(r)
	default:
		edit(w, kind, "", nil, func(r *appsv1.ControllerRevision) {
			switch w.n(6) {
			case 0:
				r.Labels = w.labels()
			case 5:
				r.Labels = with(r.Labels, map[string]string{"controller-revision-hash": ""})
			case 1:
				r.OwnerReferences = w.owners()
			case 2:
				r.OwnerReferences = nil
			case 3:
				r.Finalizers = one(w, nil, []string{"example.com/odd"})
			default:
				r.Revision = int64(w.n(6))
			}
		})
	}
}
