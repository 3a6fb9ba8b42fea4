package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/threelaws/threelaws/sim"
)

// DOT formats ownership as a Graphviz graph, with edges from owner to dependent. Edges of ControllerRefs are solid,
// others are dashed. Missing owners are dotted, terminating objects are filled. The acts of a fight are red.
func DOT(objs []Object, acts []Act) string {
	nodes := map[string]string{}
	var missing []sim.Ref
	for i, o := range objs {
		nodes[id(o.Ref)] = fmt.Sprintf("n%d", i)
	}
	for _, o := range objs {
		for _, w := range o.Owners {
			if nodes[id(w.Ref)] == "" {
				nodes[id(w.Ref)] = fmt.Sprintf("m%d", len(missing))
				missing = append(missing, w.Ref)
			}
		}
	}
	var b strings.Builder
	b.WriteString("digraph owners {\n  rankdir=LR\n  node [shape=box]\n")
	for _, o := range objs {
		style := ""
		if o.Deleting {
			style = ", style=filled, fillcolor=lightgrey"
		}
		fmt.Fprintf(&b, "  %s [label=%q%s]\n", nodes[id(o.Ref)], o.Ref.String(), style)
	}
	for _, r := range missing {
		fmt.Fprintf(&b, "  %s [label=%q, style=dotted]\n", nodes[id(r)], r.String()+" (missing)")
	}
	edges := fightEdges(&b, nodes, acts)
	for _, o := range objs {
		for _, w := range o.Owners {
			style := " [style=dashed]"
			if w.Controller {
				style = ""
			}
			edges = append(edges, fmt.Sprintf("  %s -> %s%s\n", nodes[id(w.Ref)], nodes[id(o.Ref)], style))
		}
	}
	slices.Sort(edges)
	edges = slices.Compact(edges)
	for _, e := range edges {
		b.WriteString(e)
	}
	b.WriteString("}\n")
	return b.String()
}

// Act is a write of a fight, which is drawn as an edge.
type Act struct {
	Who  string  // the writer; if it is not named like For, it gets its own node
	For  sim.Ref // the object that the writer was reconciling
	Ref  sim.Ref // the object that was written
	Verb string  // the line's number and verb: "7: delete"
}

// Acts returns the writes in the lines with records of a cycle.
func Acts(h *sim.History, lines []Line, cycle []int) []Act {
	var acts []Act
	for i := range lines {
		l := &lines[i]
		if !slices.ContainsFunc(l.Records, func(r int) bool { return slices.Contains(cycle, r) }) {
			continue
		}
		if r := h.At(l.Records[0]); r != nil && r.Op == sim.Commit {
			acts = append(acts, Act{Who: l.Who, For: r.For, Ref: r.Object, Verb: strconv.Itoa(l.N) + ": " + l.Verb})
		}
	}
	return acts
}

// Around returns the objects that exist before or after a fight's cycle.
func Around(h *sim.History, cycle []int) []Object {
	if len(cycle) == 0 {
		return nil
	}
	objs := Objects(h, slices.Max(cycle)+1)
	for _, o := range Objects(h, slices.Min(cycle)) {
		if !slices.ContainsFunc(objs, func(p Object) bool { return p.Ref == o.Ref }) {
			objs = append(objs, o)
		}
	}
	slices.SortFunc(objs, func(a, b Object) int { return CompareRefs(a.Ref, b.Ref) })
	return objs
}

// fightEdges returns an edge for each write. It adds the missing nodes of writers and of written objects.
func fightEdges(b *strings.Builder, nodes map[string]string, acts []Act) []string {
	var edges []string
	node := func(key, label string) string {
		if nodes[key] == "" {
			nodes[key] = fmt.Sprintf("a%d", len(nodes))
			fmt.Fprintf(b, "  %s [label=%q, color=red]\n", nodes[key], label)
		}
		return nodes[key]
	}
	for _, a := range acts {
		from := nodes[id(a.For)]
		if from == "" || a.Who != a.For.String() {
			from = node("who "+a.Who, a.Who) // the writer: several controllers may reconcile a.For
		}
		edges = append(edges,
			fmt.Sprintf("  %s -> %s [label=%q, color=red, fontcolor=red]\n", from, node(id(a.Ref), a.Ref.String()),
				a.Verb))
	}
	return edges
}
