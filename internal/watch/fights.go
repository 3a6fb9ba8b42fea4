package watch

import (
	"slices"
	"strings"
	"time"

	"k8s.io/utils/lru"

	"github.com/threelaws/threelaws/internal/fight"
)

// A fight is a state that recurs through the writes of several managers. It may be the state of a field, of an object's
// owners and labels, of whether an object exists, or of how many objects exist that several owners select. Each has a
// value history.

const (
	roundsOfFight = 3         // rounds of a cycle before it is reported
	roundsByHand  = 10        // the same if a person takes part, within slowest
	slowest       = time.Hour // a slower cycle is not a fight
	mostTracks    = 20_000    // value histories in memory
	mostBrawls    = 2_000
)

// track is the history of one value that may recur.
type track struct {
	key  string
	path fight.Path[string] // by manager; "" for one that is not known

	count int    // of objects, in the history of a set
	terms string // what the owners of a set want
}

// brawl is a cycle that repeats.
type brawl struct {
	Finding
	lead  string   // the history that counts the rounds: of many overwritten fields, the first
	also  []string // the other fields
	hands bool     // a person takes part
	next  int      // the round at which it is reported next
}

// fights holds the value histories, and the cycles found in them.
type fights struct {
	tracks *lru.Cache // of *track, by key
	brawls *lru.Cache // of *brawl, by subject and writers
	tell   func(Finding)
}

func newFights(tell func(Finding)) *fights {
	return &fights{tracks: lru.New(mostTracks), brawls: lru.New(mostBrawls), tell: tell}
}

func (f *fights) track(key string) *track {
	if t, ok := f.tracks.Get(key); ok {
		return t.(*track)
	}
	t := &track{key: key}
	f.tracks.Add(key, t)
	return t
}

// come adds a state to the history. It returns the cycle that this closes and its writers, or nil.
func (t *track) come(v fight.Visit[string]) (circle []fight.Visit[string], who []string) {
	circle = t.path.Visit(v)
	if circle == nil || v.At.Sub(circle[0].At) > slowest {
		return nil, nil
	}
	for _, v := range circle {
		if v.By != "" && !slices.Contains(who, v.By) {
			who = append(who, v.By)
		}
	}
	slices.Sort(who)
	return circle, who
}

// bout is one round of a fight.
type bout struct {
	object string
	about  string // one fight has one subject: an object, or a set of them
	what   string // "data.mode"
	who    []string
	circle []fight.Visit[string]
	field  bool // what is a field path
	set    bool // what lists the owners and their wanted numbers
}

// round counts a cycle.
func (f *fights) round(t *track, r bout) {
	key := r.about + " " + strings.Join(r.who, " ")
	known, ok := f.brawls.Get(key)
	b, _ := known.(*brawl)
	last := r.circle[len(r.circle)-1].At
	if !ok {
		b = &brawl{lead: t.key, next: roundsOfFight, hands: slices.ContainsFunc(r.who, byHand)}
		b.Finding = Finding{Sort: Fight, Law: laws[Fight], Object: r.object, Who: r.who, First: r.circle[0].At}
		if b.hands {
			b.next = roundsByHand
		}
		f.brawls.Add(key, b)
	}
	if b.lead != t.key {
		if !slices.Contains(b.also, r.what) && len(b.also) < 100 {
			b.also = append(b.also, r.what)
		}
		return
	}
	if b.hands && !b.Goes && last.Sub(b.First) > slowest {
		b.First, b.Rounds, b.Writes = r.circle[0].At, 0, 0
	}
	b.Rounds++
	b.Writes += len(r.circle)
	b.Last = last
	if b.Rounds < b.next {
		return
	}
	b.Story = nil
	for _, v := range r.circle {
		b.Story = append(b.Story, Line{At: v.At, Who: somebody(v.By), Did: v.Words, Object: r.object})
	}
	b.Text = b.sentence(r)
	f.tell(b.Finding)
	b.Goes, b.next = true, 2*b.Rounds
}

// sentence describes a fight.
func (b *brawl) sentence(r bout) string {
	who := strings.Join(b.Who, " and ")
	since := ", since " + b.First.UTC().Format(time.RFC3339)
	if r.set {
		return r.what + ": they have come and gone " + times(b.Rounds) + since + ", made by " + who
	}
	if !r.field {
		return who + " have gone round " + times(b.Rounds) + " over " + r.what + since
	}
	s := who + " have overwritten " + r.what + " of " + r.object + " " + times(b.Writes) + since
	if len(b.also) > 0 {
		s += ", and so " + strings.Join(b.also[:min(len(b.also), 3)], ", ")
		if len(b.also) > 3 {
			s += " and other fields"
		}
	}
	return s
}
