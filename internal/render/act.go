package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/threelaws/threelaws/sim"
)

// Act is one write of a fight, drawn as an edge.
type Act struct {
	Who  string  // the writer, if For names no object
	For  sim.Ref // the object whose controller wrote
	Ref  sim.Ref // the object that was written
	Verb string  // "7: delete"
}

// Acts returns the lines with a cycle's records.
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

// Around returns the objects before a cycle and at its end.
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

// fightEdges draws each write to an object; a writer without a node gets one.
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
			from = node("who "+a.Who, a.Who) // two controllers may fight over an object that both reconcile
		}
		edges = append(edges,
			fmt.Sprintf("  %s -> %s [label=%q, color=red, fontcolor=red]\n", from, node(id(a.Ref), a.Ref.String()),
				a.Verb))
	}
	return edges
}
