package law

import (
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/internal/fight"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
	"github.com/threelaws/threelaws/sim/law/internal/view"
)

// recentlyDeleted holds deleted cluster-scoped objects, for at least the longest [Invariant].Recent.
type recentlyDeleted struct {
	long time.Duration // the longest Recent of any invariant; 0 for none
	gone map[coords]deletion
}

// deletion holds the time of an object's deletion, and the object's last value. If the object is recreated and deleted
// again within the time recentlyDeleted.long, the first deletion stays.
type deletion struct {
	value any
	at    time.Duration
}

func (l *recentlyDeleted) fold(r *sim.Record) {
	if l.long == 0 || r.After != nil || r.Before == nil || r.Object.Namespace != "" {
		return
	}
	if l.gone == nil {
		l.gone = map[coords]deletion{}
	}
	at := coords{r.Object.Kind, "", r.Object.Name}
	if p, before := l.gone[at]; !before || r.At-p.at >= l.long {
		l.gone[at] = deletion{r.Before, r.At}
	}
}

// within returns the deleted object with this kind, namespace and name, and the time since its deletion. It returns nil
// if no such object was deleted, or if the time is not less than the parameter long.
func (l *recentlyDeleted) within(at coords, long, now time.Duration) (any, time.Duration) {
	if p, was := l.gone[at]; was && now-p.at < long {
		return p.value, now - p.at
	}
	return nil, 0
}

func (l *recentlyDeleted) digest(now time.Duration) uint64 {
	var sum uint64
	for at, p := range l.gone { //detcheck:ordered a sum
		if now-p.at < l.long {
			var h sim.Hash
			h.String(at.kind)
			h.String(at.name)
			h.Word(uint64(now - p.at))
			sum += sim.Mix(uint64(h))
		}
	}
	return sum
}

// deletedSinceSettled holds objects that were deleted, or whose deletion was requested, since the world last settled.
// The set is kept only for programs. Digest leaves it out, because worlds with programs are never searched
// exhaustively.
type deletedSinceSettled map[types.UID]bool

func (p deletedSinceSettled) fold(before metav1.Object, ends bool) {
	if p != nil && before != nil && ends {
		p[before.GetUID()] = true
	}
}

// forbidden maps an owner to the process whose creation for this owner the server refused, because of a quota or a
// missing permission. A write of another client may allow the creation. Then the entry is removed, and the process has
// to try again. The UID "" stands for every owner, because the owner is unknown for a program.
type forbidden map[types.UID]string

// refused records a create that the server refused with 403.
func (f *forbidden) refused(r *sim.Record, program bool) {
	if r.Code != http.StatusForbidden || r.Verb != "create" || r.For.UID == "" && !program {
		return
	}
	f.note(uidOf(r.For), r)
}

// spared records a deletion that the server refused with 403, by the UID of the object.
func (f *forbidden) spared(r *sim.Record) {
	if r.Code == http.StatusForbidden && r.Verb == "delete" && r.Saw != nil {
		f.note(meta.Of(r.Saw).GetUID(), r)
	}
}

func (f *forbidden) note(uid types.UID, r *sim.Record) {
	if *f == nil {
		*f = forbidden{}
	}
	(*f)[uid] = r.Process
}

// fold handles a commit: it removes the entries of all processes except the writer. Heartbeats and Events do not count.
func (f forbidden) fold(r *sim.Record) {
	if len(f) == 0 || r.Object.Kind == "Event" ||
		r.Before != nil && r.After != nil && fight.OnlyTimes(r.Before, r.After) {
		return
	}
	for owner, process := range f { //detcheck:ordered each owner is judged by itself
		if process != r.Process {
			delete(f, owner)
		}
	}
}

// more reports whether creations for an owner are forbidden.
func (f forbidden) more(owner *Object) bool {
	_, is := f[owner.Meta.GetUID()]
	_, anyOfThem := f[""]
	return is || anyOfThem
}

// asksAgain reports whether the last reconcile of a key was a retry while the server refuses creations for the key's
// object.
func (s *State) asksAgain(p *process, k *view.Queued) bool {
	o := s.Named(p.Actor.For.Kind, k.Namespace, k.Name)
	return k.Again && o != nil && s.forbidden.more(o)
}

func (f forbidden) digest() uint64 {
	var sum uint64
	for owner, process := range f { //detcheck:ordered a sum
		sum += digestPair(owner, "", sim.HashString(process))
	}
	return sum
}

// missingNamed holds the names of deleted dependents, if the controller had chosen the names. Another actor deleted
// these dependents, or the controller itself after they had finished. Dependents with chosen names are not
// interchangeable. The controller may create web-0 although web-1 is surplus (EXACT-2), and delete web-1 although web-0
// is missing (EXACT-1).
type missingNamed struct {
	names map[place]bool
	count map[types.UID]int // owner -> number of names
}

// place is the name of a dependent under its owner.
type place struct {
	owner types.UID
	kind  string
	name  view.Key
}

func (t *missingNamed) reset() {
	clear(t.names)
	clear(t.count)
}

func (t *missingNamed) fold(s *stored, r *sim.Record, w *Write) {
	switch {
	case w.Before == nil:
		if ref := w.NewOwner; ref != nil && t.count[ref.UID] > 0 {
			t.put(place{ref.UID, r.Object.Kind, view.KeyOf(r.Object)}, false)
		}
	case w.Deletes && w.Owner != nil && !w.Mine && ownName(s, w):
		if o := s.Object(w.Before.GetUID()); o != nil && o.maker != nil && o.maker.For.Kind == w.Owner.Kind &&
			o.maker != w.maker() {
			t.put(place{w.Owner.UID, r.Object.Kind, view.KeyOf(r.Object)}, true)
		}
	case w.Deletes && w.Mine && w.Actor != nil && w.Actor.Wanted != nil && !w.Actor.counts(r.Before, w.Before) &&
		!meta.Deleting(w.Before):
		t.put(place{w.Owner.UID, r.Object.Kind, view.KeyOf(r.Object)}, true)
	}
}

// ownName reports whether the creator chose the name of an object: the server did not generate the name, or the
// creator's contract has Wanted.
func ownName(s *stored, w *Write) bool {
	if w.Before.GetGenerateName() == "" {
		return true
	}
	o := s.Object(w.Before.GetUID())
	return o != nil && o.maker != nil && o.maker.Wanted != nil
}

func (t *missingNamed) put(p place, is bool) {
	if t.names[p] == is {
		return
	}
	if t.names == nil {
		t.names, t.count = map[place]bool{}, map[types.UID]int{}
	}
	if is {
		t.names[p] = true
		t.count[p.owner]++
		return
	}
	delete(t.names, p)
	t.count[p.owner]--
}

func (t *missingNamed) of(owner types.UID) int { return t.count[owner] }

// restores reports whether a creation replaces a missing dependent.
func (t *missingNamed) restores(owner types.UID, r *sim.Record) bool {
	return t.count[owner] > 0 && t.names[place{owner, r.Object.Kind, view.KeyOf(r.Object)}]
}

// orphaning holds the effect of an orphaning deletion on one dependent. The dependent's reference to the deleted owner
// must be removed, and the dependent must never be deleted because of that owner.
type orphaning struct {
	owner    types.UID
	record   int      // index of the record that accepted the deletion
	lost     bool     // the reference to the owner was removed
	again    bool     // an adopter added the reference again (ADOPT-7)
	strength Strength // strength if the dependent is deleted; Committed if the collector did not know the dependent
}

type orphanings struct {
	byObject map[types.UID][]orphaning
}

// find returns the orphaning of an object by the deletion of this owner, or nil.
func (p *orphanings) find(object, owner types.UID) *orphaning {
	list := p.byObject[object]
	for i := range list {
		if list[i].owner == owner {
			return &list[i]
		}
	}
	return nil
}

func (p *orphanings) fold(s *stored, r *sim.Record, w *Write) {
	if w.Before == nil {
		return
	}
	was, is := meta.Orphaning(w.Before), meta.Orphaning(w.After)
	switch {
	case is && !was:
		p.make(s, w.Before.GetUID(), r.Index)
	case was && !is:
		p.ownerDone(s, r, w)
	}
	if len(p.byObject) > 0 {
		p.foldDependent(r, w)
	}
	if w.GC && w.After != nil {
		p.orphaned(s, r, w)
	}
}

// orphaned notes that the garbage collector removed a reference to an owner with an accepted orphaning deletion. The
// reference was added after the deletion had been accepted.
func (p *orphanings) orphaned(s *stored, r *sim.Record, w *Write) {
	uid := w.Before.GetUID()
	for _, ref := range w.Before.GetOwnerReferences() {
		o := s.Object(ref.UID)
		if o == nil || !meta.Orphaning(o.Meta) || meta.RefTo(w.After, ref.UID) != nil || p.find(uid, ref.UID) != nil {
			continue
		}
		p.byObject[uid] = append(p.byObject[uid], orphaning{owner: ref.UID, record: r.Index, lost: true})
	}
}

func (p *orphanings) make(s *stored, owner types.UID, record int) {
	for _, o := range s.Dependents(owner) {
		uid := o.Meta.GetUID()
		if p.find(uid, owner) == nil && s.reaches(meta.RefTo(o.Meta, owner), o.Meta.GetNamespace()) {
			p.byObject[uid] = append(p.byObject[uid], orphaning{owner: owner, record: record})
		}
	}
}

// ownerDone updates the orphanings when the owner's orphan finalizer is removed. If the garbage collector removes the
// finalizer, it has missed each dependent that still refers to the owner. A dependent that it did not know gets the
// strength Committed. If another client removes the finalizer, the orphanings of this owner end.
func (p *orphanings) ownerDone(s *stored, r *sim.Record, w *Write) {
	owner := w.Before.GetUID()
	for _, o := range s.Dependents(owner) {
		uid := o.Meta.GetUID()
		q := p.find(uid, owner)
		switch {
		case q == nil:
		case !w.GC:
			p.drop(uid, owner)
		case w.process.sawBefore(r, o, owner) == nil:
			q.strength = Committed
		}
	}
}

func (p *orphanings) foldDependent(r *sim.Record, w *Write) {
	uid := w.Before.GetUID()
	list := p.byObject[uid]
	if len(list) == 0 {
		return
	}
	if w.After == nil {
		delete(p.byObject, uid)
		return
	}
	for i := len(list) - 1; i >= 0; i-- {
		q := &list[i]
		was, is := meta.RefTo(w.Before, q.owner), meta.RefTo(w.After, q.owner)
		had, has := was != nil, is != nil
		switch {
		case had && has && (was.Kind != is.Kind || was.Name != is.Name) && w.Actor == nil:
			p.drop(uid, q.owner) // the reference names another owner now
		case had && !has:
			q.lost = true
		case has && !had && w.Actor != nil:
			q.again, q.lost, q.strength = q.again || q.lost, false, adoptionStrength(r, w)
		case has && !had:
			p.drop(uid, q.owner)
		}
	}
}

func (p *orphanings) drop(object, owner types.UID) {
	list := p.byObject[object]
	for i := range list {
		if list[i].owner == owner {
			list = append(list[:i], list[i+1:]...)
			break
		}
	}
	if len(list) == 0 {
		delete(p.byObject, object)
		return
	}
	p.byObject[object] = list
}
