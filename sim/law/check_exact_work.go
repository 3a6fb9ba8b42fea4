// Checks of EXACT-1 to EXACT-3: the number of dependents, and their identities.

package law

import (
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// neverTooFew checks EXACT-1 at the deletion of an active dependent. The violation is Informed if too few dependents
// are left in the actor's view and in the stored state. It is Committed if too few are left in the stored state only.
// Deletions for a terminating owner are not violations.
func neverTooFew(j *Judge, r *sim.Record) {
	w := &j.write
	sub := w.Actor
	if sub == nil || sub.Replicas == nil || !w.Dependent || !w.Mine || !w.Deletes || !sub.counts(r.Before, w.Before) {
		return
	}
	j.Exercise()
	away := j.state.missingNamed.of(uidOf(r.For))
	if k := w.counting(r); k != nil && !meta.Deleting(meta.Of(r.SawFor)) && w.askedFor(k, r, r.Before, true) {
		floor := sub.floor(r.SawFor) - away
		w.process.owners(k, func(owner any) { floor = min(floor, sub.floor(owner)-away) })
		victim := w.process.known.ByUID[w.Before.GetUID()]
		if victim != nil && victim.Active && k.most()-1 < floor {
			if left := j.state.activeUpTo(sub, k.owner, floor+1) - 1; left < floor {
				j.Report(Informed, "leaves "+r.For.String()+" with "+strconv.Itoa(left)+", it wants "+strconv.Itoa(floor))
				return
			}
		}
	}
	o := j.state.Object(uidOf(r.For))
	if o == nil || meta.Deleting(o.Meta) || sub.Wanted != nil && !sub.Wanted(objectOf(o.Value), objectOf(r.Before)) {
		return
	}
	floor := sub.floor(o.Value) - away
	if left := j.state.activeUpTo(sub, uidOf(r.For), floor+1) - 1; left < floor {
		j.Report(Committed, "leaves "+r.For.String()+" with "+strconv.Itoa(left)+", it wants "+strconv.Itoa(floor))
	}
}

// neverTooMany checks EXACT-2 at a creation. ADOPT-3 covers creations for a terminating owner. A creation with the name
// of a missing dependent is not a violation (see missingNamed).
func neverTooMany(j *Judge, r *sim.Record) {
	w := &j.write
	sub := w.Actor
	if sub == nil || sub.Replicas == nil && sub.MaxActive == nil || !w.Dependent || w.Before != nil ||
		!sub.counts(r.After, w.After) {
		return
	}
	if sub.Opaque {
		j.tooManyOfItsOwn(r)
		return
	}
	if !w.isFor(w.NewOwner) {
		return
	}
	if sub.Replicas == nil {
		j.neverTooManyAtOnce(r)
		return
	}
	j.Exercise()
	if sub.Wanted != nil {
		j.neverUnexercised(r)
		return
	}
	if j.state.missingNamed.restores(uidOf(r.For), r) {
		return
	}
	if k := w.counting(r); k != nil {
		roof := sub.roof(r.SawFor)
		w.process.owners(k, func(owner any) { roof = max(roof, sub.roof(owner)) })
		if roof >= 0 && k.fewest()+1 > roof {
			if n := j.state.activeUpTo(sub, k.owner, -1) + 1; n > roof {
				j.Report(Informed, "brings "+r.For.String()+" to "+strconv.Itoa(n)+", it wants "+strconv.Itoa(roof))
				return
			}
		}
	}
	o := j.state.Object(uidOf(r.For))
	if o == nil || meta.Deleting(o.Meta) {
		return
	}
	roof := sub.roof(o.Value)
	if roof < 0 || len(j.state.Dependents(uidOf(r.For))) < roof {
		return
	}
	if n := j.state.activeUpTo(sub, uidOf(r.For), -1) + 1; n > roof {
		j.Report(Committed, "brings "+r.For.String()+" to "+strconv.Itoa(n)+", it wants "+strconv.Itoa(roof))
	}
}

// neverTooManyAtOnce checks EXACT-2 for a contract with MaxActive and without Replicas. A violation is Informed if the
// caches at the start of the reconcile and the creations of this reconcile show it. The actor need not remember the
// creations of earlier reconciles, because it creates rarely.
func (j *Judge) neverTooManyAtOnce(r *sim.Record) {
	w := &j.write
	sub := w.Actor
	if k := w.counting(r); k != nil && sub.MaxActive(objectOf(r.SawFor)) >= 0 {
		j.Exercise()
		most := sub.MaxActive(objectOf(r.SawFor))
		w.process.owners(k, func(owner any) { most = max(most, sub.MaxActive(objectOf(owner))) })
		if n := j.state.activeUpTo(sub, k.owner, -1) + 1; k.shown+k.own-k.missed >= most && n > most {
			j.Report(Informed, "brings "+r.For.String()+" to "+strconv.Itoa(n)+", it wants "+
				strconv.Itoa(most)+" at one time")
			return
		}
	}
	o := j.state.Object(uidOf(r.For))
	if o == nil || meta.Deleting(o.Meta) || sub.MaxActive(objectOf(o.Value)) < 0 {
		return
	}
	j.Exercise()
	if n := j.state.activeUpTo(sub, uidOf(r.For), -1) + 1; n > sub.MaxActive(objectOf(o.Value)) {
		j.Report(Committed, "brings "+r.For.String()+" to "+strconv.Itoa(n)+", it wants "+strconv.Itoa(sub.MaxActive(objectOf(o.Value)))+
			" at one time")
	}
}

// oneForEach checks EXACT-3: a write may not give a dependent the identity of another dependent of the same owner. The
// violation is Informed if the actor had received the other dependent before the reconcile began, or had created it. An
// adoption is not a violation, because a matching orphan must be adopted first (ADOPT-2). Once settled, only one
// dependent with the identity may be left.
func oneForEach(j *Judge, r *sim.Record) {
	if r.Op == sim.Settled {
		j.settledIdentities()
		return
	}
	w := &j.write
	sub := w.Actor
	if sub == nil || sub.Identity == nil || !w.Dependent || !w.isFor(w.NewOwner) {
		return
	}
	id := sub.holds(r.After, w.After)
	if id == "" || w.Adopts || w.Mine && sub.holds(r.Before, w.Before) == id {
		return
	}
	if j.state.mayDuplicate(sub, w.NewOwner.UID, r.After, r.After) {
		return // this owner allows duplicates of this dependent
	}
	j.Exercise()
	for _, o := range j.state.Dependents(w.NewOwner.UID) {
		if o.Meta.GetUID() == w.After.GetUID() || !j.state.isActiveOf(sub, w.NewOwner.UID, o) ||
			sub.Identity(objectOf(o.Value)) != id || j.state.mayDuplicate(sub, w.NewOwner.UID, r.After, o.Value) {
			continue
		}
		s := informedIf(w.knewHolder(r, o, id))
		j.Report(s, "is "+id+" of "+r.For.String()+", as "+o.Ref.String()+" is")
		return
	}
}

// settledIdentities checks EXACT-3 in the settled world. It skips owners without a wanted number. Such an owner may
// keep an adopted dependent: for example, a Deployment keeps an old ReplicaSet.
func (j *Judge) settledIdentities() {
	for i := range j.survey().owners {
		o := &j.settledCounts.owners[i]
		if o.sub.Identity == nil || o.want < 0 || o.sub.leaves(o.Value) || !j.settled(o) {
			continue
		}
		uid, held := o.Meta.GetUID(), map[string]*Object{}
		for _, d := range j.state.Dependents(uid) {
			if !j.state.isActiveOf(o.sub, uid, d) {
				continue
			}
			id := o.sub.Identity(objectOf(d.Value))
			if id == "" || j.state.mayDuplicate(o.sub, uid, d.Value, d.Value) {
				continue
			}
			j.Exercise()
			if other := held[id]; other == nil {
				held[id] = d
			} else if !j.state.mayDuplicate(o.sub, uid, d.Value, other.Value) {
				j.Report(Informed, d.Ref.String()+" stays "+id+" of "+o.Ref.String()+", as "+other.Ref.String()+" does")
				break
			}
		}
	}
}

// mayDuplicate reports whether an owner may have dependents a and b with the same identity.
func (s *State) mayDuplicate(sub *Actor, owner types.UID, a, b any) bool {
	o := s.Object(owner)
	return sub.AllowDuplicate != nil && o != nil && sub.AllowDuplicate(objectOf(o.Value), objectOf(a), objectOf(b))
}

func (s *Actor) holds(value any, m metav1.Object) string {
	if m == nil || !s.counts(value, m) {
		return ""
	}
	return s.Identity(objectOf(value))
}

// knewHolder reports whether the actor knew that o has the identity id: before its reconcile began, or from an answer.
func (w *Write) knewHolder(r *sim.Record, o *Object, id string) bool {
	e := w.process.known.ByUID[o.Meta.GetUID()]
	k := w.process.work(r)
	if e == nil || k == nil || !e.Active || e.Owner != k.owner {
		return false
	}
	return e.Since < k.begun && w.Actor.Identity(objectOf(w.process.known.ValueAt(e.UID, k.begun))) == id || e.Ahead
}

// askedFor reports whether the owner wants a dependent. The worker may use several versions of the owner. If every is
// set, each of them must want the dependent; otherwise one is enough.
func (w *Write) askedFor(k *work, r *sim.Record, dependent any, every bool) bool {
	if w.Actor.Wanted == nil {
		return true
	}
	is := w.Actor.Wanted(objectOf(r.SawFor), objectOf(dependent))
	w.process.owners(k, func(owner any) {
		if w.Actor.Wanted(objectOf(owner), objectOf(dependent)) != every {
			is = !every
		}
	})
	return is
}

// neverUnexercised checks EXACT-2 for an actor whose contract has Wanted. The owner must want the created dependent,
// and may not have too many wanted dependents.
func (j *Judge) neverUnexercised(r *sim.Record) {
	w := &j.write
	sub := w.Actor
	if k := w.counting(r); k != nil {
		if !w.askedFor(k, r, r.After, false) {
			j.Report(Informed, "is none that "+r.For.String()+" asks for")
			return
		}
		roof := sub.roof(r.SawFor)
		w.process.owners(k, func(owner any) { roof = max(roof, sub.roof(owner)) })
		if n := w.knownWanted(k, r) + 1; roof >= 0 && n > roof && j.state.wanted(sub, k.owner, r.SawFor) >= roof {
			j.Report(Informed, "brings those that "+r.For.String()+" asks for to "+strconv.Itoa(n)+", it wants "+
				strconv.Itoa(roof))
			return
		}
	}
	o := j.state.Object(uidOf(r.For))
	if o == nil || meta.Deleting(o.Meta) {
		return
	}
	if !sub.Wanted(objectOf(o.Value), objectOf(r.After)) {
		j.Report(Committed, "is none that "+r.For.String()+" asks for by now")
		return
	}
	if n, roof := j.state.wanted(sub, uidOf(r.For), o.Value)+1, sub.roof(o.Value); roof >= 0 && n > roof {
		j.Report(Committed, "brings those that "+r.For.String()+" asks for to "+strconv.Itoa(n)+", it wants "+
			strconv.Itoa(roof))
	}
}

// wanted returns the number of stored active dependents of an owner that the given version of the owner wants.
func (s *State) wanted(sub *Actor, owner types.UID, version any) int {
	n := 0
	for _, o := range s.Dependents(owner) {
		if s.isActiveOf(sub, owner, o) && sub.Wanted(objectOf(version), objectOf(o.Value)) {
			n++
		}
	}
	return n
}

// knownWanted returns the number of wanted dependents that the worker must know: its process received them before the
// reconcile began, or created them.
func (w *Write) knownWanted(k *work, r *sim.Record) int {
	n := 0
	for _, e := range w.process.known.Members(k.owner) {
		mine := e.Ahead && e.Cached == nil
		if e.Active && (mine || !e.Ahead && e.Since < k.begun) && w.askedFor(k, r, e.Value, true) {
			n++
		}
	}
	return n
}
