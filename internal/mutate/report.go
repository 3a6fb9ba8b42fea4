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

// Scores are those of each package, and of all.
func Scores(fates []*Fate) []Score {
	var list []Score
	total := Score{Package: "all"}
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

// Report prints who survived and what that comes to.
func Report(w io.Writer, fates []*Fate, stale []*Excuse) {
	for _, f := range fates {
		if f.Killed() || f.Excuse != nil {
			continue
		}
		why := ""
		if !f.Reached {
			why = "  (nothing reaches it)"
		}
		fmt.Fprintf(w, "survives: %s%s\n", f, why)
	}
	for _, e := range stale {
		fmt.Fprintf(w, "needs no excuse: %s\n", e)
	}
	fmt.Fprintf(w, "%-40s %8s %8s %8s %8s %8s\n", "package", "mutants", "killed", "equal", "excused", "score")
	for _, s := range Scores(fates) {
		fmt.Fprintf(w, "%-40s %8d %8d %8d %8d %7.1f%%\n", s.Package, s.Mutants, s.Killed, s.Equivalent, s.Excused,
			s.Percent())
	}
}

// matches reports whether a package is asked for: all are without a word.
func matches(pkg string, only []string) bool {
	return len(only) == 0 || slices.ContainsFunc(only, func(o string) bool {
		return pkg == o || strings.HasSuffix(pkg, "/"+o)
	})
}
