package law

import "k8s.io/apimachinery/pkg/types"

// glimpse is what a process knew of an object until a change during a sync.
type glimpse struct {
	kind    string
	uid     types.UID
	owner   types.UID
	value   any
	cached  any
	version uint64
	record  int // of the change
}

// A journal of longJournal entries, and again one that has doubled, is cut to
// what the syncs at work can have seen: where several workers take turns it is
// never empty.
const longJournal = 256

// glimpses are the entries of a journal by object: the first of each, and for
// each entry the next of the same object, -1 for none.
type glimpses struct {
	first map[types.UID]int
	next  []int
}

// since lists the entries from a record on. The list is good until the next.
func (n *known) since(record int) *glimpses {
	s := &n.sorted
	clear(s.first)
	s.next = append(s.next[:0], make([]int, len(n.journal))...)
	for i := len(n.journal) - 1; i >= 0; i-- {
		if n.journal[i].record < record {
			continue
		}
		if s.first == nil {
			s.first = map[types.UID]int{}
		}
		uid := n.journal[i].uid
		s.next[i] = s.firstOf(uid)
		s.first[uid] = i
	}
	return s
}

// firstOf is the first entry of an object.
func (s *glimpses) firstOf(uid types.UID) int {
	if i, ok := s.first[uid]; ok {
		return i
	}
	return -1
}

// versionAt is the version of an object that a process knew at a record.
func (n *known) versionAt(uid types.UID, record int) uint64 {
	for i := range n.journal {
		if g := &n.journal[i]; g.uid == uid && g.record >= record {
			return g.version
		}
	}
	if e := n.byUID[uid]; e != nil {
		return e.version
	}
	return 0
}
