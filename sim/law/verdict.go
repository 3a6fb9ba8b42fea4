package law

import "slices"

// Verdict is what became of one law.
type Verdict struct {
	Law   *Law
	Why   string  // why it was not judged: "needs deliveries"; "" for one that was
	Count int     // breaches of either strength
	First *Breach // the first that fails the run, else the first; nil when the law was not broken
	Asked int     // how often what the law is about came up: one that held with 0 says nothing
	By    []Share // that in which it came up with a controller, in the order of subjects
}

// shares are those of a seat, those of processes of one controller added up.
func (s *State) shares(seat int) []Share {
	var all []Share
	for _, p := range s.processes {
		if seat >= len(p.shares) || p.shares[seat].Asked == 0 {
			continue
		}
		own := p.shares[seat]
		i := slices.IndexFunc(all, func(o Share) bool { return o.Controller == own.Controller })
		if i < 0 {
			all = append(all, own)
			continue
		}
		all[i].Asked, all[i].Broken = all[i].Asked+own.Asked, all[i].Broken+own.Broken
	}
	return all
}

// Verdicts are the verdicts on the judge's laws, in their order.
func (j *Judge) Verdicts() []Verdict {
	out := make([]Verdict, 0, len(j.laws))
	for _, l := range j.laws {
		v := Verdict{Law: l}
		for i := range j.seats {
			if j.seats[i].law == l {
				v.Count, v.Asked, v.By = j.seats[i].count, j.seats[i].asked, j.state.shares(i)
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
