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

// Excuse lets mutants survive: those of which all three patterns are true. In a pattern * is
// any text.
type Excuse struct {
	File, Func string
	What       string // as in [Mutation]
	Class      Class
	Reason     string
}

func (e *Excuse) covers(m *Mutation) bool {
	return like(e.File, m.File) && like(e.Func, m.Func) && like(e.What, m.What)
}

// like reports whether a text is like a pattern.
func like(pattern, text string) bool {
	if pattern == text {
		return true
	}
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return false
	}
	text, ok := strings.CutPrefix(text, parts[0])
	if !ok {
		return false
	}
	last := len(parts) - 1
	for _, p := range parts[1:last] {
		_, after, found := strings.Cut(text, p)
		if !found {
			return false
		}
		text = after
	}
	return strings.HasSuffix(text, parts[last])
}

func (e *Excuse) String() string { return e.File + " " + e.Func + ": " + e.What }

// Forgive gives survivors their excuses, the first that covers them, and returns those that
// nobody needs among the packages that were tried. One for the files of several packages may
// be needed elsewhere.
func Forgive(fates []*Fate, table []Excuse) (stale []*Excuse) {
	tried := map[string]bool{}
	for _, f := range fates {
		tried[f.Package] = true
	}
	for i := range table {
		e := &table[i]
		used := false
		for _, f := range fates {
			if f.Killed() || !e.covers(f.Mutation) {
				continue
			}
			used = true
			if f.Excuse == nil {
				f.Excuse = e
			}
		}
		if !used && !strings.Contains(e.File, "*") && tried[e.File[:max(strings.LastIndex(e.File, "/"), 0)]] {
			stale = append(stale, e)
		}
	}
	return stale
}
