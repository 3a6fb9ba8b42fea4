package mutate

import "strings"

// Class is why a mutant may survive.
type Class string

// The classes. What is equivalent is no mutant at all, and does not count.
const (
	Equivalent  Class = "equivalent"  // nobody could tell the difference
	Cosmetic    Class = "cosmetic"    // the difference is in words, names or orders that nothing depends on
	Performance Class = "performance" // the difference is in work that is done in vain
)

// Excuse lets mutants survive.
type Excuse struct {
	File, Func string
	What       string // as in [Mutation]; "*" for all of the function
	Class      Class
	Reason     string
}

func (e *Excuse) covers(m *Mutation) bool {
	return e.File == m.File && e.Func == m.Func && (e.What == "*" || e.What == m.What)
}

func (e *Excuse) String() string { return e.File + " " + e.Func + ": " + e.What }

// Forgive gives survivors their excuses, and returns those that nobody needs among
// the packages that were tried.
func Forgive(fates []*Fate, table []Excuse) (stale []*Excuse) {
	tried := map[string]bool{}
	for _, f := range fates {
		tried[f.Package] = true
	}
	for i := range table {
		e := &table[i]
		used := false
		for _, f := range fates {
			if !f.Killed() && e.covers(f.Mutation) {
				f.Excuse, used = e, true
			}
		}
		if !used && tried[e.File[:max(strings.LastIndex(e.File, "/"), 0)]] {
			stale = append(stale, e)
		}
	}
	return stale
}
