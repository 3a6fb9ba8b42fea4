package law

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
