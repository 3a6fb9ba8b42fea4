package scenarios

import (
	"sync"

	"github.com/threelaws/threelaws/sim"
)

// asked is what the runs of an exploration came to ask of the controllers: a
// world in which there was nothing to do wrong says nothing for them. Runs of
// several workers note it together.
type asked struct {
	wrote   sync.Map // controller name -> true once a process of it has written
	rested  sync.Map // controller name -> true once a world rested with an object of its kind
	done    sync.Map // *Step of the user's -> true once it was done
	refused sync.Map // *Step of the user's -> why it was refused
}

// note takes in a run that is over.
func (a *asked) note(r *Run) {
	for _, p := range r.t.Cluster.Processes() {
		c := p.Controller()
		if k := r.t.Server.Kind(c.For); k != nil && r.settled.how.Settled && r.t.Server.Len(k) > 0 {
			a.rested.Store(c.Name, true)
		}
		if _, known := a.wrote.Load(c.Name); !known && wrote(&r.t.World.History, p.Name) {
			a.wrote.Store(c.Name, true)
		}
	}
}

func wrote(h *sim.History, process string) bool {
	for i := range h.Len() {
		if rec := h.At(i); rec != nil && rec.Op == sim.Commit && rec.Process == process {
			return true
		}
	}
	return false
}

// tried takes in how a step of the user's went.
func (a *asked) tried(s *Step, err error) {
	if err == nil {
		a.done.Store(s, true)
	} else {
		a.refused.LoadOrStore(s, err.Error())
	}
}

// tell says it in the exploration of a file.
func (a *asked) tell(f *File, x *Exploration) {
	x.Wrote, x.Rested = names(&a.wrote), names(&a.rested)
	for i, s := range f.Steps {
		_, done := a.done.Load(s)
		if why, ok := a.refused.Load(s); ok && !done && !s.Expect {
			x.Vain = append(x.Vain, Vain{Step: i, Text: s.String(), Why: why.(string)})
		}
	}
}

func names(m *sync.Map) map[string]bool {
	set := map[string]bool{}
	m.Range(func(name, _ any) bool { set[name.(string)] = true; return true })
	return set
}
