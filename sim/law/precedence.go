package law

import (
	"cmp"
	"slices"
)

// Of laws that break at one record the one that says what is wrong is named
// first: the first in the order of the clause list, but for those that say what
// such a breach amounts to. To take an object's only owner for none is first of
// all a wrong collection (GC-1, GC-5); that the owner was no controller says how it
// came about, as that a pod lost its finalizers says how an adoption went wrong. And
// of who takes for his own what is a namesake's that is what to say: whose it is
// (LAW-1b, LAW-2) would be said with his own name.
var named = map[string]int{"ADOPT-8": -1, "ORPHAN-4": 1, "FIN-1": 1}

// inOrder lists the seats in the order in which their laws are asked, and named.
func inOrder(seats []seat) []int {
	order := make([]int, len(seats))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(named[seats[a].law.ID], named[seats[b].law.ID])
	})
	return order
}
