// Package clause is the list of clauses: every sentence of the source documents
// that a program can be held to. It is data. The laws (sim/law) take from it what
// kind of clause they check and where it comes from; docs/evidence/clauses.md and
// the evidence of module lab are made from it, the laws, the mutants and the scenarios.
package clause

// Clause is one sentence that a program can be held to.
type Clause struct {
	ID       string // "ADOPT-4"; the law that checks it has the same
	Kind     Kind
	Sentence string // what must hold, in Markdown
	Source   string // the document and its section
	About    About  // whose doing it is
	Only     []string
	// Before is why controllers from before ControllerRef may break it; "" where
	// they must not either.
	Before string
	// Tests are those that pin it beside laws and scenarios: "fakeapi.TestPreconditions".
	Tests []string
	// Cases are recorded cases of the real server, below fakeapi/testdata/vectors:
	// how their paths begin.
	Cases   []string
	Lacking string // what of it nothing covers, and why; "" for nothing
}

// Kind is how a clause can be checked.
type Kind byte

// The kinds of clause.
const (
	Safety     Kind = 'S' // at every step
	Liveness   Kind = 'L' // at rest, or by finding a cycle
	Routing    Kind = 'R' // by what an event enqueues
	Validation Kind = 'V' // by what the API server accepts
	Data       Kind = 'D' // by what is stored
	Crossing   Kind = 'X' // from one era to another
	Seen       Kind = 'U' // by what a user sees
)

// About is whose doing a clause is.
type About byte

// Whose doing a clause can be.
const (
	Anybody    About = iota // any controller
	Keyed                   // who syncs objects of one kind
	Owners                  // who has dependents
	Claimers                // who selects dependents
	Wanting                 // who says how many dependents there are to be
	Identified              // whose dependents have an identity
	Counting                // whose status counts dependents
	Finalizing              // who takes finalizers off
	Collector               // the garbage collector
	Drainer                 // the namespace controller
	Named                   // the controllers of Only
	Eras                    // who has more than one era
	Server                  // the API server: no controller can break it
	Tool                    // this tool, or kubectl
)

// Section is the clauses on one subject.
type Section struct {
	Title   string
	Clauses []Clause
}

// Sections returns the list, by subject.
func Sections() []Section {
	return []Section{
		{"API: the ControllerRef field", apiClauses},
		{"LAW: the three laws", lawClauses},
		{"NOFIGHT: nobody fights", nofightClauses},
		{"ADOPT: adoption", adoptClauses},
		{"ORPHAN: release and deletion", orphanClauses},
		{"WATCH: routing of events", watchClauses},
		{"GCPOLICY: default deletion policy", gcpolicyClauses},
		{"KIND: one controller each", kindClauses},
		{"CREATEDBY: who made an object", createdbyClauses},
		{"UPGRADE: to a later era of the controller manager", upgradeClauses},
		{"DOWNGRADE: and back", downgradeClauses},
		{"SKEW: two eras at once", skewClauses},
		{"CHECKLIST: the proposal's own", checklistClauses},
		{"JOBSEL: Job selector generation", jobselClauses},
		{"WRITE: Writing Controllers", writeClauses},
		{"GC: the garbage collector", gcClauses},
		{"EXACT: what no rest shows (nothing in between may be overdone, stuck or misdirected)", exactClauses},
		{"NS: namespaces", nsClauses},
		{"FIN: finalizers", finClauses},
		{"KCM: the controller manager", kcmClauses},
	}
}

// All returns every clause, in the order of the list.
func All() []*Clause {
	var all []*Clause
	for _, s := range Sections() {
		for i := range s.Clauses {
			all = append(all, &s.Clauses[i])
		}
	}
	return all
}

// ByID finds a clause, nil when there is none.
func ByID(id string) *Clause {
	for _, s := range Sections() {
		for i := range s.Clauses {
			if s.Clauses[i].ID == id {
				return &s.Clauses[i]
			}
		}
	}
	return nil
}
