package generated_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim/host"
)

// declared is what the controller of a world tells the laws of each of its objects, and of
// what these own, as things are.
func declared(w *world) []string {
	p := w.process()
	if p == nil {
		return nil
	}
	c := p.Controller()
	if c.For.Kind == "" {
		return ofStrangers(w, &c)
	}
	all := func(kind string) []runtime.Object { return objects[runtime.Object](w, kind) }
	var lines []string
	for _, owner := range all(c.For.Kind) {
		m := owner.(metav1.Object)
		var own []runtime.Object
		for _, gvk := range c.Owns {
			for _, obj := range all(gvk.Kind) {
				if metav1.IsControlledBy(obj.(metav1.Object), m) {
					own = append(own, obj)
				}
			}
		}
		lines = append(lines, m.GetName()+": "+ofOwner(&c, owner, own, all))
		for i, obj := range own {
			others := slices.Delete(slices.Clone(own), i, i+1)
			lines = append(lines, fmt.Sprintf("%s, %s: %s", m.GetName(), obj.(metav1.Object).GetName(),
				ofDependent(&c, owner, obj, others, all, w.World.Clock.Now())))
		}
	}
	return lines
}

// ofStrangers is what a controller without a kind of its own says of the objects that it may
// keep, or remove.
func ofStrangers(w *world, c *host.Controller) (lines []string) {
	if c.Keeps == nil && c.Spares == nil && c.Stays == nil {
		return nil
	}
	for _, k := range w.process().Watches() {
		for _, obj := range objects[runtime.Object](w, k.GVK.Kind) {
			var l words
			if c.Keeps != nil {
				l.say("kept", c.Keeps(obj,
					func(kind string) []runtime.Object { return objects[runtime.Object](w, kind) }))
			}
			if c.Stays != nil {
				l.say("stays", c.Stays(obj, w.World.Clock.Now()))
			}
			if c.Spares != nil {
				get := func(kind, namespace, name string) runtime.Object {
					return w.Server.Lookup(w.kind(kind), namespace, name)
				}
				l.say("quarantine", c.Quarantine)
				l.say("marked", c.Spares(obj, false, get))
				l.say("removed", c.Spares(obj, true, get))
			}
			lines = append(lines, obj.(metav1.Object).GetName()+": "+strings.Join(l, ", "))
		}
	}
	return lines
}

// words are what is said of something.
type words []string

func (l *words) say(name string, v any) { *l = append(*l, fmt.Sprintf("%s %v", name, v)) }

func ofOwner(c *host.Controller, owner runtime.Object, own []runtime.Object,
	all func(string) []runtime.Object) string {
	var l words
	for _, f := range []struct {
		name string
		of   func(runtime.Object) int
	}{{"replicas", c.Replicas}, {"surge", c.Surge}, {"unavailable", c.Unavailable}, {"most", c.Most},
		{"counted", c.Counted}} {
		if f.of != nil {
			l.say(f.name, f.of(owner))
		}
	}
	l.say("profile", c.Profile)
	l.say("finalizers", c.Finalizers)
	l.say("unwatched", c.Unwatched)
	if c.Leaves != nil {
		l.say("leaves", c.Leaves(owner))
	}
	if c.Selector != nil {
		l.say("selector", c.Selector(owner))
	}
	for _, n := range c.Counts {
		l.say(n.Name, n.Of(owner))
		if n.Ever || n.Once {
			l.say("for good", n.Once)
		}
	}
	if c.Amiss != nil {
		l.say("amiss", c.Amiss(owner, own, all))
		l.say("neglects", c.Neglects(owner, own, all))
	}
	return strings.Join(l, ", ")
}

func ofDependent(c *host.Controller, owner, obj runtime.Object, others []runtime.Object,
	all func(string) []runtime.Object, now time.Time) string {
	var l words
	if c.Identity != nil {
		l.say("is", c.Identity(obj))
	}
	if c.Active != nil {
		l.say("active", c.Active(obj))
	}
	for _, f := range []struct {
		name string
		of   func(owner, dependent runtime.Object) bool
	}{{"wanted", c.Wanted}, {"awaits", c.Awaits}, {"willing", c.Willing}} {
		if f.of != nil {
			l.say(f.name, f.of(owner, obj))
		}
	}
	if c.Lacks != nil {
		l.say("lacks", c.Lacks(owner, obj, all))
	}
	if c.Retries != nil {
		l.say("retries", c.Retries(owner, obj, all))
	}
	if c.Strands != nil {
		l.say("strands", c.Strands(owner, obj, all))
	}
	for _, n := range c.Counts {
		if n.Is != nil {
			l.say(n.Name, n.Is(owner, obj))
		}
		if n.Each != nil {
			l.say(n.Name, n.Each(owner, obj))
		}
	}
	if c.Twins != nil {
		for _, other := range others {
			l.say("twin", c.Twins(owner, obj, other))
		}
	}
	if c.Oversteps != nil && kindOf(obj) == kindOf(c.Owns[0]) {
		l.say("made", c.Oversteps(owner, others, nil, obj, now, all))
		l.say("deleted", c.Oversteps(owner, others, obj, nil, now, all))
		for _, other := range others {
			if kindOf(other) == kindOf(obj) {
				l.say("written", c.Oversteps(owner, others, other, obj, now, all))
			}
		}
	}
	return strings.Join(l, ", ")
}

func kindOf(of any) string {
	if gvk, is := of.(schema.GroupVersionKind); is {
		return gvk.Kind
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", of)[strings.LastIndexByte(fmt.Sprintf("%T", of), '.'):], ".")
}
