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

// recentlyDeleted holds cluster-scoped objects that were deleted a short while ago, if an invariant uses
// [Invariant].Recent.
type recentlyDeleted struct {
	long time.Duration // the longest Recent of any invariant; 0 for none
	gone map[coords]deletion
}

// deletion holds when an object was deleted, and its last value. If it came back and was deleted again, the first time
// counts.
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

// within returns the object and the time since its deletion if that is no longer than long, and nil otherwise.
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

// deletedSinceSettled holds objects whose deletion was requested or completed since the world last settled. Any other
// terminating or deleted object was already so at that time. The set is kept for programs only. Their worlds are never
// searched exhaustively, so Digest leaves it out.
type deletedSinceSettled map[types.UID]bool

func (p deletedSinceSettled) fold(before metav1.Object, ends bool) {
	if p != nil && before != nil && ends {
		p[before.GetUID()] = true
	}
}

// forbidden maps the UID of an owner to the process that the server forbade to create its dependents, by a quota or for
// lack of permission. A change by another client may lift that, so it removes the entry, and the process has to try
// again. The UID "" stands for any owner, because it is not known for which one a program creates.
type forbidden map[types.UID]string

// refused records the server's answer to a create.
func (f *forbidden) refused(r *sim.Record, program bool) {
	if r.Code != http.StatusForbidden || r.Verb != "create" || r.For.UID == "" && !program {
		return
	}
	f.note(uidOf(r.For), r)
}

// spared records that the server forbids a deletion, by the UID of the object.
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

// fold updates the map with a commit. Heartbeats and events change nothing.
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

// asksAgain reports whether a process has retried a key whose creations are forbidden. Then the error was not ignored.
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

// missingNamed holds dependents with names chosen by their controller that another actor deleted, or that the
// controller deleted after they had finished. They are not interchangeable: web-0 is created again although web-1 is
// surplus, and web-1 is deleted although web-0 is missing. Neither violates EXACT-1 or EXACT-2.
type missingNamed struct {
	names map[place]bool
	count map[types.UID]int // by owner
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

// ownName reports whether an object's creator chose its name: the server did not generate it, or the contract has
// Wanted.
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

// orphaning is the obligation of an accepted orphaning deletion to one dependent: its reference must be removed, and it
// must never be deleted because of that owner.
type orphaning struct {
	owner    types.UID
	record   int      // the record that accepted the deletion
	lost     bool     // the reference was removed
	again    bool     // an adopter added it again (ADOPT-7)
	strength Strength // of the violation if the dependent is deleted: Committed if the cause could not be known
}

// orphanings holds these obligations by dependent.
type orphanings struct {
	byObject map[types.UID][]orphaning
}

// find returns the obligation of an owner's deletion to an object, or nil.
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

// orphaned notes that the garbage collector removed a reference that was added after the owner's deletion had been
// accepted.
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

// ownerDone handles the removal of an owner's orphan finalizer. A dependent that still refers to the owner was missed,
// and knowingly if the garbage collector had seen it. If another client removes the finalizer, the obligation ends.
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
			p.drop(uid, q.owner) // it refers to another owner now
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
