package host

// Mutant is a controller that violates a rule on purpose. Most leave out one guard. A law that no mutant
// violates is not known to find anything.
type Mutant struct {
	Name     string // "replicaset/skip-recheck"
	Clause   string // the clause that the guard serves: "ADOPT-4"
	Sentence string // what it does wrong
	// Law is the clause of the law that is to kill it; "" if none does, because the mistake is corrected in
	// the end.
	Law string

	Make func() Controller
}
