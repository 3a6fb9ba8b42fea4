package audit

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/lru"

	"github.com/threelaws/threelaws/internal/fight"
)

// A fight is a value that several actors change in a cycle: their writes restore an earlier state again and again. The
// value may be a field, the owners and labels of an object, an owner's number of dependents, or an object's existence.

const (
	roundsOfFight = 3         // a cycle that repeats this often is a fight
	slowest       = time.Hour // a cycle that takes longer does not count
	mostFights    = 1000      // maximal number of reported fights
	mostTracks    = 20_000    // maximal number of value histories in memory
	mostWriters   = 4         // maximal number of writers that are recorded for an object
)

type visit = fight.Visit[*Actor]

// track is the history of one value.
type track struct {
	path   fight.Path[*Actor]
	rounds []*Fight
	count  int                               // added minus removed dependents, if the value is a number of dependents
	owners map[uint64]*metav1.OwnerReference // state -> the object's controller, if the value is an object's owners
}

type fights struct {
	tracks *lru.Cache // values are *track
	found  []*Fight
}

func newFights() *fights { return &fights{tracks: lru.New(mostTracks)} }

// Fight is a repeating cycle of writes by several actors.
type Fight struct {
	What      string    `json:"what"`            // "data.mode of t/cm/shared"
	Between   []string  `json:"between"`         // the participants, violators first
	Violators []string  `json:"violators"`       // the participants that should not write the value; see blame
	Owner     string    `json:"owner,omitempty"` // the object's owner; "" if it has none, or several in turn
	Rounds    int       `json:"rounds"`
	Writes    int       `json:"writes"`
	First     time.Time `json:"first"`
	Last      time.Time `json:"last"`
	Cycle     []line    `json:"cycle"` // the writes of the third round, which made the cycle a fight

	actors []*Actor
	kind   string // the owner's kind
	shared bool   // the object has several owners in turn
	dark   bool   // the log does not show that a participant is the owner's controller
	record int    // index of the last record of Cycle
}

func (f *fights) track(key string) *track {
	if t, ok := f.tracks.Get(key); ok {
		return t.(*track)
	}
	t := &track{}
	f.tracks.Add(key, t)
	return t
}

// visit adds a state to the history. If the history already contains the state, visit returns the cycle, unless the
// cycle took more than an hour. Otherwise visit returns nil. A write by a person restarts the history.
func (t *track) visit(v visit) []visit {
	if v.By.Sort == Human {
		if last, ok := t.path.Last(); !ok || last.State != v.State {
			t.path.Restart(v)
		}
		return nil
	}
	circle := t.path.Visit(v)
	if circle == nil || v.At.Sub(circle[0].At) > slowest {
		return nil
	}
	return circle
}

// round counts a round of a cycle. It ignores rounds of a single actor, and rounds of only system components.
func (f *fights) round(t *track, c *change, what string, circle []visit) {
	var who []*Actor
	for _, v := range circle {
		if v.By != nil && !slices.Contains(who, v.By) {
			who = append(who, v.By)
		}
	}
	if len(who) < 2 || !slices.ContainsFunc(who, func(w *Actor) bool { return w.Sort != Office }) {
		return
	}
	slices.SortFunc(who, func(a, b *Actor) int { return strings.Compare(a.Name, b.Name) })
	i := slices.IndexFunc(t.rounds, func(r *Fight) bool { return slices.Equal(r.actors, who) })
	if i < 0 {
		i = len(t.rounds)
		t.rounds = append(t.rounds, &Fight{What: what, actors: who, First: circle[0].At})
	}
	r := t.rounds[i]
	r.Rounds++
	r.Writes += len(circle)
	r.Last = c.at
	if r.Rounds > roundsOfFight {
		return
	}
	r.record = c.index
	r.Cycle = r.Cycle[:0]
	for _, v := range circle {
		if v.By != nil {
			r.Cycle = append(r.Cycle, line{At: v.At, Who: v.By.Name, Did: v.Words})
		}
	}
	if r.Rounds == roundsOfFight && len(f.found) < mostFights {
		r.of(c, t.heldBy(circle))
		f.found = append(f.found, r)
	}
}

// of sets the owner of the contested object. If the fight is about owners, held lists the object's owners in the cycle.
// If held has one owner, this is the owner. With several, the owner stays empty. If held is empty, the owner is the
// object's controller at the cycle's last write.
func (r *Fight) of(c *change, held []*metav1.OwnerReference) {
	if r.shared = len(held) > 1; r.shared {
		return
	}
	for _, ref := range append(held, c.after.controller(), c.before.controller()) {
		if ref != nil {
			r.Owner, r.kind = ownerName(ref), groupKind(ref)
			return
		}
	}
}

func (t *track) heldBy(circle []visit) (held []*metav1.OwnerReference) {
	for _, v := range circle {
		ref := t.owners[v.State]
		if ref != nil && !slices.ContainsFunc(held, func(h *metav1.OwnerReference) bool { return h.UID == ref.UID }) {
			held = append(held, ref)
		}
	}
	return held
}

const mostStates = 64

func (t *track) control(state uint64, o *Object) {
	if t.owners == nil || len(t.owners) == mostStates {
		t.owners = map[uint64]*metav1.OwnerReference{}
	}
	t.owners[state] = o.controller()
}

// final returns the fights at the end of the log, with their violators.
func (f *fights) final() []*Fight {
	out := []*Fight{}
	for _, r := range f.found {
		if r.blame() {
			out = append(out, r)
		}
	}
	return out
}

// blame sets the violators of a fight, and reports whether it is a fight. The owner's controller is not a violator,
// because it only restores its own object. System components are not violators either. If nobody is left, all
// participants are violators. But it is no fight if all of them, or all but one, are system components.
func (r *Fight) blame() bool {
	var violators, others []string
	controllers := 0
	r.dark = r.kind != "" && !slices.ContainsFunc(r.actors, func(w *Actor) bool { return w.controlsKind(r.kind) })
	for _, w := range r.actors {
		switch {
		case w.Sort == Office, r.kind != "" && w.controlsKind(r.kind):
			others = append(others, w.Name)
		default:
			violators = append(violators, w.Name)
		}
		if w.Sort != Office {
			controllers++
		}
	}
	if len(violators) == 0 {
		if controllers < 2 {
			return false
		}
		violators, others = others, nil
	}
	r.Violators = violators
	r.Between = append(slices.Clone(violators), others...)
	return true
}

func (w *Actor) controlsKind(kind string) bool {
	return w.makes(kind) || w.known != nil && w.known.groupKind() == kind
}
