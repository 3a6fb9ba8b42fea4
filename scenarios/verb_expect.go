package scenarios

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law"
)

var verbExpect = &Verb{
	Name: expectation, Min: 1, Max: 2,
	Args:    "N KIND | KIND/NAME  [controller=KIND/NAME|none] [selector=LABELS] [deleting=true|false]",
	Summary: "require a number of objects, or that an object exists",
	Detail: `The condition must also hold after each settle of an explored run. If a condition holds
only in the default schedule, use golden text.`,
	Example: "expect 2 pods controller=rs/web-a\nexpect rs/web-1 controller=none",
	Params: []Param{
		{Name: "controller", Summary: "its ControllerRef, or none"},
		{Name: "selector", Summary: "a label selector"},
		{Name: "deleting", Summary: "whether it has a deletionTimestamp", Values: []string{"true", "false"}},
	},
	check: func(c *checker, s *Step) error {
		if s.Word(1) == "" {
			return c.object(s, s.Word(0))
		}
		if _, err := strconv.Atoi(s.Word(0)); err != nil {
			return s.wrong("%s is not a number: write expect N KIND", s.Word(0))
		}
		if v, ok := s.Param("selector"); ok {
			if _, err := labels.Parse(v); err != nil {
				return s.wrong("selector: %v", err)
			}
		}
		_, err := c.kind(s, s.Word(1))
		return err
	},
	expects: (*Run).expect,
	run:     runExpectation,
}

// runExpectation checks the expectation of a step. With a "!", the expectation must not hold.
func runExpectation(r *Run, s *Step) error {
	if what := s.verb.expects(r, s); what != "" {
		return s.fail(ExitFail, "%s", what)
	}
	if s.Expect {
		return s.missed("it holds")
	}
	return nil
}

type filter struct {
	controller string
	selector   labels.Selector
	deleting   string
}

// expect returns why the expectation does not hold, or "".
func (r *Run) expect(s *Step) string {
	f := filter{selector: labels.Everything()}
	f.controller, _ = s.Param("controller")
	f.deleting, _ = s.Param("deleting")
	if v, ok := s.Param("selector"); ok {
		f.selector, _ = labels.Parse(v)
	}
	if s.Word(1) == "" {
		t, err := r.target(s.Word(0))
		if err != nil {
			return err.Error()
		}
		o := r.lookup(t)
		switch {
		case o == nil:
			return s.Word(0) + " is not there"
		case !f.matches(o):
			return s.Word(0) + " is there, but " + describe(o)
		}
		return ""
	}
	want, _ := strconv.Atoi(s.Word(0))
	k, err := kindNamed(r.names(), s, s.Word(1))
	if err != nil {
		return err.Error()
	}
	if have := r.count(k, f); have != want {
		return fmt.Sprintf("%d %s expected, %d are there", want, k.Resource, have)
	}
	return ""
}

func (r *Run) count(k *fakeapi.Kind, f filter) int {
	n := 0
	r.each(k, func(_ sim.Ref, obj runtime.Object) {
		if f.matches(obj.(metav1.Object)) {
			n++
		}
	})
	return n
}

func (f filter) matches(o metav1.Object) bool {
	if f.deleting != "" && (o.GetDeletionTimestamp() != nil) != (f.deleting == "true") {
		return false
	}
	if !f.selector.Matches(labels.Set(o.GetLabels())) {
		return false
	}
	if f.controller == "" {
		return true
	}
	return controllerName(o) == f.controller
}

func controllerName(o metav1.Object) string {
	if owner, ok := render.ControllerOf(o); ok {
		return owner.String()
	}
	return "none"
}

func describe(o metav1.Object) string {
	text := "its controller is " + controllerName(o)
	if o.GetDeletionTimestamp() != nil {
		text += " and it is being deleted"
	}
	return strings.TrimSpace(text)
}

var verbHash = &Verb{
	Name: "hash", Max: 0,
	Summary: "print the run's hash",
	Detail: `The hash covers everything that happened before this step. For one schedule it is the same
in every run on every machine. It changes when the behavior changes, and with the version
of threelaws. In a file with a schedule, the hash is not compared.`,
	Example: "hash",
	run: func(r *Run, s *Step) error {
		r.printf("%016x\n", r.hash())
		return nil
	},
}

// amounts lists the parameters of the verb predict in the order of the output.
var amounts = []string{"created", "deleted", "adopted", "released", "moved"}

var verbPredict = &Verb{
	Name: "predict", Min: 1, Max: 1,
	Args:    "KIND [created=N] [deleted=N] [adopted=N] [released=N] [moved=N] [fight=true|false]",
	Summary: "require how many objects the last settle created, deleted, adopted and released",
	Detail: `Counts the actions of controllers on objects of a kind, from the settle before the last
one. It also checks explored runs. N is a number, or a range such as 0..2. A count that is
not given must be 0. A deletion counts when the server accepts it. moved counts changes of
the ControllerRef from one owner to another. With fight=true, the last settle must end in a
fight. With fight=false, it must not.`,
	Example: "switch all controllerref\nsettle\npredict pods adopted=3\npredict pods created=0..2 adopted=1",
	Params: []Param{
		{Name: "created", Summary: "objects that were created"},
		{Name: "deleted", Summary: "deletions that were accepted"},
		{Name: "adopted", Summary: "objects that got a ControllerRef and had none"},
		{Name: "released", Summary: "objects that lost their ControllerRef"},
		{Name: "moved", Summary: "objects that changed their ControllerRef"},
		{Name: "fight", Summary: "whether the world ended in a fight", Values: []string{"true", "false"}},
	},
	check: func(c *checker, s *Step) error {
		for _, name := range amounts {
			if _, _, err := s.between(name); err != nil {
				return err
			}
		}
		_, err := c.kind(s, s.Word(0))
		return err
	},
	expects: (*Run).predict,
	run:     runExpectation,
}

// between returns the value of a parameter that is a number or a range. The default is 0.
func (s *Step) between(name string) (least, most int, err error) {
	v, ok := s.Param(name)
	if !ok {
		return 0, 0, nil
	}
	first, last, ranges := strings.Cut(v, "..")
	if !ranges {
		last = first
	}
	least, err = strconv.Atoi(first)
	if err == nil {
		most, err = strconv.Atoi(last)
	}
	if err != nil || least < 0 || most < least {
		return 0, 0, s.wrong("%s=%s is neither a number nor a range of them: write %s=1 or %s=0..2",
			name, v, name, name)
	}
	return least, most, nil
}

func (r *Run) predict(s *Step) string {
	k, err := kindNamed(r.names(), s, s.Word(0))
	if err != nil {
		return err.Error()
	}
	if v, ok := s.Param("fight"); ok && r.settled.how.Fight != (v == "true") {
		if v == "true" {
			return "a fight is predicted, and none was found"
		}
		return "no fight is predicted, and there is one"
	}
	got := r.changed(k.GVK.Kind)
	for i, name := range amounts {
		least, most, _ := s.between(name)
		if n := got[i]; n < least || n > most {
			want := strconv.Itoa(least)
			if most > least {
				want += " to " + strconv.Itoa(most)
			}
			return fmt.Sprintf("%d %s %s, %s predicted", n, k.Resource, name, want)
		}
	}
	return ""
}

// changed counts the changes to objects of a kind, with one number for each of amounts. It counts from the start of the
// last settle's timeline. It leaves out changes by the user.
func (r *Run) changed(kind string) (n [5]int) {
	h := &r.t.World.History
	for i := r.settled.from; i < h.Len(); i++ {
		rec := h.At(i)
		if rec.Op != sim.Commit || rec.Process == law.User || rec.Object.Kind != kind {
			continue
		}
		was, had := render.ControllerOf(rec.Before)
		is, has := render.ControllerOf(rec.After)
		switch {
		case rec.Before == nil:
			n[0]++
		case !render.Deleting(rec.Before) && (rec.After == nil || render.Deleting(rec.After)):
			n[1]++
		case rec.After == nil:
		case !had && has:
			n[2]++
		case had && !has:
			n[3]++
		case had && was != is:
			n[4]++
		}
	}
	return n
}

var verbDo = &Verb{
	Name: "do", Args: "NAME", Min: 1, Max: 1,
	Summary: "run a user action that a Go test has registered",
	Detail: `Go tests write this verb into failure files. Only a program that has the function can run
such a file. This is the test itself, or a command with the same registry.`,
	Example: "do rename-the-owner",
	acts:    true,
	check:   checkFunc,
	run: func(r *Run, s *Step) error {
		return r.act("do "+s.Word(0), func() error { return r.registry.Funcs[s.Word(0)](r.t.Cluster.Client(law.User)) })
	},
}

var verbEnsure = &Verb{
	Name: "ensure", Args: "NAME", Min: 1, Max: 1,
	Summary: "require a condition that a Go test has registered",
	Detail: `This is like expect, but the condition is a Go function. It must also hold in explored
runs. same-end is a built-in condition: the settled objects must be equal to those of a
quiet run with the same steps. Differences between quiet runs are ignored.`,
	Example: "ensure every-widget-has-its-children",
	check:   checkFunc,
	expects: (*Run).ensure,
	run:     runExpectation,
}

var verbRace = &Verb{
	Name: "race", Max: 0,
	Summary: "let the next user actions race with the controllers",
	Detail: `In explored runs, the user actions after this step may happen before, between and after
the actions of the controllers. Unlike settle, race does not run the controllers first.`,
	Example: "apply world.yaml\nrace\ndelete rs/web",
	paces:   true,
	run: func(r *Run, s *Step) error {
		r.barrier()
		return nil
	},
}

func checkFunc(c *checker, s *Step) error {
	if _, ok := c.registry.Funcs[s.Word(0)]; ok || s.comparesEnds() {
		return nil
	}
	names := slices.Sorted(maps.Keys(c.registry.Funcs))
	if len(names) == 0 {
		return s.wrong("%s is Go code that this program does not have: replay the file with the test that wrote it",
			s.Word(0))
	}
	return s.wrong("there is no function %s%s", s.Word(0), suggest(s.Word(0), names))
}

// ensure evaluates same-end or a function of the registry, and returns the error or "". If a time limit interrupted a
// reconcile, the world has not settled. A function is then called only for a step with "!".
func (r *Run) ensure(s *Step) string {
	if s.comparesEnds() {
		return r.compare(r, s)
	}
	if r.settled.how.Middle != "" && !s.Expect {
		return ""
	}
	var err error
	r.t.World.Do(s.String(), func() { err = r.registry.Funcs[s.Word(0)](r.t.Cluster.Client(law.User)) })
	if err != nil {
		return err.Error()
	}
	return ""
}
