package law

import (
	"slices"

	"github.com/threelaws/threelaws/internal/clause"
)

// All returns every law, in the order of the clause list. Two calls return the same values.
func All() []*Law { return slices.Clone(all) }

var all = cited(slices.Concat(apiLaws, threeLaws, fightLaws, adoptLaws, orphanLaws, watchLaws, writeLaws, gcLaws,
	finalizerLaws, namespaceLaws, restLaws, exactLaws))

func cited(laws []*Law) []*Law {
	for _, l := range laws {
		c := clause.ByID(l.ID)
		if c == nil {
			panic("law: " + l.Name + " is the law of no clause: " + l.ID)
		}
		l.Source = c.Source
	}
	return laws
}

// ByID returns the law of a clause ("LAW-2"), or nil.
func ByID(id string) *Law {
	for _, l := range all {
		if l.ID == id {
			return l
		}
	}
	return nil
}
