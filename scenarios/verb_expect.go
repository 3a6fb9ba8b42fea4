package scenarios

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
)

var verbExpect = &Verb{
	Name: expectation, Min: 1, Max: 2,
	Args:    "N KIND | KIND/NAME  [controller=KIND/NAME|none] [selector=LABELS] [deleting=true|false]",
	Summary: "require how many objects there are, or that one is there",
	Detail: `Holds in explored runs too, after each of their settles: what is true of the
default schedule only belongs in golden text.`,
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

// runExpectation compares the result of an expecting step with its "!".
func runExpectation(r *Run, s *Step) error {
	if what := s.verb.expects(r, s); what != "" {
		return s.fail(ExitFail, "%s", what)
	}
	if s.Expect {
		return s.missed("it holds")
	}
	return nil
}

// filter selects the objects that an expectation counts.
type filter struct {
	controller string
	selector   labels.Selector
	deleting   string
}

// expect returns what is wrong, or "" if the expectation holds.
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

// controllerName returns an object's controller by the name that files use.
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
	Detail: `The hash folds in everything that happened so far. It is the same in every run
of one schedule on every machine, and changes when behaviour does, or the version of
threelaws. In a file with a schedule it is not compared.`,
	Example: "hash",
	run: func(r *Run, s *Step) error {
		r.printf("%016x\n", r.hash())
		return nil
	},
}
