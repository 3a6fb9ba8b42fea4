package clause

var upgradeClauses = []Clause{
	{ID: "UPGRADE-1", Kind: Crossing, About: Eras, Source: "controller-ref.md, Upgrading",
		Tests: []string{"controllers.TestEras"},
		Sentence: "Without overlapping selectors, upgrade and downgrade change nothing that a user sees, at any " +
			"moment and in any order of the processes. They create and delete no object. After an upgrade " +
			"every dependent has an owner."},
	{ID: "UPGRADE-2", Kind: Crossing, About: Eras, Source: "controller-ref.md, Upgrading",
		Tests:    []string{"controllers.TestEras"},
		Sentence: "Overlap: a fight before the upgrade stops after it."},
	{ID: "UPGRADE-3", Kind: Crossing, About: Eras, Source: "controller-ref.md, Upgrading",
		Tests: []string{"controllers.TestEras"},
		Sentence: "Overlap: adoption races may change owners at the upgrade, and split the pods of an owner. The " +
			"report says which."},
	{ID: "UPGRADE-4", Kind: Crossing, About: Eras, Source: "controller-ref.md, Upgrading",
		Tests:    []string{"controllers.TestEras"},
		Sentence: "Overlap: additional objects may be created after the upgrade (Don't share). The run predicts how many."},
}

var downgradeClauses = []Clause{
	{ID: "DOWNGRADE-1", Kind: Crossing, About: Eras, Source: "controller-ref.md, Upgrading",
		Tests:    []string{"controllers.TestEras"},
		Sentence: "Overlap: after a downgrade controllers may fight again. The output shows the cycle."},
	{ID: "DOWNGRADE-2", Kind: Crossing, About: Eras, Source: "controller-ref.md, Upgrading",
		Tests:    []string{"controllers.TestEras"},
		Sentence: "Overlap: after a downgrade objects may be deleted. The report says which, and by which controller."},
}

var skewClauses = []Clause{
	{ID: "SKEW-1", Kind: Crossing, About: Eras, Source: "controller-ref.md, Upgrading",
		Tests:    []string{"controllers.TestEras"},
		Sentence: "Two eras at once (a rolling upgrade, a slow leader change) keep the same bounds."},
}

var checklistClauses = []Clause{
	{ID: "CHECKLIST", Kind: Seen, About: Tool, Source: "controller-ref.md, Implementation",
		Sentence: "The tool prints the proposal's implementation checklist (one row for each controller and " +
			"capability) from the results of its checks. Nobody writes it by hand.",
		Tests: []string{"lab/conform.TestControllersKeepTheClauses"}},
}
