package clause

var watchClauses = []Clause{
	{ID: "WATCH-1", Kind: Routing, About: Owners, Before: "it routes by selector, to the oldest match",
		Source: "controller-ref.md, Watches",
		Sentence: "An event of an object with a ControllerRef enqueues that controller object (kind, name and UID " +
			"must match), and no other."},
	{ID: "WATCH-2", Kind: Routing, About: Owners, Before: "it routes by selector, to the oldest match",
		Source:   "controller-ref.md, Watches",
		Sentence: "Such an event changes only the expectations of that controller object."},
	{ID: "WATCH-3", Kind: Routing, About: Claimers, Before: "it routes by selector, to the oldest match",
		Source: "controller-ref.md, Watches",
		Sentence: "An update that removes or changes the ControllerRef enqueues the old owner. If the object is now " +
			"an orphan, it also enqueues every controller object that selects it."},
	{ID: "WATCH-4", Kind: Routing, About: Claimers, Before: "it routes by selector, to the oldest match",
		Source:   "controller-ref.md, Watches",
		Sentence: "A new orphan enqueues every controller object that selects it, and changes no expectations."},
	{ID: "WATCH-5", Kind: Routing, About: Claimers, Before: "it routes by selector, to the oldest match",
		Source:   "controller-ref.md, Watches",
		Sentence: "A deleted orphan enqueues nothing, and changes no expectations."},
	{ID: "WATCH-6", Kind: Routing, About: Claimers, Before: "it routes by selector, to the oldest match",
		Source: "controller-ref.md, Watches",
		Sentence: "An updated orphan enqueues every controller object that selects it if its labels changed, and " +
			"otherwise nothing."},
	{ID: "WATCH-7", Kind: Liveness, About: Anybody, Before: "the events that it expects are counted for another",
		Source:   "controller-ref.md, Watches",
		Sentence: "No controller waits forever for an expectation, through wrong routing, a restart or a missed delete."},
	{ID: "WATCH-8", Kind: Routing, About: Owners, Before: "it routes by selector, to the oldest match",
		Source: "controller-ref.md, Watches",
		Sentence: "Before ControllerRef, events were routed to the first match by creation time and name. The old " +
			"era does this, and is shown to route wrongly across kinds."},
}

var writeClauses = []Clause{
	{ID: "WRITE-1", Kind: Safety, About: Keyed, Source: "Writing Controllers, guideline 1",
		Sentence: "Two workers never sync one key at once. Changes during a sync are not lost."},
	{ID: "WRITE-2", Kind: Liveness, About: Wanting, Before: "it counts every object that it selects",
		Source:   "Writing Controllers, guideline 2",
		Sentence: "Controllers are correct with any order of events between different resources."},
	{ID: "WRITE-3", Kind: Liveness, About: Wanting, Before: "it counts every object that it selects",
		Source:   "Writing Controllers, guideline 3",
		Sentence: "Controllers are level-driven: correct after being off for any time, without any edge."},
	{ID: "WRITE-4", Kind: Data, About: Keyed, Source: "Writing Controllers, guideline 4",
		Sentence: "Controllers read through shared informers."},
	{ID: "WRITE-5", Kind: Safety, About: Anybody, Source: "Writing Controllers, guideline 5",
		Sentence: "A cached object is never changed in place. The report names the field and the controller."},
	{ID: "WRITE-6", Kind: Safety, About: Keyed, Source: "Writing Controllers, guideline 6",
		Sentence: "A process writes nothing before every cache that it reads has synced."},
	{ID: "WRITE-7", Kind: Liveness, About: Wanting, Before: "it counts every object that it selects",
		Source:   "Writing Controllers, guideline 7",
		Sentence: "Controllers are correct although others change objects at any moment."},
	{ID: "WRITE-8", Kind: Liveness, About: Anybody, Source: "Writing Controllers, guideline 8",
		Sentence: "An error is retried with backoff until the sync succeeds. It is never lost, and never retried in " +
			"a hot loop. Repeatedly failing pods are replaced with backoff too."},
	{ID: "WRITE-9", Kind: Liveness, About: Owners, Source: "Writing Controllers, guideline 9",
		Sentence: "A resync (an update with equal resourceVersion) causes no unneeded write."},
}
