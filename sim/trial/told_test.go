package trial

import (
	"testing"

	"github.com/threelaws/threelaws/sim"
)

// An Event that is told again and again is no fight, and no work; any other object is.
func TestEventsOnlyTell(t *testing.T) {
	for kind, endless := range map[string]bool{"Event": false, "ConfigMap": true} {
		var g growth
		var r resting
		ref := sim.Ref{Kind: kind, Namespace: "default", Name: "a"}
		for i := range growthFrom + growthMost {
			rec := sim.Record{Op: sim.Commit, Index: i, Process: "p", Verb: "patch", Object: ref}
			rec.Before, rec.After = i, i+1
			g.note(&rec)
			r.note(&rec, false)
		}
		if (g.hit != nil) != endless || r.changed != endless {
			t.Errorf("%s: written for ever: %t, changed: %t", kind, g.hit != nil, r.changed)
		}
	}
}
