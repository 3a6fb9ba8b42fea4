package law

import (
	"net/http"

	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/internal/fight"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
	"github.com/threelaws/threelaws/sim/law/internal/view"
)

// forbidden are the owners for which something was to be made that the server forbids,
// by a quota or for want of a permission, and who was told so. Only somebody else can
// change that, so the next that somebody else changes takes it back: whoever wants more
// has to ask again, and to be forbidden again. For which of its owners a program asked
// nobody knows: it may have been any of them, and no uid stands for them.
type forbidden map[types.UID]string

// refused takes in what was answered to a worker, or to a program about what it makes.
func (f *forbidden) refused(r *sim.Record, program bool) {
	if r.Code != http.StatusForbidden || r.Verb != "create" || r.For.UID == "" && !program {
		return
	}
	f.note(uidOf(r.For), r)
}

// spared takes in that a deletion is forbidden: of the objects in it that is what is forbidden.
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

// fold takes in a commit. A heartbeat changes nothing, and neither does an event: others that are
// forbidden something say so in theirs.
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

// more reports whether more for an owner is forbidden.
func (f forbidden) more(owner *Object) bool {
	_, is := f[owner.Meta.GetUID()]
	_, anyOfThem := f[""]
	return is || anyOfThem
}

// asksAgain reports whether a process has tried a key again to which more is forbidden:
// that it is tried for ever is no lost error.
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
