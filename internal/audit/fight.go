package audit

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/lru"

	"github.com/threelaws/threelaws/internal/fight"
)

// A fight is a state that recurs through the writes of several actors. It may be the state of a field, of an object's
// owners and labels, of an owner's number of dependents, or of whether an object exists. Each has a value history.

const (
	roundsOfFight = 3         // rounds of a cycle before it is a fight
	slowest       = time.Hour // a slower cycle is not a fight
	mostFights    = 1000      // reported fights
	mostTracks    = 20_000    // value histories in memory
	mostWriters   = 4         // distinguished writers of an object
)

type visit = fight.Visit[*Actor]

// track is the history of one value that may recur.
type track struct {
	path   fight.Path[*Actor]
	rounds []*Fight
	count  int                               // of dependents, in the history of an owner
	owners map[uint64]*metav1.OwnerReference // in the history of an object's owners: the controller by state
}

type fights struct {
	tracks *lru.Cache // of *track, by key
	found  []*Fight
}

func newFights() *fights { return &fights{tracks: lru.New(mostTracks)} }

// Fight is a cycle that repeats.
type Fight struct {
	What      string    `json:"what"`            // "data.mode of t/cm/shared"
	Between   []string  `json:"between"`         // the participants, violators first
	Violators []string  `json:"violators"`       // those who are not the owner's controller; all where nobody is
	Owner     string    `json:"owner,omitempty"` // "" where it has none, or several in turn
	Rounds    int       `json:"rounds"`
	Writes    int       `json:"writes"`
	First     time.Time `json:"first"`
	Last      time.Time `json:"last"`
	Cycle     []line    `json:"cycle"` // one round, the last of those that counted

	actors []*Actor
	kind   string // of the owner
	shared bool   // it has several owners in turn
	dark   bool   // the log does not show the owner's controller
	record int    // index of the last record of the last counted round
}

func (f *fights) track(key string) *track {
	if t, ok := f.tracks.Get(key); ok {
		return t.(*track)
	}
	t := &track{}
	f.tracks.Add(key, t)
	return t
}

// visit adds a state to the history. It returns the cycle that this closes, or nil. A person's write restarts the
// history.
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

// round counts a cycle with two or more actors.
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

// of records the owner of the contested object. It is the controllers in the cycle if the history follows those, and
// otherwise the controller when the cycle closes.
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

// final returns the fights that remain at the end of the log, with the actors to blame.
func (f *fights) final() []*Fight {
	out := []*Fight{}
	for _, r := range f.found {
		if r.blame() {
			out = append(out, r)
		}
	}
	return out
}

// blame decides who causes a fight, and whether it is one. The owner's controller only defends its own object, and
// system components are not to blame for that controller.
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
