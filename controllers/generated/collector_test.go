package generated_test

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/host"
)

// collectors are worlds of the garbage collector: graphs of objects of several kinds, some
// of them defined in these worlds, namespaced and not, whose references are right, or name
// what is gone, what never was, or the right uid by wrong coordinates.
var collectors = subject{
	name:  "garbagecollector",
	apart: true,
	begin: func(w *world) {
		w.make(place{"Namespace", "", "two"}, "")
		for _, d := range definitions {
			if !w.in(6) {
				w.define(d)
			}
		}
		for range 4 + w.n(8) {
			w.vertex()
		}
	},
	acts: []act{
		{8, "an object", (*world).vertex},
		{8, "other owners", (*world).reown},
		{4, "a reference blocks or does not", (*world).reblock},
		{16, "a deletion", (*world).uproot},
		{5, "finalizers", (*world).refinalize},
		{3, "a label", (*world).relabel},
		{2, "a definition", func(w *world) { w.define(one(w, definitions...)) }},
		{2, "a definition less", func(w *world) {
			w.drop(place{"CustomResourceDefinition", "", one(w, definitions...).name}, "", nil)
		}},
		{2, "a definition is served, or not", (*world).serve},
		{2, "a namesake", (*world).replace},
		{3, "a circle", (*world).circle},
		{6, "others at work", (*world).busy},
	},
}

type definition struct{ name, kind, plural, scope string }

var definitions = []definition{
	{"widgets.example.com", "Widget", "widgets", "Namespaced"},
	{"globes.example.com", "Globe", "globes", "Cluster"},
}

func (w *world) define(d definition) {
	w.make(place{"CustomResourceDefinition", "", d.name}, `
spec:
  group: example.com
  scope: %s
  names: {plural: %s, singular: %s, kind: %s, listKind: %sList}
  versions:
  - {name: v1, served: true, storage: true,
     schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`, d.scope, d.plural, d.plural[:len(d.plural)-1], d.kind, d.kind)
}

func (w *world) serve() {
	w.ask(place{"CustomResourceDefinition", "", one(w, definitions...).name},
		jsonPatch(`[{"op":"replace","path":"/spec/versions/0/served","value":%v}]`, w.in(2)))
}

// graphKinds are the kinds of a graph: several versions, namespaced and not.
var graphKinds = []string{"ConfigMap", "Secret", "ReplicaSet", "Widget", "Globe", "ClusterRole"}

func bare(kind string) string {
	if kind == "ReplicaSet" {
		return `spec: {replicas: 0, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}},
  spec: {containers: [{name: c, image: i}]}}}`
	}
	return ""
}

// vertex makes an object with owners, or without any.
func (w *world) vertex() {
	kind := one(w, graphKinds...)
	at := place{kind, one(w, "default", "default", "two"), fmt.Sprintf("%c", 'a'+rune(w.n(6)))}
	meta := fields{}
	if w.in(3) {
		meta["finalizers"] = w.someFinalizers()
	}
	if !w.in(4) {
		meta["ownerReferences"] = w.references(at, 1+w.n(3))
	}
	w.make(at, "metadata: %s\n%s", encode(meta), bare(kind))
}

// references are so many references, each uid once, one controller at the most.
func (w *world) references(from place, n int) []metav1.OwnerReference {
	refs := []metav1.OwnerReference{}
	for range n {
		r := w.reference(from)
		if slices.ContainsFunc(refs, func(o metav1.OwnerReference) bool {
			return o.UID == r.UID || r.Controller != nil && *r.Controller && o.Controller != nil && *o.Controller
		}) {
			continue
		}
		refs = append(refs, r)
	}
	return refs
}

// reference is one reference: to an object that is there, or to one that is not, and
// now and then by wrong coordinates.
func (w *world) reference(from place) metav1.OwnerReference {
	all := w.there(graphKinds...)
	r := metav1.OwnerReference{APIVersion: "v1", Kind: one(w, "ConfigMap", "Secret"), Name: one(w, "nobody", "a", "b"),
		UID: types.UID(fmt.Sprintf("00000000-0000-0000-0000-00000000000%d", w.n(3)))}
	if len(all) > 0 && !w.in(6) {
		p := one(w, all...)
		for range 3 { // most owners are where they have to be
			if k := w.Server.KindNamed(p.kind); k.Namespaced && p.namespace != from.namespace || p == from {
				p = one(w, all...)
			}
		}
		k := w.Server.KindNamed(p.kind)
		r = metav1.OwnerReference{APIVersion: k.GVK.GroupVersion().String(), Kind: p.kind, Name: p.name,
			UID: w.at(p).GetUID()}
	}
	switch w.n(24) {
	case 0:
		r.Name = one(w, "a", "zz")
	case 1:
		r.Kind = one(w, "Secret", "Widget", "Globe")
	case 2:
		r.APIVersion = one(w, "v1", "apps/v1", "example.com/v1", "apps/v1beta1")
	case 3:
		r.APIVersion, r.Kind = "example.com/v1", one(w, "Widget", "Globe", "Ghost")
	case 4:
		r.UID = types.UID(fmt.Sprintf("00000000-0000-0000-0000-00000000001%d", w.n(3)))
	}
	r.BlockOwnerDeletion = some(w, true, true, false)
	r.Controller = some(w, true, false)
	return r
}

func (w *world) someFinalizers() []string {
	return one(w, nil, []string{"example.com/hold"}, []string{"example.com/hold"}, []string{"foregroundDeletion"},
		[]string{"orphan"}, []string{"example.com/hold", "orphan"}, []string{"foregroundDeletion", "example.com/hold"},
		[]string{"orphan", "foregroundDeletion", "example.com/hold"})
}

// any is one of the objects of a graph.
func (w *world) any() (place, bool) {
	all := w.there(graphKinds...)
	if len(all) == 0 {
		return place{}, false
	}
	return one(w, all...), true
}

func (w *world) reown() {
	if at, ok := w.any(); ok {
		w.merge(at, "", fields{"metadata": fields{"ownerReferences": w.references(at, w.n(4))}})
	}
}

// reblock changes one reference of an object and nothing else.
func (w *world) reblock() {
	all := slices.DeleteFunc(w.there(graphKinds...), func(p place) bool {
		return len(w.at(p).GetOwnerReferences()) == 0
	})
	if len(all) == 0 {
		return
	}
	at := one(w, all...)
	refs := slices.Clone(w.at(at).GetOwnerReferences())
	r := &refs[w.n(len(refs))]
	if r.BlockOwnerDeletion = some(w, true, false); w.in(4) {
		r.Name = one(w, "a", "b")
	}
	w.merge(at, "", fields{"metadata": fields{"ownerReferences": refs}})
}

// uproot deletes an object, most often one that others refer to.
func (w *world) uproot() {
	owned := map[types.UID]bool{}
	all := w.there(graphKinds...)
	for _, p := range all {
		for _, r := range w.at(p).GetOwnerReferences() {
			owned[r.UID] = true
		}
	}
	owners := slices.DeleteFunc(slices.Clone(all), func(p place) bool { return !owned[w.at(p).GetUID()] })
	if len(owners) > 0 && !w.in(4) {
		all = owners
	}
	if len(all) == 0 {
		return
	}
	w.drop(one(w, all...), one(w, "", metav1.DeletePropagationBackground, metav1.DeletePropagationOrphan,
		metav1.DeletePropagationForeground, metav1.DeletePropagationForeground), nil)
}

// finalizers puts other finalizers on an object, or takes all of them off.
func (w *world) refinalize() {
	at, ok := w.any()
	if !ok {
		return
	}
	to := w.someFinalizers()
	if w.at(at).GetDeletionTimestamp() != nil { // none may come
		to = slices.DeleteFunc(slices.Clone(w.at(at).GetFinalizers()), func(f string) bool { return f[0] == 'e' })
	}
	w.merge(at, "", fields{"metadata": fields{"finalizers": to}})
}

func (w *world) relabel() {
	if at, ok := w.any(); ok {
		w.merge(at, "", fields{"metadata": fields{"labels": fields{"n": fmt.Sprint(w.n(100))}}})
	}
}

// replace deletes an object at once, and makes another of its name.
func (w *world) replace() {
	at, ok := w.any()
	if !ok {
		return
	}
	w.merge(at, "", fields{"metadata": fields{"finalizers": nil}})
	w.drop(at, metav1.DeletePropagationBackground, nil)
	w.make(at, "%s", bare(at.kind))
	switch w.n(3) {
	case 0:
		w.merge(at, "", fields{"metadata": fields{"ownerReferences": w.references(at, 1)}})
	case 1:
		policy := one(w, metav1.DeletePropagationOrphan, metav1.DeletePropagationForeground)
		w.merge(at, "", fields{"metadata": fields{"finalizers": []string{"example.com/hold"}}})
		w.drop(at, policy, nil)
	}
}

// busy deletes an owner, and has others write to what it owns, and to the kinds of that,
// between the steps of the collector.
func (w *world) busy() {
	w.uproot()
	for range 2 + w.n(6) {
		w.step(1 + w.n(2))
		switch w.n(8) {
		case 0:
			w.reown()
		case 1:
			w.refinalize()
		case 2:
			w.replace()
		case 3:
			w.uproot()
		case 4:
			w.serve()
		default:
			w.relabel()
		}
	}
}

// circle makes objects that own each other, and deletes some of them.
func (w *world) circle() {
	n := 1 + w.n(3)
	var all []place
	for i := range n {
		all = append(all, place{one(w, "ConfigMap", "Secret", "Widget"), "default", fmt.Sprintf("ring-%d", i)})
		w.make(all[i], "")
	}
	for i, p := range all {
		owner := all[(i+1)%n]
		if w.at(p) == nil || w.at(owner) == nil {
			return
		}
		k := w.Server.KindNamed(owner.kind)
		w.merge(p, "", fields{"metadata": fields{"ownerReferences": []metav1.OwnerReference{{
			APIVersion: k.GVK.GroupVersion().String(), Kind: owner.kind, Name: owner.name, UID: w.at(owner).GetUID(),
			BlockOwnerDeletion: some(w, true, true)}}}})
	}
	if w.in(3) {
		w.Cluster.Fail(host.FailedRequest{Process: "garbagecollector", Verb: fakeapi.Patch, Nth: 1, Code: 500})
	}
	w.step(w.n(4))
	for _, p := range all[:1+w.n(n)] {
		w.drop(p, metav1.DeletePropagationForeground, nil)
		w.step(w.n(3))
	}
}
