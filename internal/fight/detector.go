// Package fight tells a world that fights from one that comes to rest: by a state that
// recurs ([Detector]), and by what it is that two versions of an object differ in
// ([OnlyTimes], [FirstDifference]), where no state recurs and the writing goes on.
package fight

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

// place is a process's place in names.
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
