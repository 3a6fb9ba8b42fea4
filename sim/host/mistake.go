package host

import (
	"fmt"
	"slices"
	"strings"
)

// notInNames are the characters that separate names in files and on command lines.
const notInNames = " \t\r\n\"'@#,="

// Check returns a mistake in a controller's declaration, in one line; nil if there is none.
func (ctl *Controller) Check() error {
	what := ctl.mistake()
	if what == "" {
		return nil
	}
	if ctl.Name == "" {
		return fmt.Errorf("a controller for %s: %s", orNothing(ctl.For.Kind), what)
	}
	return fmt.Errorf("controller %s: %s", ctl.Name, what)
}

func (ctl *Controller) mistake() string {
	switch {
	case ctl.Name == "":
		return "Name is empty: processes, files and pages name it"
	case strings.ContainsAny(ctl.Name, notInNames):
		return "a Name is one word, without quotes and @ # , ="
	case ctl.Name == "user" || ctl.Name == apiserver:
		return "the Name is taken: so whoever acts from outside the world is called"
	case strings.ContainsAny(ctl.Era, notInNames):
		return fmt.Sprintf("Era %q: it is one word, without quotes and @ # , =", ctl.Era)
	case ctl.New == nil:
		return "New is nil: it makes the memory and the Sync of each start"
	case ctl.program && (len(ctl.Routes) > 0 || ctl.Workers > 0):
		return "Routes and Workers are of a reconciler: a whole program has its own"
	case ctl.For.Empty() && (len(ctl.Owns) > 0 || ctl.Contract.Replicas != nil || ctl.Contract.Selector != nil):
		return "For is empty: the laws ask what it does for each object of that kind"
	}
	if err := ctl.Contract.Check(); err != nil {
		return err.Error()
	}
	for i, gvk := range ctl.Contract.Unwatched {
		if !slices.Contains(ctl.Owns, gvk) {
			return fmt.Sprintf("Unwatched[%d]: %s is none of Owns", i, gvk.Kind)
		}
	}
	for i, r := range ctl.Routes {
		switch {
		case ctl.Contract.Polls:
			return fmt.Sprintf("Routes[%d], of %s: one that Polls is woken by no event, and not asked whom it wakes", i,
				r.Kind.Kind)
		case slices.Contains(ctl.Contract.Unwatched, r.Kind):
			return fmt.Sprintf("Routes[%d]: %s is Unwatched: no event of it wakes anybody, and whom it wakes is not "+
				"asked", i, r.Kind.Kind)
		case r.Kind.Empty():
			return fmt.Sprintf("Routes[%d]: Kind is empty: events of which kind?", i)
		case r.Do == nil:
			return fmt.Sprintf("Routes[%d], of %s: Do is nil: it says what an event enqueues", i, r.Kind.Kind)
		}
	}
	return ""
}

func orNothing(kind string) string {
	if kind == "" {
		return "no kind"
	}
	return kind
}
