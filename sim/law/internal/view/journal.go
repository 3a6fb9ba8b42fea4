package view

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// Journal is what a process knew of objects until they changed during the syncs
// that are at work: a law may ask what a worker can have gone by at any moment of
// its sync.
type Journal struct {
	Entries []Glimpse
	kept    int    // entries that were kept when it was last cut
	sorted  Sorted // only good while a law looks at it
}

// Glimpse is what a process knew of an object until a change during a sync.
type Glimpse struct {
	Kind    string
	UID     types.UID
	Owner   types.UID
	Value   any
	Cached  any
	Version uint64
	Record  int // of the change
}

// A journal of LongJournal entries, and again one that has doubled, is cut to
// what the syncs at work can have seen: where several workers take turns it is
// never empty.
const LongJournal = 256

// Long reports whether it is time to cut.
func (j *Journal) Long() bool { return len(j.Entries) >= max(LongJournal, 2*j.kept) }

// Cut drops what was so before a record.
func (j *Journal) Cut(record int) {
	j.Entries = slices.DeleteFunc(j.Entries, func(g Glimpse) bool { return g.Record < record })
	j.kept = len(j.Entries)
}

// Clear begins it anew.
func (j *Journal) Clear() {
	clear(j.Entries)
	j.Entries, j.kept = j.Entries[:0], 0
}

// Note keeps what was known of an object until a record.
func (j *Journal) Note(e *Sight, record int) {
	j.Entries = append(j.Entries, Glimpse{e.Kind, e.UID, e.Owner, e.Value, e.Cached, e.Version, record})
}

// Sorted are the entries of a journal by object: the first of each, and for
// each entry the next of the same object, -1 for none.
type Sorted struct {
	first map[types.UID]int
	next  []int
}

// Since lists the entries from a record on. The list is good until the next.
func (j *Journal) Since(record int) *Sorted {
	s := &j.sorted
	clear(s.first)
	s.next = append(s.next[:0], make([]int, len(j.Entries))...)
	for i := len(j.Entries) - 1; i >= 0; i-- {
		if j.Entries[i].Record < record {
			continue
		}
		if s.first == nil {
			s.first = map[types.UID]int{}
		}
		uid := j.Entries[i].UID
		s.next[i] = s.First(uid)
		s.first[uid] = i
	}
	return s
}

// First is the first entry of an object, -1 for none.
func (s *Sorted) First(uid types.UID) int {
	if i, ok := s.first[uid]; ok {
		return i
	}
	return -1
}

// Next is the entry of the same object after one.
func (s *Sorted) Next(entry int) int { return s.next[entry] }
