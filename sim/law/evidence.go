package law

import "strings"

// Evidence is the set of facts that the records contain. A law that needs a missing fact is not judged.
type Evidence uint8

const (
	Commits      Evidence = 1 << iota // writes and refusals, with their authors
	Reads                             // Read records, and Saw: what the writers had read
	Deliveries                        // Delivery records: the events that informers received
	Syncs                             // SyncStart and SyncEnd records, and the field For of all records between them
	SettledWorld                      // Settled, Stuck and Fighting records, and which processes were down or paused
	Table                             // the kinds that the server knows: Judge.Kinds
	Queues                            // keys that event handlers enqueued, and keys whose expectations they lowered
	Insides                           // errors of reconciles, changes of objects in caches, and when caches are full

	everything = Commits | Reads | Deliveries | Syncs | SettledWorld | Table | Queues | Insides

	// ofPrograms is the evidence about a whole program ([Actor].Opaque).
	ofPrograms = everything &^ (Syncs | Queues | Insides)
	// ofAnnounced is the evidence about the announced reconciles of a program ([Actor].Announces).
	ofAnnounced = everything &^ (Queues | Insides)
)

var evidenceNames = [...]string{"commits", "reads", "deliveries", "syncs", "settled world", "table of kinds", "queues", "insides"}

// Names returns the names of the facts.
func (e Evidence) Names() []string {
	var names []string
	for i, n := range evidenceNames {
		if e&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	return names
}

// String returns the names in one line: "commits, settled world".
func (e Evidence) String() string { return strings.Join(e.Names(), ", ") }
