package law

import (
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/sim"
)

// Invariant is a rule for one kind of controller, or for one world, in addition to the laws. An invariant in a
// [Contract] is checked for that controller, one of a case or a conformance Subject for the whole world.
// Exploration, minimization and reports treat it as a law.
type Invariant struct {
	ID       string // "one-bucket-per-claim"; the ID of a law ("EXACT-11") makes it that law for its controller
	Sentence string // what must hold, in one sentence; may be empty if ID is a law's
	When     When   // when Check is called
	// Check returns what is wrong, or "". It must depend on the facts alone and must not change the objects.
	Check func(f *Facts) string
	// Recent is how long Facts.Get still returns a deleted cluster-scoped object.
	Recent time.Duration

	ofWorld, ofContract memo
}

// memo holds a *Law that is created once. It is typed as any so that Invariant does not depend on Law.
type memo struct {
	once sync.Once
	law  any
}

// When is a set of moments.
type When uint8

const (
	WhenSettled  When = 1 << iota // once all has settled: for each object that the controller syncs, or for the world
	BeforeCreate                  // at the create of a dependent; at a delete, for each active dependent as if it were new
	AtWrite                       // at each create, update and delete
	AtDelete                      // when a deletion is requested or completed
)

// Facts holds the facts that an [Invariant] is checked against. A write that violates it is judged twice: by what is stored, and
// by what its controller had been shown ([Informed]).
type Facts struct {
	Now        time.Time
	Owner      runtime.Object   // the synced object; nil in an invariant of a world
	Dependents []runtime.Object // what Owner controls, without the written object
	// The written object. Before is nil for a create, After for a delete, both once all has settled.
	Before, After runtime.Object

	Reconciled bool // settled: Owner was synced without error after its controller was shown everything
	Forever    bool // settled: for good, not because the time of the world is over

	All func(kind string) []runtime.Object // the objects of a kind; for an invariant of a world after the write
	Get func(kind, namespace, name string) runtime.Object
}

// Misuse is the one-line text of the judge's panic for a wrong [Invariant] or [Contract].
type Misuse string

// Error returns the text.
func (m Misuse) Error() string { return string(m) }

func (c *Contract) invariant(id string) *Invariant {
	for _, v := range c.Invariants {
		if v.ID == id {
			return v
		}
	}
	return nil
}

func (c *Contract) when() (all When) {
	for _, v := range c.Invariants {
		all |= v.When
	}
	return all
}

// Law returns the invariant as a law of a world, the same one at each call.
func (v *Invariant) Law() *Law {
	v.ofWorld.once.Do(func() { v.ofWorld.law = v.asLaw(ofWorld(v)) })
	return v.ofWorld.law.(*Law)
}

// own returns the invariant as a law of the controllers that have it in their Contract; nil where it is one of the laws.
func (v *Invariant) own() *Law {
	v.ofContract.once.Do(func() {
		if ByID(v.ID) == nil {
			v.ofContract.law = v.asLaw(invariantLaw(v.ID, v.When))
		}
	})
	l, _ := v.ofContract.law.(*Law)
	return l
}

func (v *Invariant) asLaw(asks func(*Judge) Check) *Law {
	l := &Law{ID: v.ID, Name: v.ID, Sentence: v.Sentence, Source: "an invariant", Category: Safety, Needs: Commits,
		New: asks, invariant: v}
	if v.When == WhenSettled {
		l.Category, l.Needs = Liveness, Commits|Rest
	}
	return l
}

// Laws returns the invariants of a contract that are none of the laws, as laws.
func (c *Contract) Laws() (all []*Law) {
	for _, v := range c.Invariants {
		if l := v.own(); l != nil {
			all = append(all, l)
		}
	}
	return all
}

// mistake says what is wrong with the invariant itself; "" for nothing.
func (v *Invariant) mistake() string {
	switch {
	case v.ID == "":
		return "an invariant has no ID: failures and pages name it"
	case strings.ContainsAny(v.ID, " \t\r\n\"'@#,="):
		return fmt.Sprintf("invariant %q: an ID is one word, without quotes and @ # , =", v.ID)
	case v.Check == nil:
		return "invariant " + v.ID + ": Check is nil: it says what is wrong"
	case v.When == 0:
		return "invariant " + v.ID + ": When is empty: it would never be asked"
	case v.Sentence == "" && ByID(v.ID) == nil:
		return "invariant " + v.ID + ": Sentence is empty: say what must hold"
	}
	return ""
}

// CheckInvariants reports a mistake in invariants, in one line that names the invariant: one that cannot be asked, two
// with one ID, or one with the name of a law that no invariant is.
func CheckInvariants(invariants []*Invariant) error {
	seen := map[string]bool{}
	for i, v := range invariants {
		what := ""
		if v == nil {
			return Misuse(fmt.Sprintf("Invariants[%d] is nil", i))
		}
		switch what = v.mistake(); {
		case what != "":
		case seen[v.ID]:
			what = "two invariants have the ID " + v.ID
		default:
			for _, l := range All() {
				if l.Name == v.ID || l.ID == v.ID && !l.byInvariant {
					what = "invariant " + v.ID + ": a law has that name: give it another ID"
				}
			}
		}
		if what != "" {
			return Misuse(what)
		}
		seen[v.ID] = true
	}
	return nil
}

// Check reports what is wrong with a contract itself, in one line that names the field; nil for nothing.
func (c *Contract) Check() error {
	switch {
	case c.Profile >= profiles:
		return Misuse(fmt.Sprintf("Contract.Profile is %d: there are Ownership, Writing and Upstream", c.Profile))
	case c.Replicas == nil && c.MaxSurge != nil:
		return Misuse("Contract.MaxSurge needs Replicas: it is how many more than that an owner may have")
	case c.Replicas == nil && c.MaxUnavailable != nil:
		return Misuse("Contract.MaxUnavailable needs Replicas: it is how many fewer than that an owner may have")
	case c.Identity == nil && c.AllowDuplicate != nil:
		return Misuse("Contract.AllowDuplicate needs Identity: it says which two may have the same")
	}
	for i := range c.Counts {
		if n := &c.Counts[i]; n.Of == nil || n.Is == nil && n.Each == nil {
			return Misuse(fmt.Sprintf("Contract.Counts[%d] needs Of, and Is or Each", i))
		}
	}
	return CheckInvariants(c.Invariants)
}

// ask calls the Check of an invariant and returns what is wrong. It panics with a [Misuse] if Check panics.
func (j *Judge) ask(v *Invariant, f *Facts) string {
	j.asking.Store(v)
	defer func() {
		j.asking.Store(nil)
		if e := recover(); e != nil {
			if m, is := e.(Misuse); is {
				panic(m)
			}
			panic(Misuse(fmt.Sprintf("invariant %s: its Check panics: %v%s", v.ID, e, panicked(debug.Stack()))))
		}
	}()
	if j.checks[j.current].law.invariant == nil {
		return v.Check(f)
	}
	return j.guarded(v, f)
}

// panicked returns the line of the panic in a stack, as " at file:line".
func panicked(stack []byte) string {
	_, below, _ := strings.Cut(string(stack), "panic(")
	for _, line := range strings.Split(below, "\n")[2:] {
		if at, _, ok := strings.Cut(strings.TrimSpace(line), " +0x"); ok && !strings.Contains(at, "/src/runtime/") {
			return " at " + at[strings.LastIndex(at, "/")+1:]
		}
	}
	return ""
}

// guarded is ask for an invariant of a user. It panics with a [Misuse] if Check reads an unknown kind or changes an
// object.
func (j *Judge) guarded(v *Invariant, f *Facts) string {
	given := map[runtime.Object]uint64{}
	give := func(objs ...runtime.Object) {
		for _, o := range objs {
			if o != nil {
				if _, was := given[o]; !was {
					given[o] = digestOf(o)
				}
			}
		}
	}
	known := func(kind string) {
		if len(j.state.Kind(kind)) > 0 || j.Kinds == nil {
			return
		}
		if _, served := j.Kinds("", kind); !served {
			panic(Misuse("invariant " + v.ID + ": it reads the kind " + kind + ", which the world does not have"))
		}
	}
	give(f.Owner, f.Before, f.After)
	give(f.Dependents...)
	own := *f
	own.All = func(kind string) []runtime.Object {
		known(kind)
		all := f.All(kind)
		give(all...)
		return all
	}
	own.Get = func(kind, namespace, name string) runtime.Object {
		known(kind)
		o := f.Get(kind, namespace, name)
		give(o)
		return o
	}
	what := v.Check(&own)
	for o, was := range given { //detcheck:ordered any of them
		if digestOf(o) != was {
			panic(Misuse("invariant " + v.ID + ": its Check changes an object that it is given: change a DeepCopy"))
		}
	}
	return what
}

func digestOf(o runtime.Object) uint64 {
	text, err := json.Marshal(o)
	if err != nil {
		return 0
	}
	return uint64(sim.HashString(string(text)))
}

// Asking returns the ID of the invariant whose Check is running, or "". Any goroutine may call it.
func (j *Judge) Asking() string {
	if v := j.asking.Load(); v != nil {
		return v.ID
	}
	return ""
}
