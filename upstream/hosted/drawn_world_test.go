package hosted_test

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"
)

// drawing is a world that is drawn: who runs in it, and what a user does, which settles
// before he does the next.
type drawing struct {
	started []string
	acts    []act

	t      *rapid.T
	owners []owner
	strays []place // objects that are nobody's, or somebody else's
}

// place is an object as it is typed: "rs", "web".
type place struct{ kind, name string }

func (p place) String() string { return p.kind + "/" + p.name }

// owner is an object that a controller keeps dependents for.
type owner struct {
	place
	shape *shape
}

// drawn are worlds of one or two owners, often with one selector, strays that they may claim, and
// what is done to all of them.
var drawn = rapid.Custom(func(t *rapid.T) *drawing {
	d := &drawing{t: t, started: []string{"garbagecollector", "kubelet"}}
	d.apply(around)
	d.patch(place{"node", "a"}, "{spec: {taints: null}}")
	s := d.shape()
	if d.flip() {
		d.stray(s)
	}
	d.make(s)
	for range d.number(1, 5) {
		d.act()
	}
	slices.Sort(d.started)
	d.started = slices.Compact(d.started)
	return d
})

// String is the world as somebody reads it.
func (d *drawing) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "controllers %s\n", strings.Join(d.started, " "))
	for _, a := range d.acts[2:] {
		b.WriteString(a.String() + "\n")
	}
	return b.String()
}

func (d *drawing) flip() bool { return rapid.Bool().Draw(d.t, "flip") }

func (d *drawing) number(from, to int) int { return rapid.IntRange(from, to).Draw(d.t, "number") }

// one draws one of some texts.
func (d *drawing) one(texts ...string) string { return rapid.SampledFrom(texts).Draw(d.t, "one") }

func (d *drawing) shape() *shape { return &shapes[d.number(0, len(shapes)-1)] }

func (d *drawing) apply(manifest string) {
	d.acts = append(d.acts, act{verb: "create", text: manifest})
}

func (d *drawing) patch(p place, text string) {
	d.acts = append(d.acts, act{verb: "patch", place: p, text: text})
}

func (d *drawing) delete(p place, policy metav1.DeletionPropagation) {
	d.acts = append(d.acts, act{verb: "delete", place: p, policy: policy})
}

// make has an owner made, of a name that none has: what is generated of it stands in nobody's way.
func (d *drawing) make(s *shape) {
	o := owner{place{s.kind, d.one("one", "two") + "-" + s.kind}, s}
	if slices.ContainsFunc(d.owners, func(p owner) bool { return p.place == o.place }) {
		return
	}
	d.started = append(d.started, s.by...)
	d.owners = append(d.owners, o)
	d.apply(strings.NewReplacer("NAME", o.name, "APP", d.app()).Replace(s.text(d)))
}

func (d *drawing) app() string { return d.one("web", "web", "api") }

// stray has something made that an owner may claim, or that is somebody else's.
func (d *drawing) stray(s *shape) {
	if s.adopts == "" {
		return
	}
	p := place{s.adopts, fmt.Sprintf("stray-%d", len(d.strays))}
	d.strays = append(d.strays, p)
	d.apply(strings.NewReplacer("NAME", p.name, "APP", d.app(), "META", d.one("", "", held, others, shared)).
		Replace(strayOf[s.adopts](d)))
}

// act has the user do something to one of the owners or strays.
func (d *drawing) act() {
	if len(d.owners) == 0 {
		d.make(d.shape())
		return
	}
	i := d.number(0, len(d.owners)-1)
	o := d.owners[i]
	switch d.number(0, 7) {
	case 0:
		if o.shape.scales {
			d.patch(o.place, fmt.Sprintf("{spec: {replicas: %d}}", d.number(0, 3)))
			return
		}
		d.edit(o)
	case 1, 2:
		d.edit(o)
	case 3:
		d.stray(o.shape)
	case 4:
		if len(d.strays) > 0 {
			d.patch(d.aStray(), "{metadata: {labels: {app: "+d.one("web", "api", "none")+"}}}")
		}
	case 5:
		if len(d.strays) > 0 {
			p := d.aStray()
			d.delete(p, "")
			d.patch(p, "{metadata: {finalizers: null}}")
		}
	case 6:
		d.delete(o.place, metav1.DeletionPropagation(d.one("Background", "Foreground", "Orphan")))
		d.owners = slices.Delete(d.owners, i, i+1)
		if d.flip() {
			d.make(o.shape)
		}
	case 7:
		d.make(d.shape())
	}
}

func (d *drawing) edit(o owner) {
	if len(o.shape.edits) > 0 {
		d.patch(o.place, d.one(o.shape.edits...))
	}
}

func (d *drawing) aStray() place { return d.strays[d.number(0, len(d.strays)-1)] }
