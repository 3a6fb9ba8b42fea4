// Package fight tells a world that fights from one that comes to rest: by a state that
// recurs ([Detector]), and by what it is that two versions of an object differ in
// ([OnlyTimes], [FirstDifference]), where no state recurs and the writing goes on.
package fight

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/threelaws/threelaws/internal/difference"
)

// Detector finds fights: the abstract state of the world, in which names, uids
// and versions are left out, recurs with a committed write in between, nobody
// outside had a hand in it, and everybody who had something to do did
// something. It is fed by whoever drives the world; what it finds is written
// to the history as a Fighting record. The zero value is ready.
type Detector struct {
	// Busy lists the processes that have something enabled now: those must have
	// acted within the cycle, else the cycle is the schedule's, not theirs.
	// Without it, every process that acted since the last action from outside
	// must have acted again.
	Busy func() []string
	// Limit bounds the writes remembered; past it the detector starts afresh.
	// Zero means 65536.
	Limit int

	names  []string
	writes []landed
	first  map[uint64]int // state after a write -> its first occurrence in writes
	last   map[uint64]int
	acted  threads // by place in names: since the last write
	ever   threads // since the last action from outside
}

// landed is one write: the record, and who acted since the write before it.
type landed struct {
	record int
	acted  threads
}

const detectorLimit = 1 << 16

// Observe is called once a step, or for every record, in order. The hash is
// the world's abstract state afterwards; it is looked at only for a committed
// write, so it need not be made for anything else. user marks an action of the
// user and a fault: what was before it can't be part of a fight. The cycle is
// the records of its writes.
func (d *Detector) Observe(hash uint64, record int, process string, write, user bool) (cycle []int, found bool) {
	if user {
		d.Reset()
		return nil, false
	}
	at := d.place(process)
	d.acted.add(at)
	d.ever.add(at)
	if !write {
		return nil, false
	}
	limit := d.Limit
	if limit == 0 {
		limit = detectorLimit
	}
	if len(d.writes) >= limit {
		d.Reset()
		d.ever.add(at)
	}
	d.writes = append(d.writes, landed{record, d.acted})
	d.acted = threads{}
	return d.recurs(hash)
}

func (d *Detector) recurs(hash uint64) (cycle []int, found bool) {
	if d.first == nil {
		d.first, d.last = map[uint64]int{}, map[uint64]int{}
	}
	now := len(d.writes) - 1
	from, seen := d.first[hash]
	if !seen {
		d.first[hash] = now
		return nil, false
	}
	if last, again := d.last[hash]; again && d.fair(last, now) {
		from = last
	} else if !d.fair(from, now) {
		d.last[hash] = now
		return nil, false
	}
	for _, w := range d.writes[from+1:] {
		cycle = append(cycle, w.record)
	}
	d.last[hash] = now
	return cycle, true
}

// fair reports whether everybody who had something to do acted between two writes.
func (d *Detector) fair(from, to int) bool {
	var acted threads
	for i := range d.writes[from+1 : to+1] {
		acted.merge(&d.writes[from+1+i].acted)
	}
	if d.Busy == nil {
		for i := range d.names {
			if d.ever.has(i) && !acted.has(i) {
				return false
			}
		}
		return true
	}
	for _, p := range d.Busy() {
		if !acted.has(d.place(p)) {
			return false
		}
	}
	return true
}

// Reset forgets everything before now.
func (d *Detector) Reset() {
	d.writes = d.writes[:0]
	clear(d.first)
	clear(d.last)
	d.acted, d.ever = threads{}, threads{}
}

func (d *Detector) place(process string) int {
	for i, n := range d.names {
		if n == process {
			return i
		}
	}
	d.names = append(d.names, process)
	return len(d.names) - 1
}

// threads is a set of places: a word holds those of any ordinary world.
type threads struct {
	first uint64
	more  []uint64 // from the 64th on
}

func (t *threads) add(at int) {
	if at < 64 {
		t.first |= 1 << at
		return
	}
	for len(t.more) <= at/64-1 {
		t.more = append(t.more, 0)
	}
	t.more[at/64-1] |= 1 << (at % 64)
}

func (t *threads) has(at int) bool {
	if at < 64 {
		return t.first&(1<<at) != 0
	}
	return at/64-1 < len(t.more) && t.more[at/64-1]&(1<<(at%64)) != 0
}

func (t *threads) merge(u *threads) {
	t.first |= u.first
	for i, w := range u.more {
		if i == len(t.more) {
			t.more = append(t.more, 0)
		}
		t.more[i] |= w
	}
}

// CycleReason renders the records of a cycle for the Reason of a Fighting record:
// "3,5".
func CycleReason(cycle []int) string {
	var b strings.Builder
	for i, n := range cycle {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(n))
	}
	return b.String()
}

// ParseCycle reads what [CycleReason] renders.
func ParseCycle(s string) []int {
	var out []int
	for part := range strings.SplitSeq(s, ",") {
		if n, err := strconv.Atoi(part); err == nil {
			out = append(out, n)
		}
	}
	return out
}

// Path is the states that one thing went through: a field, an owner, a number. The way
// back to a state is taken out when that state recurs, so that what is left is the shortest
// way, and in a circle there is only what took part in it. The zero value is ready. A is
// who can have brought it into a state.
type Path[A comparable] struct {
	visits []Visit[A]
}

// Visit is a state that something was in, and who brought it there.
type Visit[A comparable] struct {
	State uint64
	By    A // of no use in the state in which a thing was met
	At    time.Time
	Words string // what was done
}

const longestPath = 24

// Begin sets the state in which a thing is met, where nothing is known of it.
func (p *Path[A]) Begin(state uint64, at time.Time) {
	if len(p.visits) == 0 {
		p.visits = append(p.visits, Visit[A]{State: state, At: at})
	}
}

// Last is the state that it is in, false where nothing is known.
func (p *Path[A]) Last() (Visit[A], bool) {
	if len(p.visits) == 0 {
		return Visit[A]{}, false
	}
	return p.visits[len(p.visits)-1], true
}

// Restart forgets the way here.
func (p *Path[A]) Restart(v Visit[A]) { p.visits = append(p.visits[:0], v) }

// Clear forgets all.
func (p *Path[A]) Clear() { p.visits = p.visits[:0] }

// Visit notes that a thing came into a state. It returns the circle that this closes, the
// visit that closed it last; nil for none.
func (p *Path[A]) Visit(v Visit[A]) []Visit[A] {
	if n := len(p.visits); n > 0 && p.visits[n-1].State == v.State {
		return nil
	}
	i := slices.IndexFunc(p.visits, func(w Visit[A]) bool { return w.State == v.State })
	if i < 0 {
		if len(p.visits) == longestPath {
			p.visits = append(p.visits[:0], p.visits[1:]...)
		}
		p.visits = append(p.visits, v)
		return nil
	}
	circle := append(slices.Clone(p.visits[i+1:]), v)
	p.visits = p.visits[:i+1]
	p.visits[i].At = v.At
	return circle
}

// OnlyTimes reports whether two versions of an object differ in nothing but
// times of day: what a heartbeat writes. Either may be of any kind.
func OnlyTimes(a, b any) bool {
	return !slices.ContainsFunc(differences(a, b), func(l difference.Leaf) bool {
		return !isTime(difference.JSON(l.Was)) || !isTime(difference.JSON(l.Is))
	})
}

// FirstDifference names the first field in which two versions of an object
// differ, as a JSON path, with both values; "" where they do not. What the server
// moves by itself does not count.
func FirstDifference(a, b any) (path, was, is string) {
	leaves := differences(a, b)
	if len(leaves) == 0 {
		return "", "", ""
	}
	return leaves[0].Path, difference.JSON(leaves[0].Was), difference.JSON(leaves[0].Is)
}

// moved are the metadata that the server moves by itself.
var moved = []string{"metadata.resourceVersion", "metadata.generation", "metadata.managedFields"}

// differences are where two objects differ, what the server moves left out.
func differences(a, b any) []difference.Leaf {
	return slices.DeleteFunc(difference.Of(content(a), content(b)), func(l difference.Leaf) bool {
		return slices.ContainsFunc(moved,
			func(m string) bool { return l.Path == m || strings.HasPrefix(l.Path, m+"[") })
	})
}

// content is the object itself of one that wraps a map.
func content(object any) any {
	if u, ok := object.(interface{ UnstructuredContent() map[string]any }); ok {
		return u.UnstructuredContent()
	}
	return object
}

func isTime(value string) bool {
	var s string
	if json.Unmarshal([]byte(value), &s) != nil {
		return false
	}
	_, err := time.Parse(time.RFC3339, s)
	return err == nil
}
