package check

import (
	"errors"
	"slices"
)

// errLate is the error of quiet runs that are left out or cut short because Operator.Hurry returned true.
var errLate = errors.New("no time was left")

// probe finds out a fact about the controller in quiet runs.
type probe struct {
	fact  string
	look  func(*operator) error
	cases []string // the cases that are left out without the fact: they would be empty, or report a right controller
	part  bool     // a part of the fact is enough for a case that would not be skipped
}

// limit makes quiet runs fail with errLate when Hurry returns true, until undo is called.
func (s *operator) limit() (undo func()) {
	over := s.over
	s.over = func() error {
		if err := over(); err != nil || s.Hurry == nil || !s.Hurry() {
			return err
		}
		return errLate
	}
	return func() { s.over = over }
}

// probes are probes that the end of the time has cut short.
type probes []probe

// needed returns the reason why a case is left out for lack of time, or "". skipped says whether it would be skipped.
func (all probes) needed(name string, skipped bool) string {
	for _, p := range all {
		if slices.Contains(p.cases, name) && (skipped || !p.part) {
			return errLate.Error() + " to find out " + p.fact
		}
	}
	return ""
}
