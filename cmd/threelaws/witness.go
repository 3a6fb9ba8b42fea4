package main

import (
	"sync"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law"
	"github.com/threelaws/threelaws/sim/render"
)

// witness keeps the history of a run. It attends as a law that nothing breaks:
// a judge shows every law every record.
type witness struct {
	once    sync.Once
	judge   *law.Judge
	counts  map[string]bool // the laws that a file judges by anywhere; nil for all
	history sim.History
}

// Record takes in one record.
func (w *witness) Record(r *sim.Record) { w.history.Records = append(w.history.Records, *r) }

// bystander is the check of the runs that the witness does not attend.
type bystander struct{}

func (bystander) Record(*sim.Record)   {}
func (bystander) Wants(op sim.Op) bool { return false }

// attend returns a registry whose laws include the witness. It attends the
// first run that is begun with it.
func (w *witness) attend(g *scenarios.Registry) *scenarios.Registry {
	with := *g
	with.Laws = append([]*law.Law{{ID: "WITNESS", Name: "witness", Kind: law.Data, New: func(j *law.Judge) law.Check {
		var check law.Check = bystander{}
		w.once.Do(func() { w.judge, check = j, w })
		return check
	}}}, g.Laws...)
	return &with
}

// breaches are those of the run, fit to be shown, of the laws that count.
func (w *witness) breaches() []render.Breach {
	var all []render.Breach
	if w.judge == nil {
		return nil
	}
	for _, b := range w.judge.Breaches() {
		if w.counts == nil || w.counts[b.Law.Name] || w.counts[b.Law.ID] {
			all = append(all, scenarios.Breach(b))
		}
	}
	return all
}

// fight shows the first fight of the run, nil when there was none.
func (w *witness) fight() *render.Page {
	for _, b := range w.breaches() {
		if len(b.Cycle) > 0 {
			return render.NewPage(&w.history, scenarios.Facts, b, w.initial())
		}
	}
	return nil
}

// initial is the record after the initial world: the first of somebody else
// than the user.
func (w *witness) initial() int {
	for i := range w.history.Records {
		if w.history.Records[i].Process != law.User {
			return i
		}
	}
	return 0
}

// watch runs the steps of a file that do not explore, and returns what became
// of them with the history.
func (a *app) watch(path string) (*scenarios.Result, *witness, error) {
	f, err := a.load(path)
	if err != nil {
		return nil, nil, err
	}
	f.Steps = withoutExploring(f.Steps)
	w := &witness{counts: judgedBy(f)}
	return scenarios.Interpret(f, scenarios.Options{Registry: w.attend(a.registry)}), w, nil
}

// withoutExploring leaves out the steps that run the others many times.
func withoutExploring(steps []*scenarios.Step) []*scenarios.Step {
	var kept []*scenarios.Step
	for _, s := range steps {
		if s.Verb != "explore" && s.Verb != "mutant" {
			kept = append(kept, s)
		}
	}
	return kept
}

// judgedBy is the laws that the file's judge steps name, nil for all.
func judgedBy(f *scenarios.File) map[string]bool {
	var laws map[string]bool
	for _, s := range f.Steps {
		if s.Verb != "judge" {
			continue
		}
		if laws == nil {
			laws = map[string]bool{}
		}
		for _, w := range s.Words() {
			laws[w] = true
		}
	}
	if laws["all"] {
		return nil
	}
	return laws
}
