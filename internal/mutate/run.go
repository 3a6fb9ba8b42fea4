package mutate

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/threelaws/threelaws/internal/mutate/switches"
)

// Fates are those of mutants that nothing has been tried on.
func Fates(all []*Mutation) []*Fate {
	fates := make([]*Fate, len(all))
	for i, m := range all {
		fates[i] = &Fate{Mutation: m}
	}
	return fates
}

// Suite is a command that serves checks (see [switches.Serve]), and how many processes
// of it run at once.
type Suite struct {
	Root, Path string
	Args       []string
	Processes  int
	Progress   func(format string, args ...any)

	list *list
}

// Fate is what became of a mutant.
type Fate struct {
	*Mutation
	Reached bool   // some check reaches it
	By, Why string // the check that killed it, and what it said; "" for one that survives
	Excuse  *Excuse
}

// Killed reports whether a check killed it.
func (f *Fate) Killed() bool { return f.By != "" }

// list is what a suite has: its checks, what each reaches, and how long it takes.
type list struct {
	names   []string
	took    []time.Duration
	reaches []map[int]bool
	init    []int
}

// Run tries to kill those that live, each by the checks that reach it: those for which
// which says so, the quick ones first.
func (s *Suite) Run(fates []*Fate, which func(check string) bool) error {
	if s.list == nil {
		if err := s.cover(); err != nil {
			return err
		}
	}
	alive := slices.DeleteFunc(slices.Clone(fates), (*Fate).Killed)
	var tried, dead atomic.Int32
	return s.each(len(alive), func(w *worker, i int) error {
		if n := tried.Add(1); n%100 == 0 {
			s.Progress("%d of %d mutants, %d killed", n, len(alive), dead.Load())
		}
		f := alive[i]
		if err := s.try(w, f, which); err != nil {
			return err
		}
		if f.Killed() {
			dead.Add(1)
		}
		return nil
	})
}

func (s *Suite) try(w *worker, f *Fate, which func(check string) bool) error {
	checks := s.list.reaching(f.Mutation, which)
	if len(checks) == 0 {
		return nil
	}
	f.Reached = true
	r := switches.Request{Mutation: f.ID, Checks: checks}
	for _, c := range checks {
		r.Limits = append(r.Limits, leastTime+10*s.list.took[c])
	}
	a, err := w.ask(r, f.Init)
	if err != nil {
		return err
	}
	if a.By >= 0 {
		f.By, f.Why = s.list.names[checks[a.By]], a.Why
	}
	return nil
}

// leastTime is how much processor time a check has at the least.
const leastTime = time.Second

// cover runs every check without a mutation.
func (s *Suite) cover() error {
	w := s.worker()
	first, err := w.ask(switches.Request{}, false)
	w.stop()
	if err != nil {
		return err
	}
	n := len(first.Checks)
	if n == 0 {
		return fmt.Errorf("%s has no checks: %s", s.Path, first.Why)
	}
	l := &list{names: first.Checks, init: first.Reached, took: make([]time.Duration, n),
		reaches: make([]map[int]bool, n)}
	s.Progress("what %d checks reach", n)
	s.list = l
	return s.each(n, func(w *worker, i int) error {
		a, err := w.ask(switches.Request{Checks: []int{i}}, false)
		if err != nil {
			return err
		}
		if a.By >= 0 {
			return fmt.Errorf("%s fails without a mutation: %s", l.names[i], a.Why)
		}
		l.took[i], l.reaches[i] = a.Took[0], map[int]bool{}
		for _, id := range a.Reached {
			l.reaches[i][id] = true
		}
		return nil
	})
}

// reaching lists the checks that reach a mutation, in the order in which to try them.
func (l *list) reaching(m *Mutation, which func(check string) bool) []int {
	var checks []int
	everywhere := slices.Contains(l.init, m.ID)
	for i, reaches := range l.reaches {
		if (reaches[m.ID] || everywhere) && which(l.names[i]) {
			checks = append(checks, i)
		}
	}
	slices.SortStableFunc(checks, func(a, b int) int {
		return cmp.Compare(l.took[a], l.took[b])
	})
	return checks
}

func (s *Suite) worker() *worker { return &worker{path: s.Path, args: s.Args, root: s.Root} }

// each calls do for 0 to n-1, by several processes.
func (s *Suite) each(n int, do func(w *worker, i int) error) error {
	var next atomic.Int32
	var group sync.WaitGroup
	errs := make([]error, n+1)
	for range max(s.Processes, 1) {
		group.Go(func() {
			w := s.worker()
			defer w.stop()
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := do(w, i); err != nil {
					errs[i] = err
					next.Store(int32(n))
					return
				}
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
