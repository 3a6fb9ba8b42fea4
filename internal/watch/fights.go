package watch

import (
	"slices"
	"strings"
	"time"

	"k8s.io/utils/lru"

	"github.com/threelaws/threelaws/internal/fight"
)

// A fight is a state that comes back by the writes of several: of a field of an object, of
// whose an object is and how it is labelled, of whether there is an object of a name, of
// how many objects there are that several select. Each of these is a track.

const (
	roundsOfFight = 3         // how often a circle is gone round before it is told
	roundsByHand  = 10        // and before it is where a person takes part, within slowest
	slowest       = time.Hour // a circle that takes longer is none
	mostTracks    = 20_000    // tracks that are kept
	mostBrawls    = 2_000
)

// track is one thing that may recur.
type track struct {
	key  string
	path fight.Path[string] // by manager; "" for one that is not known

	count int    // of objects, for a track of a set
	terms string // what the owners of a set want
}

// brawl is a circle that is gone round again and again.
type brawl struct {
	Finding
	lead  string   // the track that is counted by: of many fields that are overwritten the first one
	also  []string // the other fields
	hands bool     // a person takes part
	next  int      // at how many rounds it is told
}

// fights are the tracks, and the circles that were found on them.
type fights struct {
	tracks *lru.Cache // of *track, by key
	brawls *lru.Cache // of *brawl, by what they are about and who takes part
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

// come notes that a track came into a state. It returns the circle that this closes, and
// who takes part in it; nil for none.
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
	about  string // one fight is about one object, or one set of them
	what   string // "data.mode"
	who    []string
	circle []fight.Visit[string]
	field  bool // what is the path of one
	set    bool // what is who wants how many
}

// round counts a circle.
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

// sentence tells a fight.
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
