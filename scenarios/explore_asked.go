package scenarios

import (
	"cmp"
	"slices"
	"sync"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law"
)

// asked is what the runs of an exploration came to ask of the controllers: a
// world in which there was nothing to do wrong says nothing for them. Runs of
// several workers note it together.
type asked struct {
	wrote   sync.Map // controller name -> true once a process of it has written
	rested  sync.Map // controller name -> true once a world rested with an object of its kind
	keyed   sync.Map // controller name -> true once a key that it synced named an object of its kind
	done    sync.Map // *Step of the user's -> true once it was done
	middle  sync.Map // "" -> what the clock cut off in some world, which was not judged
	refused sync.Map // *Step of the user's -> why it was refused

	mutex  sync.Mutex
	said   map[[2]string]*Said // by controller and law; nil where nobody wants to know
	beside map[Beside]bool
}

// note takes in a run that is over.
func (a *asked) note(r *Run) {
	how := &r.settled.how
	if how.Middle != "" {
		a.middle.Store("", how.Middle)
	}
	for _, p := range r.t.Cluster.Processes() {
		c := p.Controller()
		if k := r.t.Server.Kind(c.For); k != nil && how.Settled && how.Middle == "" && r.t.Server.Len(k) > 0 {
			a.rested.Store(c.Name, true)
		}
		if _, known := a.wrote.Load(c.Name); !known && wrote(&r.t.World.History, p.Name) {
			a.wrote.Store(c.Name, true)
		}
		if _, known := a.keyed.Load(c.Name); !known && keyed(&r.t.World.History, p.Name) {
			a.keyed.Store(c.Name, true)
		}
	}
	if a.said != nil {
		a.hear(r)
		a.look(r)
	}
}

// hear takes in what the laws had to say of each controller.
func (a *asked) hear(r *Run) {
	verdicts := r.t.Judge.Verdicts()
	a.mutex.Lock()
	defer a.mutex.Unlock()
	for i := range verdicts {
		v := &verdicts[i]
		broken := v.First != nil && v.First.Strength == law.Informed && v.First.Controller == ""
		if broken {
			a.of("", v.Law.ID).Broken++
		}
		for _, s := range v.By {
			said := a.of(s.Controller, v.Law.ID)
			said.Asked += s.Asked
			if s.Broken > 0 {
				said.Broken++
			}
		}
	}
}

// of is what a law had to say of a controller so far.
func (a *asked) of(controller, id string) *Said {
	s := a.said[[2]string{controller, id}]
	if s == nil {
		s = &Said{Controller: controller, Law: id}
		a.said[[2]string{controller, id}] = s
	}
	return s
}

// Said is what a law had to say of a controller in all schedules of an exploration.
type Said struct {
	Controller string // "" for a breach that is nobody's alone
	Law        string // its clause
	Asked      int    // how often what the law is about came up
	Broken     int    // schedules in which it was broken, by what the controller had been shown
}

func wrote(h *sim.History, process string) bool {
	for i := range h.Len() {
		if rec := h.At(i); rec != nil && rec.Op == sim.Commit && rec.Process == process {
			return true
		}
	}
	return false
}

// keyed reports whether a sync of a process was of an object, by its key.
func keyed(h *sim.History, process string) bool {
	for i := range h.Len() {
		if rec := h.At(i); rec != nil && rec.Op == sim.SyncStart && rec.Process == process && rec.For.UID != "" {
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
	x.Wrote, x.Rested, x.Keyed = names(&a.wrote), names(&a.rested), names(&a.keyed)
	if what, ok := a.middle.Load(""); ok {
		x.Middle = what.(string)
	}
	for _, s := range a.said {
		x.Said = append(x.Said, *s)
	}
	slices.SortFunc(x.Said, func(s, t Said) int {
		return cmp.Or(cmp.Compare(s.Controller, t.Controller), cmp.Compare(s.Law, t.Law))
	})
	a.tellBeside(x)
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
