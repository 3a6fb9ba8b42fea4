package audit

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/threelaws/threelaws/sim/law"
)

// Report is the result of judging a log.
type Report struct {
	Files    []string   `json:"files"`
	Lines    int        `json:"lines"`
	Writes   int        `json:"writes"` // that were stored
	Judged   int        `json:"judged"` // of these, those that the laws were asked of
	From     time.Time  `json:"from"`
	To       time.Time  `json:"to"`
	Breaches []*Finding `json:"breaches"`
	Doubtful []*Finding `json:"doubtful"` // what the actor may not have known
	Fights   []*Fight   `json:"fights"`
	Laws     []Verdict  `json:"laws"`
	Left     []*Left    `json:"left"`
	Skipped  []*Skipped `json:"skipped"`
	Notes    []string   `json:"notes"`
	Broken   bool       `json:"broken"` // a law is
}

// Verdict is the result for one law.
type Verdict struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Judged bool   `json:"judged"`
	Why    string `json:"why,omitempty"` // why it was not
	Count  int    `json:"count"`
}

// fightLaw is the clause on fights, which are found apart from the judge.
const fightLaw = "NOFIGHT-1"

// Report returns the findings so far.
func (a *Auditor) Report(s *Source) *Report {
	r := &Report{Files: []string{}, Lines: s.Lines, Writes: a.writes, Judged: a.judged, From: a.first, To: a.last,
		Fights: a.fights.final(), Left: []*Left{}, Skipped: []*Skipped{}, Notes: append([]string{}, s.notes...),
		Breaches: []*Finding{}, Doubtful: []*Finding{}, Laws: []Verdict{}}
	for _, f := range s.files {
		r.Files = append(r.Files, f.name)
	}
	for _, f := range a.findings.final() {
		if f.Doubt && !a.Strict {
			r.Doubtful = append(r.Doubtful, f)
		} else {
			r.Breaches = append(r.Breaches, f)
		}
	}
	for _, why := range a.told {
		r.Left = append(r.Left, a.left[why])
	}
	for _, why := range slices.Sorted(maps.Keys(s.skipped)) {
		r.Skipped = append(r.Skipped, s.skipped[why])
	}
	r.Broken = len(r.Breaches)+len(r.Fights) > 0
	r.verdicts(a.judge.Verdicts())
	return r
}

// verdicts records for each law whether it was judged.
func (r *Report) verdicts(all []law.Verdict) {
	for _, v := range all {
		one := Verdict{ID: v.Law.ID, Name: v.Law.Name, Judged: v.Why == "", Why: v.Why}
		if v.Law.ID == fightLaw {
			one.Judged, one.Why, one.Count = true, "", len(r.Fights)
		}
		for _, f := range r.Breaches {
			if f.ID == one.ID {
				one.Count += f.Count
			}
		}
		r.Laws = append(r.Laws, one)
	}
}

// Culprits lists the actors to blame, in order of their first violation.
func (r *Report) Culprits() []string {
	type charge struct {
		who   string
		first time.Time
	}
	var all []charge
	for _, f := range r.Breaches {
		all = append(all, charge{f.Actor, f.First})
	}
	slices.SortStableFunc(all, func(a, b charge) int { return cmp.Compare(a.first.UnixNano(), b.first.UnixNano()) })
	for _, f := range r.Fights {
		for _, who := range f.Culprits {
			all = append(all, charge{who, f.First})
		}
	}
	var out []string
	for _, c := range all {
		if !slices.Contains(out, c.who) {
			out = append(out, c.who)
		}
	}
	return out
}
