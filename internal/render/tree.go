package render

import (
	"strings"
)

// Tree formats ownership as a forest. Each object is under its controller, or else under its first owner. A missing
// owner, a second owner and a deletion in progress stand after the name.
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
	for i := range objs { // the rest are cycles of owners
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

// parent returns the existing object that o is shown under.
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

// notes returns what the place in the tree does not show.
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

// Beside puts two texts side by side under headings, or one beneath the other if they do not fit into width columns.
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
