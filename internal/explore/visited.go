package explore

// visited stores the visited states. For each state it stores a sleep set: the actions that were asleep at every visit,
// so they were never explored there.
type visited struct {
	at     map[uint64]uint32 // for each state, the index of its sleep set in sets; 0 is the empty set
	sets   []uint64          // the sleep sets: for each, its length and the hashes of its actions' keys
	finals map[uint64]bool   // final states; true if a run ended there without a violation

	// journal, if not nil, collects the states since the last mark.
	journal *Mark
}

func newVisited() *visited {
	return &visited{at: map[uint64]uint32{}, sets: []uint64{0}, finals: map[uint64]bool{}}
}

// sleep returns the stored sleep set of a state. The caller must not retain the slice.
func (v *visited) sleep(state uint64) (set []uint64, known bool) {
	at, known := v.at[state]
	n := v.sets[at]
	return v.sets[at+1 : at+1+uint32(n)], known
}

func (v *visited) enter(state uint64, sleep []uint64) {
	v.note(state, sleep)
	if len(sleep) == 0 {
		v.at[state] = 0
		return
	}
	v.at[state] = uint32(len(v.sets))
	v.sets = append(v.sets, uint64(len(sleep)))
	v.sets = append(v.sets, sleep...)
}

// narrow removes the actions that are not in keep from a state's sleep set.
func (v *visited) narrow(state uint64, keep []uint64) {
	at := v.at[state]
	if at == 0 {
		return
	}
	set, _ := v.sleep(state)
	n := 0
	for _, id := range set {
		if contains(keep, id) {
			set[n] = id
			n++
		}
	}
	v.sets[at] = uint64(n)
	v.note(state, set[:n])
}

// final stores a final state. A mark leaves out the final states of runs with violations. These runs end early, so
// their final states depend on the order of independent actions. Earlier runs determine which order is explored.
func (v *visited) final(state uint64, violation bool) {
	if !violation && !v.finals[state] && v.journal != nil {
		v.journal.Finals = append(v.journal.Finals, state)
	}
	v.finals[state] = v.finals[state] || !violation
}

func (v *visited) note(state uint64, sleep []uint64) {
	if v.journal != nil {
		v.journal.Table = append(append(v.journal.Table, state, uint64(len(sleep))), sleep...)
	}
}

// contains searches linearly, because sleep sets are small.
func contains(set []uint64, id uint64) bool {
	for _, x := range set {
		if x == id {
			return true
		}
	}
	return false
}

func subset(a, b []uint64) bool {
	for _, id := range a {
		if !contains(b, id) {
			return false
		}
	}
	return true
}
