package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/threelaws/threelaws/sim"
)

// DOT renders ownership as a graph in Graphviz' language, with edges from owner to dependent. ControllerRefs are solid,
// other owner references dashed. A missing owner is dotted, a terminating object filled. The acts of a fight are red.
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
