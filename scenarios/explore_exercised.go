package scenarios

import (
	"cmp"
	"slices"
	"sync"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law"
)

// asked records what the runs of an exploration exercised, because a pass proves nothing if a controller had nothing to
// do. Several workers use it concurrently.
type asked struct {
	wrote   sync.Map // controller name -> true if a process of the controller has written
	settled sync.Map // controller name -> true if a world settled with an object of the controller's kind
	keyed   sync.Map // controller name -> true if the controller reconciled a key that named an object of its kind
	done    sync.Map // *Step of the user -> true if the step succeeded in a run
	middle  sync.Map // "" -> the work that a time limit interrupted in one world; no law was evaluated there
	refused sync.Map // *Step of the user -> why the step was refused in one run

	mutex  sync.Mutex
	said   map[[2]string]*Said // by controller and ID of the law; nil if not needed
	beside map[Beside]bool
	alike  map[string]bool
}

func (a *asked) note(r *Run) {
	how := &r.settled.how
	if how.Middle != "" {
		a.middle.Store("", how.Middle)
	}
	for _, p := range r.t.Cluster.Processes() {
		c := p.Controller()
		if k := r.t.Server.Kind(c.For); k != nil && how.Settled && how.Middle == "" && r.t.Server.Len(k) > 0 {
			a.settled.Store(c.Name, true)
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

// hear adds the results of a run, for each law and controller.
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
			said.Exercised += s.Exercised
			if s.Broken > 0 {
				said.Broken++
			}
		}
	}
}

// of returns the sum of the results of a law for a controller in all runs so far.
func (a *asked) of(controller, id string) *Said {
	s := a.said[[2]string{controller, id}]
	if s == nil {
		s = &Said{Controller: controller, Law: id}
		a.said[[2]string{controller, id}] = s
	}
	return s
}

// Said is the result of a law for a controller in all schedules of an exploration.
type Said struct {
	Controller string // "" for violations that are not by a single controller
	Law        string // the ID of the law, such as EXACT-2
	Exercised  int    // how often the law was evaluated
	Broken     int    // the number of schedules in which the controller violated the law and could have known it
}

func wrote(h *sim.History, process string) bool {
	for i := range h.Len() {
		if rec := h.At(i); rec != nil && rec.Op == sim.Commit && rec.Process == process {
			return true
		}
	}
	return false
}

// keyed reports whether a process reconciled a key that named an object in its cache.
func keyed(h *sim.History, process string) bool {
	for i := range h.Len() {
		if rec := h.At(i); rec != nil && rec.Op == sim.SyncStart && rec.Process == process && rec.For.UID != "" {
			return true
		}
	}
	return false
}

func (a *asked) tried(s *Step, err error) {
	if err == nil {
		a.done.Store(s, true)
	} else {
		a.refused.LoadOrStore(s, err.Error())
	}
}

func (a *asked) tell(f *File, x *Exploration) {
	x.Wrote, x.Settled, x.Keyed = names(&a.wrote), names(&a.settled), names(&a.keyed)
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
