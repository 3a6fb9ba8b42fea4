// Checks of LAW-1, LAW-1b and LAW-3, and for whole programs also of EXACT-2, ADOPT-3 and ADOPT-8. The records of a
// program do not say which object it reconciles, or when it read the object.

package law

import (
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

func takeOwnership(j *Judge, r *sim.Record) {
	w := &j.write
	if w.Actor == nil || w.After == nil {
		return
	}
	if w.Before != nil {
		j.ownedLate(r)
		j.circular(r)
	}
	if !w.Dependent {
		return
	}
	if w.Before != nil {
		if w.Adopts {
			j.Exercise()
			j.misnamed(r, "adopted")
		}
		return
	}
	j.Exercise()
	switch {
	case w.isFor(w.NewOwner):
		j.misnamed(r, "created")
	case j.recreated(r, w.NewOwner), w.dropped, j.below(w.NewOwner), j.colleagues(r, w.NewOwner), w.Actor.outlives(r.Object.Kind, w.After):
	case w.NewOwner != nil:
		j.Report(Informed, "created for "+j.strangeOwner(r))
	default:
		how := "created without a ControllerRef"
		for _, ref := range w.After.GetOwnerReferences() {
			if ref.Kind == w.Actor.For.Kind {
				how = "created with a reference to " + refName(&ref) + " that does not control"
			}
		}
		j.Report(Informed, how)
	}
}

// circular reports an object that gets a reference to its own dependent. If the dependent is deleted, the garbage
// collector also deletes the object.
func (j *Judge) circular(r *sim.Record) {
	w := &j.write
	for _, ref := range w.After.GetOwnerReferences() {
		if meta.RefTo(w.Before, ref.UID) != nil {
			continue
		}
		if o := j.state.Object(ref.UID); o != nil && meta.RefTo(o.Meta, w.After.GetUID()) != nil {
			j.Exercise()
			j.Report(Informed, "now belongs to its own dependent "+refName(&ref)+", with which the garbage collector deletes it")
		}
	}
}

// below reports whether an owner reference refers to a stored dependent that the reconciled object controls. An example
// is a PodDisruptionBudget that belongs to the StatefulSet of an operator.
func (j *Judge) below(ref *metav1.OwnerReference) bool {
	if ref == nil {
		return false
	}
	o := j.state.Object(ref.UID)
	return o != nil && o.Ref.Kind == ref.Kind && o.Ref.Name == ref.Name && j.write.isFor(metav1.GetControllerOf(o.Meta))
}

// colleagues reports whether another controller of the actor's program may reconcile the owner. The program must watch
// the owner's kind, no other actor may reconcile that kind, and the owner must exist or be in the program's cache.
func (j *Judge) colleagues(r *sim.Record, ref *metav1.OwnerReference) bool {
	w := &j.write
	if !w.Actor.Opaque || ref == nil || ref.Kind == w.Actor.For.Kind || j.state.subjectFor(ref.Kind) != nil {
		return false
	}
	shown := w.process.Cache(ref.Kind)
	if shown.Changed == 0 {
		return false
	}
	if o := j.state.Object(ref.UID); o != nil {
		return o.Ref.Kind == ref.Kind && o.Ref.Name == ref.Name
	}
	for _, namespace := range []string{r.Object.Namespace, ""} {
		if e := shown.Get(namespace, ref.Name); e != nil && e.Meta.GetUID() == ref.UID {
			return true
		}
	}
	return false
}

// ownedLate reports that the actor created a dependent without a reference to its own object, and adds the reference
// only now. A crash in between would leave a dependent that is never deleted. It is no violation if the actor has
// read a newer spec since, or if another program created the dependent.
func (j *Judge) ownedLate(r *sim.Record) {
	w := &j.write
	own := uidOf(w.For)
	o := j.state.Object(w.Before.GetUID())
	if own == "" || o == nil || o.bare.owner != own || o.maker != &w.process.Actor || r.SawFor == nil ||
		meta.RefTo(w.Before, own) != nil || meta.RefTo(w.After, own) == nil {
		return
	}
	j.Exercise()
	if o.bare.spec == meta.Of(r.SawFor).GetGeneration() {
		j.Report(Informed, "was made without the reference to "+w.For.String()+" that it is given")
	}
}

// recreated reports whether a reference is to the reconciled object as it was recreated, and the cache has shown this
// object since the reconcile began.
func (j *Judge) recreated(r *sim.Record, ref *metav1.OwnerReference) bool {
	if ref == nil || ref.Kind != r.For.Kind || ref.Name != r.For.Name {
		return false
	}
	e := j.write.process.Cache(ref.Kind).Get(r.For.Namespace, ref.Name)
	return e != nil && e.Meta.GetUID() == ref.UID
}

// strangeOwner describes the ControllerRef of a created object if it does not refer to the reconciled object.
func (j *Judge) strangeOwner(r *sim.Record) string {
	ref := j.write.NewOwner
	switch {
	case ref.Kind != r.For.Kind || ref.Name != r.For.Name:
		return refName(ref) + " in a sync of " + r.For.String()
	case j.state.Object(ref.UID) == nil:
		return refName(ref) + ", which is gone"
	case r.For.UID == "":
		return refName(ref) + ", which its cache does not have"
	}
	return "another " + refName(ref) + " than the one that is being synced"
}

// misnamed reports a ControllerRef that cannot be resolved: its UID is the owner's, but its namespace, kind, name, group
// or version is wrong. For profile Upstream, it also reports an adoption without blockOwnerDeletion.
func (j *Judge) misnamed(r *sim.Record, how string) {
	w := &j.write
	ref := w.NewOwner
	switch {
	case w.For.Namespace != "" && r.Object.Namespace == "":
		j.Report(Informed, how+" with a ControllerRef to "+w.For.String()+", which is in a namespace: an object without a "+
			"namespace cannot have such an owner")
	case w.For.Namespace != "" && w.For.Namespace != r.Object.Namespace:
		j.Report(Informed, how+" with a ControllerRef to "+w.For.String()+", which in another namespace counts as gone")
	case ref.Kind != w.For.Kind:
		j.Report(Informed, how+" with a ControllerRef to a "+ref.Kind+", though "+w.For.String()+" is a "+w.For.Kind)
	case ref.Name != w.For.Name:
		j.Report(Informed, how+" with a ControllerRef that names "+w.For.String()+" "+ref.Name)
	case !j.isOf(w.Actor.For, ref.APIVersion):
		j.Report(Informed, how+" with a ControllerRef of apiVersion "+ref.APIVersion+", though "+w.For.String()+
			" is of "+w.Actor.For.GroupVersion().String())
	case w.Actor.Profile >= Upstream && w.Adopts && !meta.Blocks(ref):
		j.Report(Informed, how+" with a ControllerRef that does not block the deletion of "+w.For.String())
	}
}

// isOf reports whether an API version is one of the kind: the same, or another one of its group that the server serves.
// The garbage collector accepts each of them.
func (j *Judge) isOf(kind schema.GroupVersionKind, apiVersion string) bool {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if kind.Version == "" || err == nil && gv == kind.GroupVersion() {
		return true
	}
	if err != nil || gv.Group != kind.Group || j.Kinds == nil {
		return false
	}
	_, served := j.Kinds(apiVersion, kind.Kind)
	return served
}

// claimOrphansOnly checks LAW-1b: an actor may not take an object from its controller. The server accepts such a
// write if it replaces the whole list of owner references.
func claimOrphansOnly(j *Judge, r *sim.Record) {
	w := &j.write
	if w.Actor == nil || !w.Claims {
		return
	}
	j.Exercise()
	if w.Owner == nil || j.inFamily(r, w.Owner) && j.inFamily(r, w.NewOwner) {
		return
	}
	s := Committed
	if w.Saw == nil && !w.Unread || w.SawOwner != nil && !meta.SameRef(w.SawOwner, w.NewOwner) {
		s = w.inherits(r)
	}
	if w.isFor(w.Owner) && w.process.tookForOwn(r, w.NewOwner.UID, uidOf(w.For)) {
		s = Committed // the actor confuses a recreated owner with its own object
	}
	text := "taken from " + refName(w.Owner) + " by " + refName(w.NewOwner)
	if o, n := w.Owner, w.NewOwner; o.Kind == n.Kind && o.Name == n.Name {
		text += ", another of that name: the uid is not the same"
	}
	j.Report(s, text)
}

// dontShare checks LAW-3. During a run, the count in a status may not exceed the number of owned dependents that the
// process may have read in this reconcile. Once settled, the count is compared with the stored objects.
func dontShare(j *Judge, r *sim.Record) {
	if r.Op == sim.Settled {
		j.sharing()
		return
	}
	k, over := overcounted(&j.write, r)
	if k != nil {
		j.Exercise()
	}
	if over {
		j.Report(Informed, "counts "+strconv.Itoa(j.write.Actor.Counted(objectOf(r.After)))+" in its status, has been shown "+
			strconv.Itoa(k.counted)+" of its own")
	}
}

// overcounted reports whether a write changes the count in a status to a number that is too high. The worker cannot
// have read that many dependents of its owner.
func overcounted(w *Write, r *sim.Record) (*work, bool) {
	if w.Actor == nil || w.Actor.Counted == nil || w.Before == nil || w.After == nil ||
		r.Object.Kind != w.Actor.For.Kind || string(w.After.GetUID()) != r.For.UID {
		return nil, false
	}
	k := w.process.work(r)
	if k == nil || k.owner != w.After.GetUID() {
		return nil, false
	}
	n := w.Actor.Counted(objectOf(r.After))
	return k, n > k.counted && n != w.Actor.Counted(objectOf(r.Before))
}

func (j *Judge) sharing() {
	c := j.survey()
	for i := range c.owners {
		o := &c.owners[i]
		if !j.settled(o) {
			continue
		}
		j.Exercise()
		if o.sub.Counted != nil {
			if n := o.sub.Counted(objectOf(o.Value)); n > o.held {
				j.Report(Informed, o.Ref.String()+" counts "+strconv.Itoa(n)+" in its status, owns "+strconv.Itoa(o.held))
				continue
			}
		}
		if o.want <= o.owned || o.waits {
			continue
		}
		if n := j.shared(o); n > 0 && o.owned+n >= o.want {
			j.Report(Informed, o.Ref.String()+" wants "+strconv.Itoa(o.want)+", owns "+strconv.Itoa(o.owned)+
				", is content with "+
				strconv.Itoa(n)+" it does not own")
		}
	}
}

// shared returns the number of active dependents that an owner selects and would adopt, but does not own.
func (j *Judge) shared(o *ownerCount) int {
	n := 0
	for _, gvk := range o.sub.Owns {
		for _, d := range j.state.Kind(gvk.Kind) {
			if o.sub.counts(d.Value, d.Meta) && j.state.Selects(o.sub, o.Value, d.Meta) &&
				o.sub.willing(o.Value, d.Ref.Kind, d.Value) && !meta.ControlledBy(d.Meta, o.Meta.GetUID()) {
				n++
			}
		}
	}
	return n
}

// tooManyOfItsOwn reports that a program creates a dependent although it has created the owner's maximum already. A
// dependent counts if it is active, the program created it, and the program has received the answer. The others do not
// count: the program may learn late that they exist, or may believe that it has released them.
func (j *Judge) tooManyOfItsOwn(r *sim.Record) {
	w := &j.write
	sub, p := w.Actor, w.process
	if sub.Wanted != nil || w.NewOwner == nil || w.NewOwner.Kind != sub.For.Kind {
		return
	}
	owner := j.state.Object(w.NewOwner.UID)
	if owner == nil {
		return
	}
	j.Exercise()
	roof, once := sub.mostAtOnce(owner.Value), p.roofs[w.NewOwner.UID]
	if roof < 0 || once < 0 {
		return // no limit
	}
	roof = max(roof, once)
	own, asked := 0, r.Asked
	if sub.Outside {
		asked = r.Index // an Outside program knows the answers in all earlier records
	}
	for _, e := range p.known.Members(w.NewOwner.UID) {
		o := j.state.Object(e.UID)
		if e.Active && e.Since <= asked && o != nil && o.maker == w.maker() &&
			j.state.isActiveOf(sub, w.NewOwner.UID, o) {
			own++
		}
	}
	if own < roof {
		return
	}
	n := j.state.activeUpTo(sub, w.NewOwner.UID, -1) + 1
	j.Report(Informed, "brings "+owner.Ref.String()+" to "+strconv.Itoa(n)+", it wants "+strconv.Itoa(roof)+
		", and was told that it has made "+strconv.Itoa(own))
}

// settled reports whether the world has settled since the writing process last started.
func (w *Write) settled(r *sim.Record) bool {
	return w.process.settled && r.Incarnation == w.process.incarnation
}

// forTheGoing reports that a program creates or adopts a dependent for an owner that was already terminating when the
// world last settled.
func (j *Judge) forTheGoing(r *sim.Record) {
	w := &j.write
	if !w.settled(r) || w.NewOwner == nil || w.NewOwner.Kind != w.Actor.For.Kind || w.Before != nil && !w.Claims {
		return
	}
	j.Exercise()
	if o := j.state.Object(w.NewOwner.UID); o != nil && meta.Deleting(o.Meta) && !j.state.deletedSinceSettled[w.NewOwner.UID] {
		did := "made"
		if w.Before != nil {
			did = "adopted"
		}
		j.Report(Informed, did+" for "+o.Ref.String()+", which was terminating when the world had settled before")
	}
}

// ofTheGone reports that a program writes to a dependent of an earlier owner, although the owner was recreated before
// the world last settled. The program must have received the recreated owner. It may always remove its own finalizers.
// The violation is Informed if the version that the program read refers to the earlier owner, otherwise Committed.
func (j *Judge) ofTheGone(r *sim.Record) {
	w := &j.write
	if !w.settled(r) || !w.Dependent || w.Before == nil || w.Owner == nil || w.unhands(r) {
		return
	}
	j.Exercise()
	next := w.process.Cache(w.Owner.Kind).Get(w.Before.GetNamespace(), w.Owner.Name)
	if next == nil {
		next = w.process.Cache(w.Owner.Kind).Get("", w.Owner.Name)
	}
	if next == nil || j.state.Object(w.Owner.UID) != nil || j.state.deletedSinceSettled[w.Owner.UID] {
		return
	}
	s := informedIf(w.SawOwner != nil && w.SawOwner.UID == w.Owner.UID)
	j.Report(s, what(r)+" of a dependent of an earlier "+refName(w.Owner)+", which was gone when the world had settled before")
}
