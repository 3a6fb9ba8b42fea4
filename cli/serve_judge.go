package cli

import (
	"slices"
	"strings"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law"
)

// reporter tells of each law that is broken while a server runs: once for each controller
// that breaks it, and of a fight once for those that take part in it.
type reporter struct {
	judge *law.Judge
	told  map[string]bool
	wrote [cyclesBack]writeOf // the last writes, by where their records stand
	tell  func(verdict)
}

// verdict is a law that is broken, by whom, and with which write.
type verdict struct {
	breach *law.Breach
	by     []string
	object string
}

// writeOf is who made a write.
type writeOf struct {
	record  int
	process string
}

// cyclesBack is how far back the writes of a fight are looked for.
const cyclesBack = 1 << 12

func newReporter(judge *law.Judge, tell func(verdict)) *reporter {
	return &reporter{judge: judge, told: map[string]bool{}, tell: tell}
}

// Observe looks at the breaches that a record made. They are forgotten then: the judge
// keeps so many of a law, and the first of another controller may be one more.
func (r *reporter) Observe(rec *sim.Record) {
	if rec.Op == sim.Commit {
		r.wrote[rec.Index%cyclesBack] = writeOf{rec.Index, rec.Process}
	}
	all := r.judge.Breaches()
	for i := range all {
		b := &all[i]
		if b.Strength != law.Informed {
			continue
		}
		v := verdict{breach: b, by: r.fighters(b)}
		if b.Controller != "" {
			v.by = []string{b.Controller}
		}
		if b.Record == rec.Index && rec.Op == sim.Commit {
			v.object = rec.Object.String()
		}
		if key := b.Law.ID + " " + strings.Join(v.by, " "); !r.told[key] {
			r.told[key] = true
			r.tell(v)
		}
	}
	if len(all) > 0 {
		r.judge.Since(rec.Index + 1)
	}
}

// fighters are who made the writes of a fight, in the order of names.
func (r *reporter) fighters(b *law.Breach) (who []string) {
	for _, at := range b.Cycle {
		if w := r.wrote[at%cyclesBack]; w.record == at && w.process != "" && !slices.Contains(who, w.process) {
			who = append(who, w.process)
		}
	}
	slices.Sort(who)
	return who
}
