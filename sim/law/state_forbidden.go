package law

import (
	"net/http"

	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/internal/fight"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
	"github.com/threelaws/threelaws/sim/law/internal/view"
)

// forbidden maps the UID of an owner to the process that was forbidden to create its dependents, by a quota or for
// lack of permission. A change by anybody else may lift that, so it removes the entry, and the process has to try
// again. The UID "" stands for any owner: it is not known for which one a program created.
type forbidden map[types.UID]string

// refused records the server's answer to a create.
func (f *forbidden) refused(r *sim.Record, program bool) {
	if r.Code != http.StatusForbidden || r.Verb != "create" || r.For.UID == "" && !program {
		return
	}
	f.note(uidOf(r.For), r)
}

// spared records that a deletion is forbidden, by the UID of the object to be deleted.
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

// fold updates it with a commit. Heartbeats and events change nothing.
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

// asksAgain reports whether a process has retried a key whose creations are forbidden. Such an error is not lost.
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
