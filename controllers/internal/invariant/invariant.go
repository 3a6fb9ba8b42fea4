// Package invariant holds the invariants that several controllers share. Each controller passes its own check.
package invariant

import "github.com/threelaws/threelaws/sim/law"

// NeededObjects returns the invariant needed-objects-exist. It is for controllers whose dependents need other objects,
// such as a revision or a claim.
func NeededObjects(check func(f *law.Facts) string) *law.Invariant {
	return &law.Invariant{
		ID: "needed-objects-exist",
		Sentence: "(a) No dependent is created without the objects that it needs, or while one of them is " +
			"terminating. (b) What an existing dependent needs is not deleted.",
		When: law.BeforeCreate, Check: check,
	}
}

// Bounds returns the invariant stay-within-bounds. It is for controllers that roll out a template or scale down.
func Bounds(check func(f *law.Facts) string) *law.Invariant {
	return &law.Invariant{
		ID: "stay-within-bounds",
		Sentence: "(a) A rollout or scale-down requests at most the wanted number plus the surge. (b) It removes no " +
			"working dependent if too few would be left, or before its successor is due. (c) It creates nothing " +
			"before the objects that must be removed first are gone. How a change of the owner's size is " +
			"distributed is not checked.",
		When: law.AtWrite, Check: check,
	}
}
