package law

import "slices"

// Verdict is the result for one law.
type Verdict struct {
	Law   *Law
	Why   string  // why it was not judged: "needs deliveries"; "" if it was
	Count int     // violations of any strength
	First *Breach // the first that fails the run, or the first of any strength; nil for none
	Asked int     // how often the run exercised it; 0 without a violation says nothing
	By    []Share // by controller, in the order of actors; without those that did not exercise it
}

// shares returns the shares of a check, added up by controller.
func (s *State) shares(check int) []Share {
	var all []Share
	for _, p := range s.processes {
		if check >= len(p.shares) || p.shares[check].Asked == 0 {
			continue
		}
		own := p.shares[check]
		i := slices.IndexFunc(all, func(o Share) bool { return o.Controller == own.Controller })
		if i < 0 {
			all = append(all, own)
			continue
		}
		all[i].Asked, all[i].Broken = all[i].Asked+own.Asked, all[i].Broken+own.Broken
	}
	return all
}

// Verdicts returns the verdict on each law of the judge, in order.
func (j *Judge) Verdicts() []Verdict {
	out := make([]Verdict, 0, len(j.laws))
	for _, l := range j.laws {
		v := Verdict{Law: l}
		for i := range j.checks {
			if j.checks[i].law == l {
				v.Count, v.Asked, v.By = j.checks[i].count, j.checks[i].asked, j.state.shares(i)
			}
		}
		for i := range j.breaches {
			b := &j.breaches[i]
			if b.Law == l && (v.First == nil || !j.Fails(v.First) && j.Fails(b)) {
				v.First = b
			}
		}
		switch missing := l.Needs &^ j.given(); {
		case l.New == nil:
			v.Why = "checked by " + l.Where
		case missing != 0:
			v.Why = "needs " + missing.String()
		}
		out = append(out, v)
	}
	return out
}
