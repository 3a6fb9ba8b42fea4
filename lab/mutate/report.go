package mutate

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Score counts the mutants of a package.
type Score struct {
	Package                              string
	Mutants, Killed, Equivalent, Excused int // the equivalent ones are not among those excused
}

// Surviving are those that live without an excuse.
func (s *Score) Surviving() int { return s.Mutants - s.Killed - s.Equivalent - s.Excused }

// Percent is how many of those that are not equivalent were killed.
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

// sum is what the row of all packages is called.
const sum = "all"

// Scores are those of each package, and of all.
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

// Survivors prints who survived without an excuse, and what killed the others where that is asked for.
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

// Report prints which excuses nobody needs, and what it all comes to.
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

// matches reports whether a package is asked for: all are without a word.
func matches(pkg string, only []string) bool {
	return len(only) == 0 || slices.ContainsFunc(only, func(o string) bool {
		return pkg == o || strings.HasSuffix(pkg, "/"+o)
	})
}
