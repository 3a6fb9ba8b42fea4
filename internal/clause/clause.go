// Package clause lists the clauses. A clause is a sentence of the source documents that a program can be checked
// against. The package contains only data. If a law checks a clause, the sentence is in the law (sim/law), and the
// source is in the clause. docs/evidence/clauses.md and the evidence of module lab are generated from clauses and laws.
package clause

import (
	"regexp"
	"slices"
	"strconv"
)

// Clause is one sentence that a program can be checked against.
type Clause struct {
	ID string // "ADOPT-4"; the law that checks the clause has the same ID
	// Invariant is the ID of the invariant that checks the clause, if the clause concerns only some controllers. The
	// invariant is in their contracts; see package controllers.
	Invariant string
	Category  Category
	// Sentence is the rule, in Markdown. If a law or an invariant checks the clause, the rule is the sentence of that
	// law or invariant. Then this field contains only additional rules that recorded cases check.
	Sentence string
	Source   string   // document and section
	About    About    // the actors that the clause concerns
	Only     []string // the controllers that the clause concerns, if About is Named
	// Before says why eras (versions of a controller) before ControllerRef may violate the clause; "" if they may not.
	Before string
	// Tests lists tests that check the clause in addition to laws and scenarios: "fakeapi.TestPreconditions".
	Tests []string
	// Cases lists prefixes of cases recorded from the real server, below fakeapi/testdata/vectors.
	Cases   []string
	Lacking string // the part that nothing checks, and why; "" for none
}

// Category says how a clause can be checked.
type Category byte

const (
	Safety     Category = 'S' // checked at every step
	Liveness   Category = 'L' // checked when the world has settled, or when a cycle is found
	Routing    Category = 'R' // checked for events: which keys they enqueue
	Validation Category = 'V' // checked for requests: whether the API server accepts them
	Data       Category = 'D' // checked on stored objects
	Crossing   Category = 'X' // checked when the era changes
	Seen       Category = 'U' // checked for the output that a user sees
)

// About names the actors that a clause concerns.
type About byte

const (
	Anybody    About = iota // any controller
	Keyed                   // controllers that reconcile objects of one kind
	Owners                  // controllers with dependents
	Claimers                // controllers that adopt dependents by a selector
	Wanting                 // controllers whose owners want a number of dependents
	Identified              // controllers whose dependents have an identity, such as an ordinal
	Counting                // controllers whose status counts dependents
	Finalizing              // controllers that remove finalizers
	Collector               // the garbage collector
	Drainer                 // the namespace controller
	Named                   // the controllers in Clause.Only
	Eras                    // controllers with more than one era
	Server                  // the API server; controllers cannot violate the clause
	Tool                    // this tool, or kubectl
)

// Section contains the clauses on one subject.
type Section struct {
	Title   string
	Clauses []Clause
}

// Sections returns all clauses by subject.
func Sections() []Section {
	return []Section{
		{"API: the ControllerRef field", apiClauses},
		{"LAW: the three laws", lawClauses},
		{"NOFIGHT: controllers do not fight", nofightClauses},
		{"ADOPT: adoption", adoptClauses},
		{"ORPHAN: release and deletion", orphanClauses},
		{"WATCH: routing of events", watchClauses},
		{"GCPOLICY: default deletion policy", gcpolicyClauses},
		{"KIND: one controller each", kindClauses},
		{"CREATEDBY: the controller of an object, for users", createdbyClauses},
		{"UPGRADE: to a later era of the controller manager", upgradeClauses},
		{"DOWNGRADE: to an earlier era", downgradeClauses},
		{"SKEW: two eras at once", skewClauses},
		{"CHECKLIST: the proposal's checklist", checklistClauses},
		{"JOBSEL: Job selector generation", jobselClauses},
		{"WRITE: Writing Controllers", writeClauses},
		{"GC: the garbage collector", gcClauses},
		{"EXACT: no write is excessive, stuck or misdirected, also before the world settles", exactClauses},
		{"NS: namespaces", nsClauses},
		{"FIN: finalizers", finClauses},
		{"KCM: the controller manager", kcmClauses},
	}
}

// All returns every clause, in the order of [Sections].
func All() []*Clause {
	var all []*Clause
	for _, s := range Sections() {
		for i := range s.Clauses {
			all = append(all, &s.Clauses[i])
		}
	}
	return all
}

// ByID returns the clause whose ID or Invariant equals id; nil if there is none.
func ByID(id string) *Clause {
	for _, s := range Sections() {
		for i := range s.Clauses {
			if c := &s.Clauses[i]; c.ID == id || c.Invariant == id && id != "" {
				return &s.Clauses[i]
			}
		}
	}
	return nil
}

// names matches names of clauses: "LAW-2", "ADOPT-4b", "WATCH-1..6", "KIND-DS".
var names = regexp.MustCompile(`\b([A-Z]+(?:-[A-Z]+)*)(?:-(\d+)([a-z]?)(?:\.\.(\d+))?)?`)

// In lists the IDs of the clauses that a text names, without duplicates. A range such as WATCH-1..6 stands for all its
// clauses. A name with a number is listed even if there is no such clause.
func In(text string) []string {
	var ids []string
	add := func(id string) {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, m := range names.FindAllStringSubmatch(text, -1) {
		if m[2] == "" {
			if ByID(m[1]) != nil {
				add(m[1])
			}
			continue
		}
		first, _ := strconv.Atoi(m[2])
		last := first
		if m[4] != "" {
			last, _ = strconv.Atoi(m[4])
		}
		for n := first; n <= last && n < first+100; n++ {
			add(m[1] + "-" + strconv.Itoa(n) + m[3])
		}
	}
	return ids
}
