package explore

import "slices"

// round tries every kind of simplification once, and reports whether the failure became smaller. Passes that remove
// something begin with large chunks, and end with single parts or entries. If a round changes nothing within the
// budget, no single removal helps.
func (s *shrinker) round() bool {
	gained := s.try(s.best.Removed, nil)
	gained = s.removeParts() || gained
	return s.simplify() || gained
}

// simplify tries to remove faults, deviations and decisions.
func (s *shrinker) simplify() bool {
	if s.size.deviations == 0 {
		return false // the run is already the default run
	}
	gained := s.each(faults, drop)
	gained = s.each(deviations, useDefault) || gained
	gained = s.each(deviations, drop) || gained
	gained = s.each(decisions, drop) || gained
	return s.postpone() || gained
}

func (s *shrinker) removeParts() bool {
	gained := false
	present := func() (at []int) {
		for i, gone := range s.best.Removed {
			if !gone {
				at = append(at, i)
			}
		}
		return at
	}
	for n := len(present()); n > 0; n /= 2 {
		for i := 0; !s.spent(); {
			at := present()
			if i >= len(at) {
				break
			}
			removed := slices.Clone(s.best.Removed)
			for _, j := range at[i:min(i+n, len(at))] {
				removed[j] = true
			}
			if s.try(removed, byKey(s.best.Schedule)) || s.try(removed, s.best.Schedule) || s.try(removed, nil) {
				gained = true
			} else {
				i += n
			}
		}
	}
	return gained
}

// faults, deviations and decisions select the entries that a pass edits.
func faults(e *Entry) bool     { return e.Fault() }
func deviations(e *Entry) bool { return !e.Default }
func decisions(*Entry) bool    { return true }

type edit struct {
	apply func(from Schedule, marked []int) Schedule
	drops bool // the edit removes entries, so the default of later entries may change
}

var (
	drop       = edit{dropped, true}
	useDefault = edit{defaulted, false}
)

// dropped removes the marked entries. The run may still take their actions later.
func dropped(from Schedule, marked []int) Schedule {
	to := make(Schedule, 0, len(from))
	for i, e := range from {
		if _, out := slices.BinarySearch(marked, i); !out {
			to = append(to, e)
		}
	}
	return to
}

// defaulted replaces the marked decisions by default decisions.
func defaulted(from Schedule, marked []int) Schedule {
	to := slices.Clone(from)
	for _, i := range marked {
		to[i].Default = true
		if to[i].Kind == Pick {
			to[i].Value = 0
		}
	}
	return to
}

// byKey clears Default in all entries, so that [Follow] takes the recorded actions, default or not.
func byKey(from Schedule) Schedule {
	to := slices.Clone(from)
	for i := range to {
		to[i].Default = false
	}
	return to
}

// each tries an edit, such as drop, on chunks of the entries for which chosen is true. Large chunks come first.
func (s *shrinker) each(chosen func(*Entry) bool, how edit) bool {
	gained := false
	places := func() (at []int) {
		for i := range s.best.Schedule {
			if chosen(&s.best.Schedule[i]) {
				at = append(at, i)
			}
		}
		return at
	}
	for n := len(places()); n > 0; n /= 2 {
		for i := 0; !s.spent(); { // copying a long schedule takes time even if try runs nothing
			at := places()
			if i >= len(at) {
				break
			}
			to := how.apply(s.best.Schedule, at[i:min(i+n, len(at))])
			if s.try(s.best.Removed, to) || how.drops && s.try(s.best.Removed, byKey(to)) {
				gained = true
			} else {
				i += n
			}
		}
	}
	return gained
}

// postpone swaps each deviation with its neighbours. In another order, the same actions may need fewer deviations.
func (s *shrinker) postpone() bool {
	gained := false
	for i := 0; i+1 < len(s.best.Schedule) && !s.spent(); {
		from := s.best.Schedule
		if from[i].Default && from[i+1].Default {
			i++
			continue
		}
		to := slices.Clone(from)
		to[i], to[i+1] = to[i+1], to[i]
		to[i].Default, to[i+1].Default = false, false
		if s.try(s.best.Removed, to) {
			gained = true
		} else {
			i++
		}
	}
	return gained
}
