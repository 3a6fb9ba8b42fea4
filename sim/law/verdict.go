package law

// Outcome is what can be said of one law after a run.
type Outcome uint8

// The outcomes.
const (
	Held Outcome = iota
	Broken
	NotJudged // the evidence was not enough, or the check is not of histories
)

var outcomeNames = [...]string{"held", "broken", "not judged"}

// String names the outcome.
func (o Outcome) String() string { return outcomeNames[o] }

// Verdict is what became of one law.
type Verdict struct {
	Law     *Law
	Outcome Outcome
	Why     string  // why it was not judged: "needs deliveries"
	Count   int     // breaches of either strength
	First   *Breach // the first that fails the run, else the first; nil when the law was not broken
	Asked   int     // how often what the law is about came up: one that held with 0 says nothing
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
			v.Outcome, v.Why = NotJudged, "checked by "+l.Where
		case missing != 0:
			v.Outcome, v.Why = NotJudged, "needs "+missing.String()
		case v.Count > 0:
			v.Outcome = Broken
		}
		out = append(out, v)
	}
	return out
}
