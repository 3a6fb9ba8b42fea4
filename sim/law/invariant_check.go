package law

import (
	"encoding/json"
	"fmt"
	"reflect"
	goruntime "runtime"
	"runtime/debug"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/sim"
)

// evaluate calls the Check of an invariant and returns what is wrong. It panics with a [Misuse] if Check panics.
func (j *Judge) evaluate(v *Invariant, f *Facts) (what string) {
	j.evaluating.Store(v)
	defer func() {
		if e := recover(); e != nil {
			j.evaluating.Store(nil)
			if m, is := e.(Misuse); is {
				panic(m)
			}
			what := strings.Join(strings.Fields(fmt.Sprint(e)), " ")
			panic(Misuse("invariant " + v.ID + ": its Check panics: " + what + panicked(debug.Stack())))
		}
	}()
	if v.builtin() && v.evaluated.Add(1) > trusted {
		what = v.Check(f)
	} else {
		what = j.guarded(v, f)
	}
	j.evaluating.Store(nil) // skipped if Check calls runtime.Goexit (t.FailNow): then Evaluating still names v
	return what
}

// trusted is how many calls of Check are guarded for a builtin invariant (of this module's controllers). The guard
// takes longer than the Check, so later calls are not guarded. For other invariants, all calls are guarded.
const trusted = 32

func (v *Invariant) builtin() bool {
	v.origin.Do(func() {
		f := goruntime.FuncForPC(reflect.ValueOf(v.Check).Pointer())
		v.isBuiltin = f != nil && strings.HasPrefix(f.Name(), "github.com/threelaws/threelaws/controllers/")
	})
	return v.isBuiltin
}

// panicked returns the place of the panic in a stack, as " at file:line".
func panicked(stack []byte) string {
	_, below, _ := strings.Cut(string(stack), "panic(")
	for _, line := range strings.Split(below, "\n")[2:] {
		if at, _, ok := strings.Cut(strings.TrimSpace(line), " +0x"); ok && !strings.Contains(at, "/src/runtime/") {
			return " at " + at[strings.LastIndex(at, "/")+1:]
		}
	}
	return ""
}

// guarded calls Check, and panics with a [Misuse] if Check reads an unknown kind or changes an object.
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
	own.Dependents = slices.Clone(f.Dependents)
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

// Evaluating returns the ID of the invariant whose Check is running, or "". Any goroutine may call it.
func (j *Judge) Evaluating() string {
	if v := j.evaluating.Load(); v != nil {
		return v.ID
	}
	return ""
}

// misused panics with a [Misuse] if a function of a [Contract] has panicked. A panic of other code continues unchanged.
func (j *Judge) misused() {
	e := recover()
	if e == nil {
		return
	}
	stack := debug.Stack()
	for _, p := range j.state.processes {
		contract := reflect.ValueOf(p.Actor.Contract)
		for i := range contract.NumField() {
			f := contract.Field(i)
			if f.Kind() != reflect.Func || f.IsNil() || !strings.Contains(string(stack),
				"\n"+goruntime.FuncForPC(f.Pointer()).Name()+"(") {
				continue
			}
			panic(Misuse(fmt.Sprintf("controller %s: Contract.%s panics: %s%s", p.Actor.Controller, contract.Type().Field(i).Name,
				strings.Join(strings.Fields(fmt.Sprint(e)), " "), panicked(stack))))
		}
	}
	panic(e)
}
