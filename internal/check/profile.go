package check

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// text formats what quiet runs show of the controller. docs/use/check.md explains each line.
func (f *found) text(s *subject) string {
	var b strings.Builder
	line := func(what string, list ...string) {
		if text := strings.Join(list, ", "); text != "" {
			fmt.Fprintf(&b, "  %-11s %s\n", what, text)
		}
	}
	fmt.Fprintf(&b, "%s, as quiet runs show it:\n", s.Controller.Name)
	line("works on", worded(s.Controller.For))
	if f.raised != nil {
		line("sample", fmt.Sprintf("with %s: %v in place of %v, to have more than one dependent", f.raised.name, f.raised.is, f.raised.was))
	}
	for _, gvk := range f.also {
		line("also", "works on "+worded(gvk)+", whoever owns it")
	}
	line("watches", f.watches...)
	for _, c := range f.creates {
		line("creates", c.kind.Kind+" "+c.how)
	}
	line("writes", f.writes...)
	line("finalizers", f.finalizers...)
	switch {
	case f.selector != nil:
		line("adopts", f.selector.String())
	case f.adopts:
		line("adopts", "yes, by what could not be found out")
	case f.byName:
		line("adopts", "what has the name of a dependent")
	case len(f.dependents) > 0:
		line("adopts", "nothing")
	}
	if f.releases {
		line("releases", "what its labels do not match any more")
	}
	line("names", f.fixed...)
	for _, gvk := range f.once {
		line("creates once", gvk.Kind+": one that is deleted is not created again")
	}
	for _, text := range f.unnoticed {
		line("notices", "no deletion of "+text)
	}
	if f.ticks != nil {
		line("by clock", f.ticks.String())
	} else if s.lasts > 0 {
		line("by clock", "a world ends after "+s.lasts.String())
	}
	if len(s.With) > 1 { // than the garbage collector
		line("beside", s.With...)
	}
	for _, gvk := range f.asleep {
		line("no event", "on a "+gvk.Kind+" wakes it")
	}
	for _, e := range f.follows() {
		line("follows", e.String())
	}
	var gone []string
	for _, e := range f.removes {
		gone = append(gone, e.name)
	}
	if len(gone) > 0 {
		line("follows", "the removal of "+strings.Join(gone, ", "))
	}
	for _, e := range f.history {
		line("follows", e.String()+", and it keeps what it had before")
	}
	for _, d := range f.distinct {
		line("chooses", d.String()+": another value for each owner")
	}
	if f.keeps != nil {
		line("keeps", f.keeps.String())
	}
	if f.untried > 0 {
		line("not tried", fmt.Sprintf("%d further fields of its spec", f.untried))
	}
	if f.fights != nil {
		line("follows", f.fights.String()+", and does not settle any more")
	}
	for _, e := range f.waits {
		line("waits", "after "+e.String()+": it tries again, and writes nothing")
	}
	for _, p := range policies {
		if f.takes[p] {
			line("deletes", "its dependents itself, its owner being deleted by policy "+string(p))
		}
	}
	cleans := f.cleans[metav1.DeletePropagationBackground]
	for _, r := range cleans.removes {
		line("deletes", r.kind.Kind+" "+none+" when its owner is deleted")
	}
	for _, gvk := range cleans.leaves {
		line("leaves", gvk.Kind+" "+none+" when its owner is deleted, though it puts a finalizer on it")
	}
	line("unknown", f.unknown...)
	return b.String()
}
