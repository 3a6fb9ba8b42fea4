package audit

import (
	"fmt"
	"slices"
	"time"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
)

// Owned lists the objects that have an owner or are one, at the end of the log, sorted by kind, namespace and name.
func (a *Auditor) Owned() []render.Object {
	var all []render.Object
	var within []sim.Ref
	for _, n := range a.store.objects {
		if n.now == nil || n.kind == "" {
			continue
		}
		o := render.Object{Ref: n.ref(), Owners: render.Owners(n.now), Deleting: n.now.deleting()}
		all = append(all, o)
		if len(o.Owners) > 0 {
			within = append(within, o.Ref)
		}
	}
	slices.SortFunc(all, func(x, y render.Object) int { return render.CompareRefs(x.Ref, y.Ref) })
	return render.Related(all, within...)
}

// clockOnly is the year of the times that ParseUntil returns for a time of day.
const clockOnly = 1

// ParseUntil reads a time, or a time of day on the first day of the log.
func ParseUntil(text string) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return at, nil
	}
	for _, layout := range []string{"15:04:05.999999999", "15:04"} {
		if at, err := time.Parse(layout, text); err == nil {
			return time.Date(clockOnly, 1, 1, at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), time.UTC), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time: want 2026-11-21T10:02:30Z, or 10:02:30", text)
}

// until returns when to stop, for a log that begins at a time.
func (a *Auditor) until(begins time.Time) time.Time {
	u := a.Until
	if u.Year() == clockOnly && !u.IsZero() {
		y, m, d := begins.UTC().Date()
		a.Until = time.Date(y, m, d, u.Hour(), u.Minute(), u.Second(), u.Nanosecond(), time.UTC)
	}
	return a.Until
}
