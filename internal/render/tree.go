package render

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim"
)

// Tree formats ownership as trees. An object is below its controller, or below its first owner if it has no controller.
// Behind the object's name, the tree shows missing owners, further owners, and that the object is terminating.
func Tree(objs []Object) string {
	if len(objs) == 0 {
		return "(none)\n"
	}
	t := forest{objs: objs, at: map[string]int{}, under: map[string][]int{}}
	for i, o := range objs {
		t.at[id(o.Ref)] = i
	}
	var roots []int
	for i, o := range objs {
		if p, ok := t.parent(o); ok {
			t.under[id(p.Ref)] = append(t.under[id(p.Ref)], i)
		} else {
			roots = append(roots, i)
		}
	}
	var b strings.Builder
	for _, i := range roots {
		t.write(&b, i, "", "", "")
	}
	for i := range objs { // the remaining objects are in cycles of owners
		if !t.seen[i] {
			t.write(&b, i, "", "", "")
		}
	}
	return b.String()
}

type forest struct {
	objs  []Object
	at    map[string]int
	under map[string][]int
	seen  map[int]bool
}

// parent returns the existing owner below which an object is shown.
func (t *forest) parent(o Object) (Object, bool) {
	best := -1
	for _, w := range o.Owners {
		i, ok := t.at[id(w.Ref)]
		if ok && (best < 0 || w.Controller) {
			best = i
		}
	}
	if best < 0 {
		return Object{}, false
	}
	return t.objs[best], true
}

func (t *forest) write(b *strings.Builder, i int, lead, branch, below string) {
	if t.seen == nil {
		t.seen = map[int]bool{}
	}
	o := t.objs[i]
	b.WriteString(lead + branch + o.Ref.String())
	if t.seen[i] {
		b.WriteString("  owns itself in a circle\n")
		return
	}
	t.seen[i] = true
	if notes := t.notes(o); notes != "" {
		b.WriteString("  " + notes)
	}
	b.WriteByte('\n')
	kids := t.under[id(o.Ref)]
	for n, k := range kids {
		if n == len(kids)-1 {
			t.write(b, k, lead+below, "└─ ", "   ")
		} else {
			t.write(b, k, lead+below, "├─ ", "│  ")
		}
	}
}

func (t *forest) notes(o Object) string {
	var notes string
	parent, _ := t.parent(o)
	for _, w := range o.Owners {
		name := w.Ref.String()
		_, exists := t.at[id(w.Ref)]
		switch {
		case !exists && w.Controller:
			notes = join(notes, "controller "+name+" missing")
		case !exists:
			notes = join(notes, "owner "+name+" missing")
		case id(w.Ref) == id(parent.Ref) && !w.Controller:
			notes = join(notes, "owner, not controller")
		case id(w.Ref) != id(parent.Ref):
			notes = join(notes, "also owned by "+name)
		}
	}
	if o.Deleting {
		notes = join(notes, "being deleted")
	}
	return notes
}

// Beside formats two texts with headings side by side. If they do not fit into width columns, the second is below.
func Beside(leftHead, left, rightHead, right string, width int) string {
	l := strings.Split(strings.TrimRight(left, "\n"), "\n")
	r := strings.Split(strings.TrimRight(right, "\n"), "\n")
	wide := len(leftHead)
	for _, s := range l {
		wide = max(wide, len([]rune(s)))
	}
	widest := len(rightHead)
	for _, s := range r {
		widest = max(widest, len([]rune(s)))
	}
	if wide+4+widest > width {
		return leftHead + "\n" + indent(left, "  ") + rightHead + "\n" + indent(right, "  ")
	}
	var b strings.Builder
	b.WriteString(pad(leftHead, wide+4) + rightHead + "\n")
	for i := range max(len(l), len(r)) {
		var a, c string
		if i < len(l) {
			a = l[i]
		}
		if i < len(r) {
			c = r[i]
		}
		b.WriteString(strings.TrimRight(pad(a, wide+4)+c, " ") + "\n")
	}
	return b.String()
}

func indent(text, by string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			b.WriteString(line)
			continue
		}
		b.WriteString(by + line)
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		b.WriteByte('\n')
	}
	return b.String()
}

// Object is an object at a point in a history.
type Object struct {
	Ref      sim.Ref
	Owners   []Owner
	Deleting bool
}

// Objects returns the objects that exist before record upto, sorted by kind, namespace and name. It reads only commits.
// If early records are no longer in the history, objects may be missing.
func Objects(h *sim.History, upto int) []Object {
	latest := map[sim.Ref]any{}
	for i := 0; i < upto && i < h.Len(); i++ {
		r := h.At(i)
		if r == nil || r.Op != sim.Commit {
			continue
		}
		if r.After == nil {
			delete(latest, r.Object)
		} else {
			latest[r.Object] = r.After
		}
	}
	objs := make([]Object, 0, len(latest))
	for ref, obj := range latest { //detcheck:ordered the references are unique, and sorted below
		objs = append(objs, Object{Ref: ref, Owners: Owners(obj), Deleting: Deleting(obj)})
	}
	slices.SortFunc(objs, func(a, b Object) int { return CompareRefs(a.Ref, b.Ref) })
	return objs
}

// CompareRefs compares references by kind, namespace, name and UID. Numbers at the end of a name compare as numbers.
func CompareRefs(a, b sim.Ref) int {
	if c := strings.Compare(a.Kind, b.Kind); c != 0 {
		return c
	}
	if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
		return c
	}
	if c := naturally(a.Name, b.Name); c != 0 {
		return c
	}
	return strings.Compare(a.UID, b.UID)
}

// naturally compares names so that web-2 comes before web-10.
func naturally(a, b string) int {
	x, y := strings.TrimRight(a, "0123456789"), strings.TrimRight(b, "0123456789")
	if x == y && len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// Related returns the objects that are connected by owner references, in any direction, with one of the given objects.
func Related(objs []Object, refs ...sim.Ref) []Object {
	in := map[string]bool{}
	for _, r := range refs {
		in[id(r)] = true
	}
	for grown := true; grown; {
		grown = false
		for _, o := range objs {
			for _, w := range o.Owners {
				a, b := id(o.Ref), id(w.Ref)
				if in[a] != in[b] {
					in[a], in[b], grown = true, true, true
				}
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(objs), func(o Object) bool { return !in[id(o.Ref)] })
}

// id returns a key that is equal for an object and for owner references to it.
func id(r sim.Ref) string { return r.Kind + "/" + r.Name + "/" + r.UID }

// Owner is an owner reference.
type Owner struct {
	Ref        sim.Ref
	Controller bool // the reference is the ControllerRef
}

// Deleting reports whether an object has a deletion timestamp.
func Deleting(obj any) bool {
	m, ok := obj.(metav1.Object)
	return ok && m.GetDeletionTimestamp() != nil
}

// Owners lists an object's owner references in their order.
func Owners(obj any) []Owner {
	m, ok := obj.(metav1.Object)
	if !ok {
		return nil
	}
	var owners []Owner
	for _, r := range m.GetOwnerReferences() {
		owners = append(owners, Owner{Ref: ownerRef(m, r), Controller: r.Controller != nil && *r.Controller})
	}
	return owners
}

// ownerRef returns the object to which an owner reference refers. Owners of a few core kinds are cluster-scoped. Every
// other owner is in the dependent's namespace.
func ownerRef(m metav1.Object, r metav1.OwnerReference) sim.Ref {
	ref := sim.Ref{Kind: r.Kind, Namespace: m.GetNamespace(), Name: r.Name, UID: string(r.UID)}
	if gv, err := schema.ParseGroupVersion(r.APIVersion); err == nil && gv.Group == "" &&
		(r.Kind == "Node" || r.Kind == "Namespace" || r.Kind == "PersistentVolume") {
		ref.Namespace = ""
	}
	return ref
}

// ControllerOf returns the owner in an object's ControllerRef.
func ControllerOf(obj any) (sim.Ref, bool) {
	for _, o := range Owners(obj) {
		if o.Controller {
			return o.Ref, true
		}
	}
	return sim.Ref{}, false
}
