package scenarios

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law"
)

// amounts lists the kinds of predictions, in output order.
var amounts = []string{"created", "deleted", "adopted", "released", "moved"}

var verbPredict = &Verb{
	Name: "predict", Min: 1, Max: 1,
	Args:    "KIND [created=N] [deleted=N] [adopted=N] [released=N] [moved=N] [fight=true|false]",
	Summary: "require how many objects the last settle created, deleted and handed over",
	Detail: `Counts what the controllers did to objects of a kind since the settle before the last,
in explored runs too. N is a number, or two with ".." between them. An object that is
deleted counts when its deletion is accepted; one is moved when its ControllerRef goes from
one owner to another. What is left out is predicted to be none, fight apart: with it the
last settle must have ended in a fight that was found, or in none.`,
	Example: "switch all controllerref\nsettle\npredict pods adopted=3\npredict pods created=0..2 adopted=1",
	Params: []Param{
		{Name: "created", Summary: "how many objects were made"},
		{Name: "deleted", Summary: "how many deletions were accepted"},
		{Name: "adopted", Summary: "how many got a ControllerRef that had none"},
		{Name: "released", Summary: "how many lost their ControllerRef"},
		{Name: "moved", Summary: "how many changed their ControllerRef for another"},
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

// between reads a parameter that is a number or a range; a missing one is 0.
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

// predict returns what differs from the prediction, or "".
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

// changed counts what others than the user did to objects of a kind, in the order of amounts. It begins where the
// timeline of the last settle begins.
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
