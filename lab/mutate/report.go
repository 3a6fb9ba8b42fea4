package mutate

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

type Score struct {
	Package                              string
	Mutants, Killed, Equivalent, Excused int // equivalent mutants are not among the excused ones
}

func (s *Score) Surviving() int { return s.Mutants - s.Killed - s.Equivalent - s.Excused }

// Percent is the share of killed mutants among those that are not equivalent.
func (s *Score) Percent() float64 {
	if s.Mutants == s.Equivalent {
		return 100
	}
	return 100 * float64(s.Killed) / float64(s.Mutants-s.Equivalent)
}

func (s *Score) count(f *Fate) {
	s.Mutants++
	switch {
	case f.Killed():
		s.Killed++
	case f.Excuse != nil && f.Excuse.Class == Equivalent:
		s.Equivalent++
	case f.Excuse != nil:
		s.Excused++
	}
}

const sum = "all"

// Scores returns the score of each package, and of all packages together.
func Scores(fates []*Fate) []Score {
	var list []Score
	total := Score{Package: sum}
	for _, f := range fates {
		i := slices.IndexFunc(list, func(s Score) bool { return s.Package == f.Package })
		if i < 0 {
			i = len(list)
			list = append(list, Score{Package: f.Package})
		}
		list[i].count(f)
		total.count(f)
	}
	return append(list, total)
}

// Survivors prints the survivors without an excuse. If all is set, it also prints the killed mutants with the checks
// that killed them.
func Survivors(w io.Writer, fates []*Fate, all bool) {
	for _, f := range fates {
		switch {
		case f.Killed() && all:
			fmt.Fprintf(w, killedBegins+"%s\n"+byBegins+"%s\n", f, strings.TrimSuffix(f.By+": "+f.Why, ": "))
		case f.Killed() || f.Excuse != nil:
		case f.Reached:
			fmt.Fprintf(w, "survives: %s\n", f)
		default:
			fmt.Fprintf(w, "survives: %s  (nothing reaches it)\n", f)
		}
	}
}

// Report prints unused excuses and the scores.
func Report(w io.Writer, fates []*Fate, stale []*Excuse) {
	for _, e := range stale {
		fmt.Fprintf(w, "needs no excuse: %s\n", e)
	}
	fmt.Fprintf(w, "%-40s %8s %8s %8s %8s %8s %8s\n", "package", "mutants", "killed", "equal", "excused", "survive",
		"score")
	for _, s := range Scores(fates) {
		fmt.Fprintf(w, "%-40s %8d %8d %8d %8d %8d %7.1f%%\n", s.Package, s.Mutants, s.Killed, s.Equivalent, s.Excused,
			s.Surviving(), s.Percent())
	}
}

func matches(pkg string, only []string) bool {
	return len(only) == 0 || slices.ContainsFunc(only, func(o string) bool {
		return pkg == o || strings.HasSuffix(pkg, "/"+o)
	})
}

// Class is the reason why a mutant may survive.
type Class string

// The classes. Equivalent mutants do not count in the score.
const (
	Equivalent  Class = "equivalent"  // no observer could tell the difference
	Cosmetic    Class = "cosmetic"    // the difference is in words, names or orders that nothing depends on
	Performance Class = "performance" // the difference is in work without effect
)

// Excuse allows mutants to survive if they match the patterns File, Func and What. A * matches any text.
type Excuse struct {
	File, Func string
	What       string // a pattern for [Mutation].What
	Class      Class
	Reason     string
}

func (e *Excuse) covers(m *Mutation) bool {
	return like(e.File, m.File) && like(e.Func, m.Func) && like(e.What, m.What)
}

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

// Forgive assigns to each survivor the first excuse that covers it. It returns the unused excuses of the packages that
// were tried. It skips excuses for several packages, because a package that was not tried may need them.
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
