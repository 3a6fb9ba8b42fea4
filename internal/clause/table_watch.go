package clause

var watchClauses = []Clause{
	{ID: "WATCH-1", Kind: Routing, About: Owners, Before: "it routes by selector and tie-break",
		Source: "controller-ref.md, Watches",
		Sentence: "Event on an object with a ControllerRef: sync the referenced controller (kind, name and uid must " +
			"match), nobody else."},
	{ID: "WATCH-2", Kind: Routing, About: Owners, Before: "it routes by selector and tie-break",
		Source:   "controller-ref.md, Watches",
		Sentence: "...and only its expectations are moved."},
	{ID: "WATCH-3", Kind: Routing, About: Claimers, Before: "it routes by selector and tie-break",
		Source: "controller-ref.md, Watches",
		Sentence: "Update that removes or changes the ControllerRef: the old owner is synced, and if the " +
			"object is now " +
			"an orphan every controller whose selector matches."},
	{ID: "WATCH-4", Kind: Routing, About: Claimers, Before: "it routes by selector and tie-break",
		Source:   "controller-ref.md, Watches",
		Sentence: "Add of an orphan: sync every matching controller; expectations untouched."},
	{ID: "WATCH-5", Kind: Routing, About: Claimers, Before: "it routes by selector and tie-break",
		Source:   "controller-ref.md, Watches",
		Sentence: "Delete of an orphan: sync nobody; expectations untouched."},
	{ID: "WATCH-6", Kind: Routing, About: Claimers, Before: "it routes by selector and tie-break",
		Source:   "controller-ref.md, Watches",
		Sentence: "Update of an orphan: sync every matching controller if labels changed, nobody otherwise."},
	{ID: "WATCH-7", Kind: Liveness, About: Anybody, Before: "what it waits for is credited to another",
		Source: "controller-ref.md, Watches",
		Sentence: "No controller waits for ever on an expectation (no hang through misrouting, restart, or a missed " +
			"delete)."},
	{ID: "WATCH-8", Kind: Routing, About: Owners, Before: "it routes by selector and tie-break",
		Source: "controller-ref.md, Watches",
		Sentence: "Tie-break routing by (creation time, name) is the pre-ControllerRef behaviour; it is modelled in " +
			"the old era and shown to misroute across kinds."},
}

var writeClauses = []Clause{
	{ID: "WRITE-1", Kind: Safety, About: Keyed, Source: "Writing Controllers, guideline 1",
		Sentence: "One key is never synced by two workers at once; changes while it runs are not lost."},
	{ID: "WRITE-2", Kind: Liveness, About: Wanting, Before: "it counts whatever it selects",
		Source:   "Writing Controllers, guideline 2",
		Sentence: "Correct under any order of events between different resources."},
	{ID: "WRITE-3", Kind: Liveness, About: Wanting, Before: "it counts whatever it selects",
		Source:   "Writing Controllers, guideline 3",
		Sentence: "Level-driven: correct after being off for any time; no edge is needed."},
	{ID: "WRITE-4", Kind: Data, About: Keyed, Source: "Writing Controllers, guideline 4",
		Sentence: "Controllers read through shared informers."},
	{ID: "WRITE-5", Kind: Safety, About: Anybody, Source: "Writing Controllers, guideline 5",
		Sentence: "A cached object is never mutated (detected, with the field and the culprit)."},
	{ID: "WRITE-6", Kind: Safety, About: Keyed, Source: "Writing Controllers, guideline 6",
		Sentence: "No write before every cache it reads has synced."},
	{ID: "WRITE-7", Kind: Liveness, About: Wanting, Before: "it counts whatever it selects",
		Source:   "Writing Controllers, guideline 7",
		Sentence: "Correct although others change objects at any moment."},
	{ID: "WRITE-8", Kind: Liveness, About: Anybody, Source: "Writing Controllers, guideline 8",
		Sentence: "An error is retried with backoff until it succeeds; never lost, never hot-looping. So is a pod " +
			"that fails again and again."},
	{ID: "WRITE-9", Kind: Liveness, About: Owners, Source: "Writing Controllers, guideline 9",
		Sentence: "A resync (update with equal resourceVersion) causes no wasted write."},
}
