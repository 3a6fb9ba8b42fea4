package law

import "github.com/threelaws/threelaws/sim"

// seat is one law with its check of this run.
type seat struct {
	law   *Law
	check Check
	count int
	asked int // how often the law's subject matter came up
}

func (j *Judge) seat(l *Law) {
	j.seats = append(j.seats, seat{law: l, check: l.New(j)})
}

// convene decides which records which law is shown: it is one that the evidence
// is enough for, and that whoever acts owes. It waits for the first record, so that
// everything has been set by then.
func (j *Judge) convene() {
	j.open, j.evidence = true, j.given()
	order := inOrder(j.seats)
	wants := make([]opSet, len(order))
	for i, n := range order {
		wants[i] = j.wants(&j.seats[n])
	}
	slab := make([]int, 0, 8*len(order)) // of all the lists: a judge is made for each run
	for opaque := range j.byOp {
		for p := range j.byOp[opaque] {
			for op := range numOps {
				from := len(slab)
				for i, n := range order {
					l := j.seats[n].law
					if wants[i].Wants(sim.Op(op)) && l.Profile <= Profile(p) && l.asks(opaque) {
						slab = append(slab, n)
					}
				}
				j.byOp[opaque][p][op] = slab[from:len(slab):len(slab)]
			}
		}
	}
}

// wants are the operations whose records a law is shown: none where too little is
// known to ask it.
func (j *Judge) wants(s *seat) opSet {
	var all opSet
	if s.law.Needs&^j.evidence != 0 {
		return all
	}
	sel, some := s.check.(selective)
	for op := range sim.Op(numOps) {
		if !some || sel.Wants(op) {
			all |= ops(op)
		}
	}
	return all
}

// Of laws that break at one record the one that says what is wrong is named
// first: the first in the order of the clause list, but for those that say what
// such a breach amounts to. To take an object's only owner for none is first of
// all a wrong collection (GC-1, GC-5); that the owner was no controller says how it
// came about, as that a pod lost its finalizers says how an adoption went wrong, and that a
// list of owners was replaced how one came to take what was another's (API-6). And
// of who takes for his own what is a namesake's that is what to say: whose it is
// (LAW-1b, LAW-2) would be said with his own name.
var named = map[string]int{"ADOPT-8": -1, "API-6": 1, "ORPHAN-4": 1, "FIN-1": 1}

// inOrder lists the seats in the order in which their laws are asked, and named.
func inOrder(seats []seat) []int {
	places := make([]int, len(seats))
	order := make([]int, 0, len(seats))
	least, most := 0, 0
	for i := range seats {
		places[i] = named[seats[i].law.ID]
		least, most = min(least, places[i]), max(most, places[i])
	}
	for place := least; place <= most; place++ {
		for i := range seats {
			if places[i] == place {
				order = append(order, i)
			}
		}
	}
	return order
}
