package clause

var upgradeClauses = []Clause{
	{ID: "UPGRADE-1", Kind: Crossing, About: Eras, Source: "controller-ref.md, Upgrading",
		Tests: []string{"controllers.TestEras"},
		Sentence: "No overlapping selectors: upgrade and downgrade, at any moment and in any order of the processes, " +
			"change nothing a user sees (no object created or deleted because of it); every dependent ends up " +
			"owned after an upgrade."},
	{ID: "UPGRADE-2", Kind: Crossing, About: Eras, Source: "controller-ref.md, Upgrading",
		Tests:    []string{"controllers.TestEras"},
		Sentence: "Overlap: fighting that goes on before the upgrade stops after it."},
	{ID: "UPGRADE-3", Kind: Crossing, About: Eras, Source: "controller-ref.md, Upgrading",
		Tests: []string{"controllers.TestEras"},
		Sentence: "Overlap: ownership may change at the upgrade by adoption races, families may be split; the report " +
			"says which."},
	{ID: "UPGRADE-4", Kind: Crossing, About: Eras, Source: "controller-ref.md, Upgrading",
		Tests:    []string{"controllers.TestEras"},
		Sentence: "Overlap: extra objects may be created after the upgrade (Don't share); the run predicts how many."},
}

var downgradeClauses = []Clause{
	{ID: "DOWNGRADE-1", Kind: Crossing, About: Eras, Source: "controller-ref.md, Upgrading",
		Tests:    []string{"controllers.TestEras"},
		Sentence: "Overlap: after a downgrade controllers may fight and thrash again; the harness shows the cycle."},
	{ID: "DOWNGRADE-2", Kind: Crossing, About: Eras, Source: "controller-ref.md, Upgrading",
		Tests:    []string{"controllers.TestEras"},
		Sentence: "Overlap: after a downgrade objects may be deleted; the report says which and by whom."},
}

var skewClauses = []Clause{
	{ID: "SKEW-1", Kind: Crossing, About: Eras, Source: "controller-ref.md, Upgrading",
		Tests:    []string{"controllers.TestEras"},
		Sentence: "Two eras at once (a rolling upgrade, a slow leader hand-over) obey the same bounds."},
}

var checklistClauses = []Clause{
	{ID: "CHECKLIST", Kind: Seen, About: Tool, Source: "controller-ref.md, Implementation",
		Sentence: "The proposal's implementation checklist (one row for each controller and capability) is " +
			"printed by " +
			"the tool from what its checks found, not written by hand.",
		Tests: []string{"lab/conform.TestControllersKeepTheClauses"}},
}
