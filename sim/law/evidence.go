package law

import "strings"

// Evidence is what the source of a history knows of a run. A law that needs more
// is not judged: it is neither held nor broken.
type Evidence uint8

// The sorts of evidence.
const (
	Commits    Evidence = 1 << iota // who wrote what, and what was refused
	Reads                           // what the writers had read: Read records, Saw
	Deliveries                      // what informers showed
	Syncs                           // SyncStart, SyncEnd, and For on all that is done in between
	Rest                            // Settled, Stuck and Fighting records, and who was down or held
	Table                           // which kinds the server knows: Judge.Kinds
	Queues                          // what informers enqueued, and whose expectations they lowered

	everything = Commits | Reads | Deliveries | Syncs | Rest | Table | Queues

	// ofPrograms is what is known of a whole program: see Actor.Opaque.
	ofPrograms = everything &^ (Syncs | Queues)
)

var evidenceNames = [...]string{"commits", "reads", "deliveries", "syncs", "rest", "table of kinds", "queues"}

// Names lists the sorts.
func (e Evidence) Names() []string {
	var names []string
	for i, n := range evidenceNames {
		if e&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	return names
}

// String lists the sorts: "commits, rest".
func (e Evidence) String() string { return strings.Join(e.Names(), ", ") }
