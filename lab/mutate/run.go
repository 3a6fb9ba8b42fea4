package mutate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/threelaws/threelaws/lab/mutate/switches"
)

// Fates returns a new Fate for each mutation. It says that no check has reached or killed the mutant yet.
func Fates(all []*Mutation) []*Fate {
	fates := make([]*Fate, len(all))
	for i, m := range all {
		fates[i] = &Fate{Mutation: m}
	}
	return fates
}

// Suite is a command that serves checks (see [switches.Serve]), run by several processes.
type Suite struct {
	Name       string // the prefix of the names of the checks
	Root, Path string
	Args, Env  []string
	Processes  int
	Progress   func(format string, args ...any)

	list *list
}

type Fate struct {
	*Mutation
	Reached bool   // some check reaches the mutation
	By, Why string // the check that killed the mutant, and its message; "" for a survivor
	Excuse  *Excuse
}

func (f *Fate) Killed() bool { return f.By != "" }

// list holds the checks of a suite. For each check it has the mutations that the check reaches, and the duration.
type list struct {
	names   []string
	took    []time.Duration
	reaches []map[int]bool
	init    []int

	pertinent []int // for each check, the number of the mutants passed to turnTo that it reaches

	lock    sync.Mutex
	killers map[string][]int // by function: the checks that have killed its mutants, the latest first
}

// Run runs checks against the mutants that are alive. It tries a mutant with the checks that reach it, in the order of
// [list.reaching]. The function use selects the checks to try. budget limits the processor time of all checks of one
// mutant; 0 means no limit. The first check always runs.
func (s *Suite) Run(fates []*Fate, use func(check string) bool, budget time.Duration) error {
	if s.list == nil {
		if err := s.cover(); err != nil {
			return err
		}
	}
	alive := slices.DeleteFunc(slices.Clone(fates), (*Fate).Killed)
	if len(alive) == 0 {
		return nil
	}
	s.list.turnTo(fates)
	var tried, dead atomic.Int32
	return s.each(len(alive), func(w *worker, i int) error {
		if n := tried.Add(1); n%200 == 0 {
			s.Progress("  %d of %d mutants, %d killed", n, len(alive), dead.Load())
		}
		f := alive[i]
		if err := s.try(w, f, use, budget); err != nil {
			return err
		}
		if f.Killed() {
			dead.Add(1)
		}
		return nil
	})
}

func (s *Suite) try(w *worker, f *Fate, use func(check string) bool, budget time.Duration) error {
	checks := s.list.reaching(f.Mutation, use, budget)
	if len(checks) == 0 {
		return nil
	}
	f.Reached = true
	r := switches.Request{Mutation: f.ID, Checks: checks}
	for _, c := range checks {
		r.Limits = append(r.Limits, leastTime+10*s.list.took[c])
	}
	a, err := w.ask(r, s.list.only(f.ID))
	if err != nil {
		return err
	}
	if a.By >= 0 {
		s.list.killed(f.Mutation, checks[a.By])
		f.By, f.Why = s.Name+s.list.names[checks[a.By]], a.Why
	}
	return nil
}

// leastTime is the fixed part of a check's limit of processor time. The rest grows with its time without mutations.
const leastTime = time.Second / 2

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
		reaches: make([]map[int]bool, n), killers: map[string][]int{}}
	s.list = l
	err = s.each(n, func(w *worker, i int) error {
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
	all := time.Duration(0)
	for _, t := range l.took {
		all += t
	}
	name := cmp.Or(strings.TrimSpace(s.Name), "scenarios")
	s.Progress("%d checks of %s take %v", n, name, all.Round(time.Millisecond))
	return err
}

// turnTo counts how many mutants of fates each check reaches. Checks with high counts are tried first.
func (l *list) turnTo(fates []*Fate) {
	l.pertinent = make([]int, len(l.names))
	for i, reaches := range l.reaches {
		for _, f := range fates {
			if reaches[f.ID] {
				l.pertinent[i]++
			}
		}
	}
}

func (l *list) cost(check int) float64 {
	return float64(l.took[check]) / float64(max(l.pertinent[check], 1))
}

// reaching returns the checks that reach a mutation in the order of trying. First come checks that killed other
// mutants of the function, then checks that reach the most mutants per time.
func (l *list) reaching(m *Mutation, use func(check string) bool, budget time.Duration) []int {
	var checks []int
	everywhere := l.only(m.ID)
	for i, reaches := range l.reaches {
		if (reaches[m.ID] || everywhere) && use(l.names[i]) {
			checks = append(checks, i)
		}
	}
	slices.SortStableFunc(checks, func(a, b int) int {
		return cmp.Compare(l.cost(a), l.cost(b))
	})
	spent := time.Duration(0)
	for i, c := range checks {
		if spent += l.took[c]; budget > 0 && spent > budget {
			checks = checks[:max(i, 1)]
			break
		}
	}
	l.lock.Lock()
	defer l.lock.Unlock()
	for _, k := range slices.Backward(l.killers[m.File+m.Func]) {
		if i := slices.Index(checks, k); i > 0 {
			checks = slices.Insert(slices.Delete(checks, i, i+1), 0, k)
		}
	}
	return checks
}

// mostKillers is the number of earlier killers that are tried first.
const mostKillers = 5

func (l *list) killed(m *Mutation, check int) {
	l.lock.Lock()
	defer l.lock.Unlock()
	key := m.File + m.Func
	rest := slices.DeleteFunc(slices.Clone(l.killers[key]), func(c int) bool { return c == check })
	l.killers[key] = append([]int{check}, rest[:min(len(rest), mostKillers-1)]...)
}

// only reports whether only initialization reaches a mutation. Then the process must start with the mutation on.
func (l *list) only(id int) bool {
	return slices.Contains(l.init, id) &&
		!slices.ContainsFunc(l.reaches, func(r map[int]bool) bool { return r[id] })
}

func (s *Suite) worker() *worker {
	return &worker{path: s.Path, args: s.Args, env: s.Env, root: s.Root}
}

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
