package randomworlds_test

import (
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

var podActs = []act{
	{14, "pods run", (*world).podsRun},
	{8, "a pod's status changes", (*world).podStatus},
	{4, "a pod fails", func(w *world) { w.podEnds(corev1.PodFailed) }},
	{4, "a pod succeeds", func(w *world) { w.podEnds(corev1.PodSucceeded) }},
	{4, "a pod is deleted", (*world).podDeleted},
	{4, "containers have stopped", (*world).podGone},
	{4, "a pod is put on a node", (*world).podBound},
	{3, "a pod's metadata change", (*world).podEdited},
	{3, "a pod comes from elsewhere", (*world).podMade},
	{3, "a pod is another", (*world).podReplaced},
	{3, "a pod has a twin", (*world).podTwin},
	{3, "the owner is deleted", (*world).ownerDeleted},
	{2, "there is one more owner", func(w *world) { w.subject.owner(w) }},
	{1, "the namespace is deleted", (*world).namespaceDeleted},
	{2, "a quota is set", (*world).quotaSet},
	{6, "time passes", (*world).timePasses},
	{6, "much happens unseen", (*world).unseen},
}

// faults happen before another act.
var faults = []act{
	{8, "a request fails", (*world).requestFails},
	{4, "a view stands still", (*world).viewHeld},
	{4, "views go on", (*world).viewsGoOn},
	{2, "a watch breaks", (*world).watchBreaks},
	{4, "the controller crashes", (*world).crashes},
	{1, "the controller is replaced", (*world).replaced},
	{3, "the controller is blind", (*world).blinded},
}

// gaps are the faults of worlds without acts on pods, in which each act is one request.
var gaps = []act{{5, "a watch misses something", (*world).watchMisses}}

func (w *world) watchMisses() {
	kinds := w.process().Watches()
	if len(kinds) == 0 {
		return
	}
	k := one(w, kinds...)
	_ = w.Do("hold "+k.GVK.Kind, func() error { w.process().Hold(k); return nil })
	for range 1 + w.n(4) {
		w.act(w.subject.acts)
		w.step(w.n(8))
	}
	if w.in(4) {
		w.settle(time.Minute)
	}
	_ = w.Do("relist "+k.GVK.Kind, func() error { w.process().Relist(k); w.process().Release(k); return nil })
}

func (w *world) timePasses() {
	w.settle(one(w, time.Second, 9*time.Second, 10*time.Second, 20*time.Second, 40*time.Second, 10*time.Minute))
}

func (w *world) ownerDeleted() {
	list := objects[metav1.Object](w, w.subject.kind)
	if len(list) == 0 {
		return
	}
	obj := one(w, list...)
	w.remove(w.subject.kind, obj.GetName(), one(w, "", metav1.DeletePropagationBackground,
		metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan), nil)
	if w.in(3) {
		w.patch(w.subject.kind, obj.GetName(), "", `{"metadata":{"finalizers":null}}`)
		w.subject.owner(w)
	}
}

func (w *world) namespaceDeleted() {
	if w.in(3) {
		w.remove("Namespace", namespace, "", nil)
	}
}

func (w *world) quotaSet() {
	if len(objects[*corev1.ResourceQuota](w, "ResourceQuota")) > 0 {
		w.remove("ResourceQuota", "few", "", nil)
		return
	}
	q := &corev1.ResourceQuota{TypeMeta: typeOf("v1", "ResourceQuota"), ObjectMeta: metav1.ObjectMeta{Name: "few"}}
	what := one(w, corev1.ResourcePods, corev1.ResourcePods, corev1.ResourcePersistentVolumeClaims)
	q.Spec.Hard = corev1.ResourceList{what: resource.MustParse(fmt.Sprint(w.n(5)))}
	if w.create(q) {
		edit(w, "ResourceQuota", "status", nil, func(q *corev1.ResourceQuota) {
			q.Status.Hard = q.Spec.Hard
			q.Status.Used = corev1.ResourceList{what: resource.MustParse(fmt.Sprint(w.n(3)))}
		})
	}
}

func typeOf(version, kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: version, Kind: kind}
}

func (w *world) requestFails() {
	p := w.process()
	f := host.FailedRequest{Process: p.Name, Nth: 1 + w.n(3), Code: one(w, 500, 409, 409, 504, 429)}
	f.Verb = one(w, "", fakeapi.Create, fakeapi.Patch, fakeapi.Update, fakeapi.Delete, fakeapi.Get)
	if w.in(2) {
		list := []string{w.subject.kind, "Pod"}
		if w.subject.apart {
			list = list[:0]
		}
		for _, k := range p.Watches() {
			list = append(list, k.GVK.Kind)
		}
		if len(list) == 0 {
			return
		}
		for _, owned := range p.Controller().Owns {
			list = append(list, owned.Kind)
		}
		f.Kind = one(w, list...)
	}
	f.Commits = f.Code == 504 && f.Verb != fakeapi.Get && w.in(2)
	if f.Code == 409 && (f.Verb == fakeapi.Get || f.Verb == "") {
		f.Code = 500
	}
	w.Cluster.Fail(f)
}

func (w *world) viewHeld() {
	p := w.process()
	if kinds := p.Watches(); len(kinds) > 0 {
		k := one(w, kinds...)
		_ = w.Do("hold "+k.GVK.Kind, func() error { p.Hold(k); return nil })
	}
}

// blinded lets the controller and others act while the controller's watch of pods or owners is paused.
func (w *world) blinded() {
	p := w.process()
	kinds := p.Watches()
	if len(kinds) == 0 {
		return
	}
	k := one(w, kinds...)
	_ = w.Do("hold "+k.GVK.Kind, func() error { p.Hold(k); return nil })
	if !w.subject.apart && w.in(2) {
		w.podForsaken()
	}
	w.act(w.subject.acts)
	for range 5 + w.n(20) {
		w.Step()
	}
	for range 1 + w.n(3) {
		if w.subject.apart {
			w.act(w.subject.acts)
		} else {
			w.act(podActs)
		}
	}
	if w.in(2) {
		_ = w.Do("relist "+k.GVK.Kind, func() error { p.Relist(k); return nil })
	}
	if !w.in(4) {
		_ = w.Do("release "+k.GVK.Kind, func() error { p.Release(k); return nil })
	}
}

// unseen changes the controller's objects while its watch is paused, and then lets the controller act.
func (w *world) unseen() {
	p := w.process()
	k := w.kind(p.Controller().Owns[0].Kind)
	hold := func() { _ = w.Do("hold "+k.GVK.Kind, func() error { p.Hold(k); return nil }) }
	late := w.in(2) // it does not see its own creations either
	if late {
		hold()
		w.act(w.subject.acts)
		w.step(3 + w.n(12))
	}
	hold()
	for range 2 + w.n(4) {
		switch {
		case k.GVK.Kind != "Pod":
			w.act(w.subject.acts)
		case w.in(3):
			w.podBound()
			w.podGoing()
		case w.in(2):
			w.podReplaced()
		default:
			w.podForsaken()
		}
	}
	for range 1 + w.n(2) {
		w.act(w.subject.acts)
		w.step(4 + w.n(16))
	}
	if w.in(2) {
		_ = w.Do("relist "+k.GVK.Kind, func() error { p.Relist(k); return nil })
	}
	_ = w.Do("release "+k.GVK.Kind, func() error { p.Release(k); return nil })
}

func (w *world) viewsGoOn() {
	p := w.process()
	_ = w.Do("release", func() error {
		for _, k := range p.Watches() {
			p.Release(k)
		}
		return nil
	})
}

func (w *world) watchBreaks() {
	p := w.process()
	if kinds := p.Watches(); len(kinds) > 0 {
		k, gone := one(w, kinds...), w.in(2)
		_ = w.Do("relist "+k.GVK.Kind, func() error {
			if gone {
				p.Relist(k)
			} else {
				p.Resync(k)
			}
			return nil
		})
	}
}

// mostStale limits by how many writes the lists of a restarted controller may lag.
const mostStale = 12

func (w *world) crashes() {
	p, from := w.process(), uint64(0)
	if w.in(2) {
		from = w.Server.Version() - min(uint64(w.n(mostStale)), w.Server.Version()-1)
	}
	_ = w.Do("crash", func() error { p.Restart(from); return nil })
}

// replaced stops the controller and starts a new process, as a rollout does.
func (w *world) replaced() {
	c := w.controller(w.subject.name)
	_ = w.Do("replace "+c.Name, func() error { w.Switch(w.process(), c); return nil })
}

type place struct{ kind, namespace, name string }

// ask sends a user's request about an object anywhere, and reports whether it succeeded.
func (w *world) ask(at place, r fakeapi.Request) bool {
	if r.Kind = w.Server.KindNamed(at.kind); r.Kind == nil {
		return false // the kind is not defined now
	}
	if r.Kind.Namespaced {
		r.Namespace = at.namespace
	}
	r.Name = at.name
	return w.Cluster.As(law.User, &r).Err == nil
}

func (w *world) make(at place, manifest string, args ...any) bool {
	k := w.Server.KindNamed(at.kind)
	if k == nil {
		return false
	}
	obj := k.New()
	text := fmt.Appendf(nil, "apiVersion: %s\nkind: %s\n", k.GVK.GroupVersion(), k.GVK.Kind)
	if err := yaml.UnmarshalStrict(fmt.Appendf(text, manifest, args...), obj); err != nil {
		w.t.Fatalf("%s: %v", fmt.Sprintf(manifest, args...), err)
	}
	m := obj.(metav1.Object)
	if m.SetName(at.name); k.Namespaced {
		m.SetNamespace(at.namespace)
	}
	return w.ask(at, fakeapi.Request{Verb: fakeapi.Create, Object: obj})
}

func (w *world) merge(at place, sub string, patch any) bool {
	return w.ask(at, fakeapi.Request{Verb: fakeapi.Patch, Subresource: sub, PatchType: types.MergePatchType,
		Patch: encode(patch)})
}

func encode(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic("generated: " + err.Error())
	}
	return raw
}

func (w *world) drop(at place, policy metav1.DeletionPropagation, grace *int64) bool {
	o := metav1.DeleteOptions{GracePeriodSeconds: grace}
	if policy != "" {
		o.PropagationPolicy = &policy
	}
	return w.ask(at, fakeapi.Request{Verb: fakeapi.Delete, Delete: o})
}

// there lists the places of all objects of the given kinds.
func (w *world) there(kinds ...string) (list []place) {
	for _, kind := range kinds {
		k := w.Server.KindNamed(kind)
		if k == nil {
			continue
		}
		w.Server.Each(k, func(obj runtime.Object) bool {
			m := obj.(metav1.Object)
			list = append(list, place{kind, m.GetNamespace(), m.GetName()})
			return true
		})
	}
	return list
}

func (w *world) at(p place) metav1.Object {
	k := w.Server.KindNamed(p.kind)
	if k == nil {
		return nil
	}
	obj := w.Server.Lookup(k, p.namespace, p.name)
	if obj == nil {
		return nil
	}
	return obj.(metav1.Object)
}

// ago formats a time before now for manifests and patches.
func (w *world) ago(d time.Duration) string {
	return w.World.Clock.Now().Add(-d).UTC().Format(time.RFC3339)
}

type fields = map[string]any

func (w *world) step(n int) {
	for range n {
		w.Step()
	}
}
