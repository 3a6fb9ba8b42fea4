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

// World is what a feed is shown of a world, while nobody changes it.
type World struct {
	History  *sim.History
	Broken   []render.Mark       // what the laws found so far, all of it
	Standing func() []sim.Record // for each object that there is, a creation
}

// Kept is how many records a page shows at the least; at the most it shows twice as many.
const Kept = 5000

// Feed is the run of a world that is running.
type Feed struct {
	look     func(see func(World)) // calls its argument while nobody changes the world
	name     string                // of this run of the world, in the identifiers of events
	kept     int
	every    time.Duration // how often a reader is told
	beat     time.Duration // after how long a reader is told that there is nothing
	patience time.Duration // with a reader who does not read
	closed   chan struct{}
	once     sync.Once

	mu      sync.Mutex
	run     *page.Live
	epoch   int // how often the run was begun
	marks   int // of what the laws found, how much it was told of
	readers int
}

// New makes the feed of a world. look calls its argument while nobody changes the world;
// times count from a time of the world, and the name tells this run of it from others.
func New(look func(see func(World)), from time.Duration, name string) *Feed {
	return &Feed{look: look, name: name, kept: Kept, every: 250 * time.Millisecond, beat: 15 * time.Second,
		patience: 10 * time.Second, closed: make(chan struct{}), run: page.NewLive(from)}
}

// Close ends what is being told, now and to come.
func (f *Feed) Close() { f.once.Do(func() { close(f.closed) }) }

// place is how far a reader was told: so many parts of a run.
type place struct{ epoch, parts int }

// id is a place as the identifier of an event.
func (f *Feed) id(p place) string { return fmt.Sprintf("%s-%d-%d", f.name, p.epoch, p.parts) }

// placeOf is the place of an event's identifier; the beginning for one that is of another run.
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

// since looks at the world, and returns what a reader lacks, as JSON, and how far he is
// then; nil for nothing.
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

// follow brings the run to where the world is.
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
