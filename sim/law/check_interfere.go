// Check of LAW-2.

package law

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

func dontInterfere(j *Judge, r *sim.Record) {
	w := &j.write
	if w.Actor == nil || w.Before == nil || !j.concerns(r) {
		return
	}
	j.Exercise()
	if w.tended(r) || w.Mine || w.Owner != nil && j.inFamily(r, w.Owner) {
		j.cutsOthers(r)
		return
	}
	if w.made() || w.harmless(r) || j.madeBare() || servesGate(r) || evicts(r) || j.recycles(r) || j.marks(r) || j.colleaguesOwn(r) || w.colleaguesFor(r) {
		return
	}
	s := Informed
	switch {
	case w.Owner != nil && w.inherits(r) == Committed:
		s = Committed
	case w.Saw == nil:
		if w.Unread {
			s = Committed
		}
	case w.SawMine,
		w.SawOwner == nil && w.Adopts && w.adds(r, w.For.UID),
		w.SawOwner == nil && w.Owner != nil && !w.Dependent && j.state.subjectFor(r.Object.Kind) == nil:
		s = Committed
	}
	j.Report(s, j.interference(r))
}

// made reports whether an object without a ControllerRef has a created-by annotation that names the actor's object. A
// controller that polls has no other link to its objects (KIND-CRON-2).
func (w *Write) made() bool {
	return w.Actor.Polls && w.Dependent && w.Owner == nil && w.For.UID != "" &&
		strings.Contains(w.Before.GetAnnotations()[createdBy], strconv.Quote(w.For.UID))
}

// madeBare reports whether the actor's controller created the object, and nothing controls the object. If the actor owns
// objects of this kind, it must be a whole program, and nothing must have controlled the object since its creation: the
// actor may not delete its orphans. The actor may edit the object and clean it up. LAW-1 says whether the object should
// have had a ControllerRef.
func (j *Judge) madeBare() bool {
	w := &j.write
	o := j.state.Object(w.Before.GetUID())
	return w.Owner == nil && o != nil && (o.loose || !w.Dependent && o.maker != nil) && o.maker.Controller == w.Actor.Controller
}

// servesGate reports whether a write changes only conditions that the readiness gates of a Pod name. Kubernetes leaves
// these conditions to other controllers than the owner of the Pod.
func servesGate(r *sim.Record) bool {
	if r.Object.Kind != "Pod" || r.Subresource != "status" || r.After == nil {
		return false
	}
	var bare [2]map[string]any
	var gates []any
	for i, value := range []any{r.Before, r.After} {
		o, err := runtime.DefaultUnstructuredConverter.ToUnstructured(value)
		if err != nil {
			return false
		}
		if i == 0 {
			gates, _, _ = unstructured.NestedSlice(o, "spec", "readinessGates")
		}
		conditions, _, _ := unstructured.NestedSlice(o, "status", "conditions")
		conditions = slices.DeleteFunc(conditions, func(c any) bool {
			return slices.ContainsFunc(gates, func(g any) bool {
				return g.(map[string]any)["conditionType"] == c.(map[string]any)["type"]
			})
		})
		_ = unstructured.SetNestedSlice(o, conditions, "status", "conditions")
		unstructured.RemoveNestedField(o, "metadata", "resourceVersion")
		unstructured.RemoveNestedField(o, "metadata", "managedFields")
		bare[i] = o
	}
	return len(gates) > 0 && equality.Semantic.DeepEqual(bare[0], bare[1])
}

// evicts reports whether a write is an eviction. With it, others than the owner of a Pod may ask for its deletion, as when
// a node is drained.
func evicts(r *sim.Record) bool { return r.Object.Kind == "Pod" && r.Subresource == "eviction" }

// recycles reports whether the actor deletes a Pod of its own workload. So operators restart Pods, and the workload's
// controller replaces them. Controllers of Kubernetes do not: a Deployment scales its ReplicaSets.
func (j *Judge) recycles(r *sim.Record) bool {
	w := &j.write
	deletes := w.Deletes || w.After == nil // a Pod without a node begins to terminate and is removed by one request
	return deletes && r.Object.Kind == "Pod" && w.Actor.Profile < Upstream && j.ofOwnWorkload()
}

// ofOwnWorkload reports whether the actor's controller created an owner of the written Pod, such as a StatefulSet, or
// whether such an owner is below the reconciled object. If an owner is gone, nobody can be disturbed.
func (j *Judge) ofOwnWorkload() bool {
	w := &j.write
	for ref, levels := w.Owner, 0; ref != nil && levels < 3; levels++ { // a Pod, its ReplicaSet, its Deployment
		o := j.state.Object(ref.UID)
		switch {
		case o == nil:
			return !w.Actor.Outside // otherwise the records may lack the owner
		case o.maker != nil && o.maker.Controller == w.Actor.Controller, w.For.UID != "" && meta.ControlledBy(o.Meta, uidOf(w.For)):
			return true
		}
		ref = meta.ControllerOf(o.Meta)
	}
	return false
}

// marks reports whether a write only changes labels and annotations of a Pod of the actor's own workload, or removes
// scheduling gates from it. For example, a label says which Pod is the primary, and an annotation what the deletion of the
// Pod costs. A label in the selector of the Pod's owner may not change. Other programs than the owner remove scheduling
// gates.
func (j *Judge) marks(r *sim.Record) bool {
	w := &j.write
	if r.Object.Kind != "Pod" || r.Subresource != "" || w.After == nil || w.Actor.Profile == Upstream || !j.ofOwnWorkload() {
		return false
	}
	var bare [2]map[string]any
	var gates [2][]any
	for i, value := range []any{r.Before, r.After} {
		o, err := runtime.DefaultUnstructuredConverter.ToUnstructured(value)
		if err != nil {
			return false
		}
		gates[i], _, _ = unstructured.NestedSlice(o, "spec", "schedulingGates")
		for _, path := range [][]string{{"spec", "schedulingGates"}, {"metadata", "labels"}, {"metadata", "annotations"},
			{"metadata", "resourceVersion"}, {"metadata", "generation"}, {"metadata", "managedFields"}, {"status"}} {
			unstructured.RemoveNestedField(o, path...)
		}
		bare[i] = o
	}
	if len(gates[1]) > len(gates[0]) || !equality.Semantic.DeepEqual(bare[0], bare[1]) {
		return false
	}
	was, is := w.Before.GetLabels(), w.After.GetLabels()
	for _, key := range j.selected(w.Owner) {
		if was[key] != is[key] {
			return false
		}
	}
	return true
}

// selected returns the keys of the labels by which an owner selects its Pods.
func (j *Judge) selected(owner *metav1.OwnerReference) (keys []string) {
	o := j.state.Object(owner.UID)
	if o == nil {
		return nil
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o.Value)
	if err != nil {
		return nil
	}
	labels, _, _ := unstructured.NestedMap(fields, "spec", "selector", "matchLabels")
	for key := range labels { //detcheck:ordered all must be equal
		keys = append(keys, key)
	}
	return keys
}

// colleaguesOwn reports whether the actor's program created an object that another controller of the program may own.
func (j *Judge) colleaguesOwn(r *sim.Record) bool {
	o := j.state.Object(j.write.Before.GetUID())
	return o != nil && o.maker != nil && o.maker.Controller == j.write.Actor.Controller &&
		j.colleagues(r, j.write.Owner)
}

// colleaguesFor reports whether a write is allowed because other controllers of the same program also write the kind
// ([Contract].SharedKinds). If the object has a controller, the write may not delete the object or change its owners.
func (w *Write) colleaguesFor(r *sim.Record) bool {
	return among(w.Actor.SharedKinds, r.Object.Kind) &&
		(w.Owner == nil || w.After != nil && !w.Deletes && meta.SameRefsBut(w.Before, w.After, ""))
}

// tended reports whether the actor may edit the object whatever its owner is (MayEdit). A deletion is allowed only if
// the actor has an AtWrite invariant, because that invariant says which objects to keep.
func (w *Write) tended(r *sim.Record) bool {
	return !w.Dependent && among(w.Actor.MayEdit, r.Object.Kind) && !(w.Deletes && w.Actor.written() == nil)
}

// concerns reports whether LAW-2 applies to the written object: the actor manages its kind, the object has a
// controller, or some actor reconciles its kind. A user's ConfigMap without a controller is exempt, for example. The
// object that the actor reconciles is exempt too; ADOPT-8 covers a recreated object of that name.
func (j *Judge) concerns(r *sim.Record) bool {
	w := &j.write
	if w.Actor.Outside {
		return w.Owner != nil // the records may lack other objects that the actor created
	}
	if w.Dependent {
		return true
	}
	if r.Object.Kind == w.Actor.For.Kind &&
		(r.For.Name == "" || r.Object.Name == r.For.Name && r.Object.Namespace == r.For.Namespace) {
		return false
	}
	return w.Owner != nil || j.state.subjectFor(r.Object.Kind) != nil
}

// cutsOthers reports a write that removes the reference to an existing owner from the actor's dependent, or from an
// object that the actor may edit. Such a write replaces the list of owners, or restores an old copy of it. The actor
// may remove references to owners of its reconciled kind, references to its dependents, and references that it added.
// Its AtWrite invariant may allow more. Other laws judge deletions and releases.
func (j *Judge) cutsOthers(r *sim.Record) {
	w := &j.write
	if w.After == nil || w.Deletes || w.Drops || w.tended(r) && j.handsOver(r) {
		return
	}
	for _, ref := range w.Before.GetOwnerReferences() {
		if string(ref.UID) == w.For.UID || meta.RefTo(w.After, ref.UID) != nil || ref.Kind == w.Actor.For.Kind ||
			w.process.gave[race{w.Before.GetUID(), ref.UID}] || j.inFamily(r, &ref) {
			continue
		}
		o := j.state.Object(ref.UID)
		if o == nil || meta.Deleting(o.Meta) {
			continue
		}
		s := committedIf(w.Unread || w.Saw != nil && meta.RefTo(w.Saw, ref.UID) == nil)
		j.Report(s, "takes off the reference to "+refName(&ref)+", which is there")
		return
	}
}

// handsOver reports whether the actor's AtWrite invariant allows it to change the owners of the object. The invariant
// gets the old object both as Before and as After.
func (j *Judge) handsOver(r *sim.Record) bool {
	v := j.write.Actor.written()
	return v != nil && j.evaluate(v, &Facts{Now: sim.Epoch.Add(r.At), Before: objectOf(r.Before), After: objectOf(r.Before),
		All: j.state.values, Get: j.state.get}) == ""
}

func (s *Actor) written() *Invariant {
	if s.moments&AtWrite != 0 {
		for _, v := range s.Invariants {
			if v.When&AtWrite != 0 {
				return v
			}
		}
	}
	return nil
}

// inFamily reports whether an owner is the object that the actor reconciles, or a dependent of that object. The actor
// may move objects between these owners: a StatefulSet makes a pod the owner of a claim. A Deployment may not do this
// with pods of its ReplicaSets, because another controller manages the pods of ReplicaSets.
func (j *Judge) inFamily(r *sim.Record, ref *metav1.OwnerReference) bool {
	w := &j.write
	if w.isFor(ref) {
		return true
	}
	if w.For.UID == "" || !w.Actor.manages(ref.Kind) || j.state.manages(ref.Kind, r.Object.Kind) {
		return false
	}
	if w.Before != nil && w.process.gave[race{w.Before.GetUID(), ref.UID}] {
		return true // the actor added the reference; the owner may be gone now
	}
	if o := j.state.Object(ref.UID); o != nil {
		return meta.ControlledBy(o.Meta, uidOf(w.For))
	}
	return w.process.owns(ref.UID, uidOf(w.For))
}

func (s *State) manages(owner, dependent string) bool {
	return slices.ContainsFunc(s.processes, func(p *process) bool {
		return p.Actor.For.Kind == owner && p.Actor.manages(dependent)
	})
}

func (j *Judge) interference(r *sim.Record) string {
	w := &j.write
	switch {
	case w.Owner == nil && w.Adopts:
		return "adopted by " + w.For.String() + " with more than the reference changed"
	case w.Owner == nil && !w.Dependent:
		return what(r) + " in a sync of " + r.For.String() + ", of an object that is not its own"
	}
	text := ownedBy(w.Owner)
	if o := w.Owner; o != nil && o.Kind == r.For.Kind && o.Name == r.For.Name && string(o.UID) != r.For.UID {
		if r.For.UID == "" {
			return text + ", which the sync did not find"
		}
		return text + ", another of that name than is synced"
	}
	return text
}
