package law

import "github.com/threelaws/threelaws/sim"

// lawCheck is a law with its check for this run.
type lawCheck struct {
	law   *Law
	check Check
	count int
	asked int // how often the run exercised it
}

func (j *Judge) addCheck(l *Law) {
	j.checks = append(j.checks, lawCheck{law: l, check: l.New(j)})
}

// assignRecords decides which records are shown to which law: the evidence must suffice, and the law must apply to
// the process. It runs at the first record, when everything has been set.
func (j *Judge) assignRecords() {
	j.assigned, j.evidence = true, j.given()
	order := inOrder(j.checks)
	wants := make([]opSet, len(order))
	for i, n := range order {
		wants[i] = j.wants(&j.checks[n])
	}
	slab := make([]int, 0, 8*len(order)) // backing of all the lists: a judge is made for each run
	for opaque := range j.byOp {
		for p := range j.byOp[opaque] {
			for op := range numOps {
				from := len(slab)
				for i, n := range order {
					l := j.checks[n].law
					if wants[i].Wants(sim.Op(op)) && l.Profile <= Profile(p) && l.asks(opaque) {
						slab = append(slab, n)
					}
				}
				j.byOp[opaque][p][op] = slab[from:len(slab):len(slab)]
			}
		}
	}
}

// wants returns the operations whose records a law is shown: none if the evidence does not suffice.
func (j *Judge) wants(s *lawCheck) opSet {
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

// named orders the reports of one record, because only the first one is reported. Laws come in the order of the
// clause list, except those with a value here. ADOPT-8 comes first: that the owner was recreated says more than
// that the object was another's (LAW-1b, LAW-2). The laws with 1 come last, because they only say how a violation
// came about: a replaced list of owners (API-6), a collector that looks at controllers only (ORPHAN-4), a lost
// finalizer (FIN-1).
var named = map[string]int{"ADOPT-8": -1, "API-6": 1, "ORPHAN-4": 1, "FIN-1": 1}

// inOrder returns the indexes of the checks in this order.
func inOrder(checks []lawCheck) []int {
	places := make([]int, len(checks))
	order := make([]int, 0, len(checks))
	least, most := 0, 0
	for i := range checks {
		places[i] = named[checks[i].law.ID]
		least, most = min(least, places[i]), max(most, places[i])
	}
	for place := least; place <= most; place++ {
		for i := range checks {
			if places[i] == place {
				order = append(order, i)
			}
		}
	}
	return order
}
