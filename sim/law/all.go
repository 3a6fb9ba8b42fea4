package law

import "slices"

// All returns every law, in a fixed order: the order of the clause list. Two
// calls return the same values.
func All() []*Law { return slices.Clone(all) }

var all = slices.Concat(apiLaws, threeLaws, fightLaws, adoptLaws, orphanLaws, watchLaws, writeLaws, gcLaws,
	finalizerLaws, namespaceLaws, placeLaws, restLaws, exactLaws)

// ByID returns the law of a clause ("LAW-2"), nil when there is none.
func ByID(id string) *Law {
	for _, l := range all {
		if l.ID == id {
			return l
		}
	}
	return nil
}
