package live

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/threelaws/threelaws/internal/page"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
)

// World is what a feed reads of a world, while nobody changes it.
type World struct {
	History  *sim.History
	Broken   []render.Mark       // all violations so far
	Standing func() []sim.Record // a creation for each existing object
}

// Kept is the least number of records on a page; the most is twice as many.
const Kept = 5000

// Feed is the run of a running world.
type Feed struct {
	look     func(see func(World)) // calls its argument while nobody changes the world
	name     string                // identifies this run of the world in event IDs
	kept     int
	every    time.Duration // how often a reader gets news
	beat     time.Duration // the interval of keep-alive messages
	patience time.Duration // with a reader that does not read
	closed   chan struct{}
	once     sync.Once

	mu      sync.Mutex
	run     *page.Live
	epoch   int // how often the run was restarted
	marks   int // the number of violations it has added
	readers int
}

// New makes the feed of a world. look calls its argument while nobody changes the world. Times count from from; the
// name distinguishes this run of the world from others.
func New(look func(see func(World)), from time.Duration, name string) *Feed {
	return &Feed{look: look, name: name, kept: Kept, every: 250 * time.Millisecond, beat: 15 * time.Second,
		patience: 10 * time.Second, closed: make(chan struct{}), run: page.NewLive(from)}
}

// Close ends all streams, current and later ones.
func (f *Feed) Close() { f.once.Do(func() { close(f.closed) }) }

// place is how far a reader is: this many parts of a run.
type place struct{ epoch, parts int }

// id formats a place as an event ID.
func (f *Feed) id(p place) string { return fmt.Sprintf("%s-%d-%d", f.name, p.epoch, p.parts) }

// placeOf parses an event ID; an ID of another run means the beginning.
func (f *Feed) placeOf(id string) (p place) {
	words := strings.Split(id, "-")
	if len(words) != 3 || words[0] != f.name {
		return p
	}
	epoch, err := strconv.Atoi(words[1])
	parts, e := strconv.Atoi(words[2])
	if err != nil || e != nil || parts < 0 {
		return p
	}
	return place{epoch, parts}
}

// since reads the world. It returns what a reader lacks, as JSON, and the reader's new place; nil for nothing.
func (f *Feed) since(p place) ([]byte, place, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.follow()
	if p.epoch != f.epoch || p.parts > f.run.Parts() {
		p.parts = 0
	}
	text, err := f.run.Since(p.parts)
	return text, place{f.epoch, f.run.Parts()}, err
}

// follow brings the run up to date with the world.
func (f *Feed) follow() {
	var standing, records []sim.Record
	var marks []render.Mark
	first, anew := 0, false
	f.look(func(w World) {
		h := w.History
		held := h.Len() - len(h.Records)
		first = f.run.Next()
		anew = f.epoch == 0 || first < held || f.run.Len()+h.Len()-first > 2*f.kept
		if anew {
			first = max(held, h.Len()-f.kept)
			standing = w.Standing()
		}
		records = append(records, h.Records[first-held:]...)
		marks = append(marks, w.Broken[f.marks:]...)
	})
	f.marks += len(marks)
	if anew {
		f.epoch++
		f.run.Begin(standing, first, records)
		records = nil
	}
	f.run.Add(records, marks)
}
