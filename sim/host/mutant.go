package host

// Mutant is a controller that breaks a rule on purpose, mostly one with a guard
// left out. A law that no mutant breaks is not known to see anything.
type Mutant struct {
	Name     string // "replicaset/skip-recheck"
	Clause   string // the clause that the guard serves: "ADOPT-4"
	Sentence string // what it does wrong
	// Law is the law that is to kill it, by its clause; "" if none does, as what it
	// does wrong is put right in the end.
	Law string

	Make func() Controller
}
