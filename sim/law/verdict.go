package law

// Verdict is what became of one law.
type Verdict struct {
	Law   *Law
	Why   string  // why it was not judged: "needs deliveries"; "" for one that was
	Count int     // breaches of either strength
	First *Breach // the first that fails the run, else the first; nil when the law was not broken
	Asked int     // how often what the law is about came up: one that held with 0 says nothing
}

// Verdicts are the verdicts on the judge's laws, in their order.
func (j *Judge) Verdicts() []Verdict {
	out := make([]Verdict, 0, len(j.laws))
	for _, l := range j.laws {
		v := Verdict{Law: l}
		for i := range j.seats {
			if j.seats[i].law == l {
				v.Count, v.Asked = j.seats[i].count, j.seats[i].asked
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
