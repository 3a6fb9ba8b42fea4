package audit

import (
	"hash/maphash"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
)

func (f *fights) note(a *Auditor, c *change) {
	if c.met || c.assumed && c.verb != "delete" {
		return
	}
	f.existence(c)
	f.dependents(a, c)
	if c.before != nil && c.after != nil {
		f.claims(c)
		f.fields(c)
	}
}

func (c *change) named() string {
	return sim.Ref{Kind: c.kind, Namespace: c.place.namespace, Name: c.place.name}.String()
}

func (f *fights) claims(c *change) {
	d := c.says
	if !d.owner && !d.labels && !d.refs {
		return
	}
	t := f.track("claim " + string(c.after.UID))
	t.path.Begin(claim(c.before), c.at)
	t.control(claim(c.before), c.before)
	t.control(claim(c.after), c.after)
	if circle := t.visit(visit{State: claim(c.after), By: c.who, At: c.at, Words: c.wording()}); circle != nil {
		f.round(t, c, "owner and labels of "+c.named(), circle)
	}
}

func claim(o *Object) (sum uint64) {
	for k, v := range o.Labels {
		sum += maphash.String(seed, "l"+k+"="+v)
	}
	for _, r := range o.OwnerReferences {
		sum += maphash.String(seed, "o"+string(r.UID)+strconv.FormatBool(r.Controller != nil && *r.Controller))
	}
	return sum
}

// existence records that an object was created or deleted. It ignores objects with generated names. It also ignores
// objects with a controller: f.dependents counts them. A write by a system component clears the history.
func (f *fights) existence(c *change) {
	makes, ends := c.before == nil, c.says.deletes
	if active(c.before) != nil || active(c.after) != nil {
		return
	}
	if !makes && !ends || makes && c.after.GenerateName != "" || ends && c.before.GenerateName != "" {
		return
	}
	there, gone := uint64(1), uint64(0)
	t := f.track("there " + c.place.String() + "." + c.place.group)
	if c.who.Sort == Office {
		t.path.Clear()
		return
	}
	v := visit{State: there, By: c.who, At: c.at, Words: "create"}
	if ends {
		t.path.Begin(there, c.at)
		v.State, v.Words = gone, "delete"
	} else {
		t.path.Begin(gone, c.at)
	}
	if circle := t.visit(v); circle != nil {
		f.round(t, c, "the existence of "+c.named(), circle)
	}
}

func (f *fights) dependents(a *Auditor, c *change) {
	was, is := active(c.before), active(c.after)
	if was != nil && is != nil {
		return // the number of dependents stays; f.claims handles a change of the controller
	}
	f.count(a, c, was, -1)
	f.count(a, c, is, 1)
}

// active returns the controller of an object, or nil if the object is terminating.
func active(o *Object) *metav1.OwnerReference {
	if o.deleting() {
		return nil
	}
	return o.controller()
}

func (f *fights) count(a *Auditor, c *change, owner *metav1.OwnerReference, by int) {
	if owner == nil {
		return
	}
	t := f.track("owned " + string(owner.UID) + " " + c.kind)
	t.path.Begin(uint64(t.count), c.at)
	t.count += by
	words := c.verb + " " + c.named()
	if c.family && by < 0 || c.who.Sort == Program && by < 0 && !a.anothers(c, owner) {
		t.path.Restart(visit{State: uint64(t.count), At: c.at}) // a controller may delete its owner's dependents
		return
	}
	if circle := t.visit(visit{State: uint64(t.count), By: c.who, At: c.at, Words: words}); circle != nil {
		f.round(t, c, "the "+c.place.resource+" of "+sim.Ref{Kind: owner.Kind, Namespace: c.place.namespace,
			Name: owner.Name}.String(), circle)
	}
}

func (f *fights) fields(c *change) {
	if c.entry == nil {
		return
	}
	b, n := c.before, c.after
	for k, v := range b.Annotations {
		if w := n.Annotations[k]; w != v && writer(&c.entry.specBy, c.who) {
			f.field(c, "metadata.annotations["+k+"]", v, w)
		}
	}
	for k, w := range n.Annotations {
		if _, ok := b.Annotations[k]; !ok && writer(&c.entry.specBy, c.who) {
			f.field(c, "metadata.annotations["+k+"]", "", w)
		}
	}
	if c.says.finalizers && writer(&c.entry.specBy, c.who) {
		f.field(c, "metadata.finalizers", strings.Join(b.Finalizers, " "), strings.Join(n.Finalizers, " "))
	}
	if c.sub == "scale" && n.spec == nil {
		if c.asked.replicas != "" && writer(&c.entry.specBy, c.who) {
			f.field(c, "spec.replicas", "", c.asked.replicas)
		}
		return
	}
	if c.says.spec && writer(&c.entry.specBy, c.who) && b.spec != nil {
		different(b.spec, n.spec, "", func(path, was, is string) { f.field(c, path, was, is) })
	}
	if c.says.status && writer(&c.entry.statusBy, c.who) && b.status != nil {
		different(b.status, n.status, "status", func(path, was, is string) { f.field(c, path, was, is) })
	}
}

func (f *fights) field(c *change, path, was, is string) {
	path = render.Plain(path)
	t := f.track("field " + string(c.after.UID) + " " + path)
	t.path.Begin(maphash.String(seed, was), c.at)
	if circle := t.visit(visit{State: maphash.String(seed, is), By: c.who, At: c.at,
		Words: path + " = " + short(is)}); circle != nil {
		f.round(t, c, path+" of "+c.named(), circle)
	}
}

// writer adds an actor to a list of at most four, and reports whether the list has more than one actor.
func writer(list *[]*Actor, who *Actor) bool {
	if !slices.Contains(*list, who) && len(*list) < mostWriters {
		*list = append(*list, who)
	}
	return len(*list) > 1
}

func short(v string) string {
	if v == "" {
		return "nothing"
	}
	if r := []rune(render.Plain(v)); len(r) > 40 {
		return string(r[:37]) + "..."
	}
	return render.Plain(v)
}

const mostFields = 16

// different calls f for each field whose values differ between two JSON objects, but at most 16 times.
func different(a, b []byte, path string, f func(path, was, is string)) {
	left := mostFields
	differ(a, b, path, &left, f)
}

func differ(a, b []byte, path string, left *int, f func(path, was, is string)) {
	if string(a) == string(b) || *left == 0 {
		return
	}
	if len(a) == 0 || len(b) == 0 || a[0] != b[0] || a[0] != '{' && a[0] != '[' {
		*left--
		f(path, string(a), string(b))
		return
	}
	if a[0] == '[' {
		x, y := list2(a), list2(b)
		if len(x) != len(y) {
			*left--
			f(path, string(a), string(b))
			return
		}
		for i := range x {
			differ(x[i], y[i], path+"["+strconv.Itoa(i)+"]", left, f)
		}
		return
	}
	var keys []string
	values := map[string][2][]byte{}
	for side, from := range [][]byte{a, b} {
		_ = members(from, func(k, v []byte) bool {
			pair, ok := values[string(k)]
			if !ok {
				keys = append(keys, string(k))
			}
			pair[side] = v
			values[string(k)] = pair
			return true
		})
	}
	for _, k := range keys {
		at := k
		if path != "" {
			at = path + "." + k
		}
		differ(values[k][0], values[k][1], at, left, f)
	}
}

func list2(b []byte) (out [][]byte) {
	elements(b, func(v []byte) { out = append(out, v) })
	return out
}
