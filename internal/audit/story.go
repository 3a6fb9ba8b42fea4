package audit

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
)

// line is one line of an object's story.
type line struct {
	At     time.Time `json:"at"`
	Who    string    `json:"who"`
	Did    string    `json:"did"` // "patch"
	Object string    `json:"object"`
	Change string    `json:"change,omitempty"`
}

// lineOf describes a change.
func lineOf(c *change) line {
	did := c.verb
	if c.sub != "" {
		did += " " + c.sub
	}
	ref := sim.Ref{Kind: c.kind, Namespace: c.place.namespace, Name: c.place.name}
	return line{At: c.at, Who: c.who.Name, Did: did, Object: ref.String(), Change: c.wording()}
}

// wording describes a change in a few words.
func (c *change) wording() string {
	var parts []string
	b, n, d := c.before, c.after, c.says
	switch {
	case c.met:
		return ""
	case b == nil:
		return strings.Join(owned(n), "; ")
	case n == nil:
		return strings.Join(append([]string{"gone"}, owned(b)...), "; ")
	}
	if d.deletes {
		parts = append(parts, "deletionTimestamp set")
	}
	if d.owner {
		parts = append(parts, "controller: "+controllerName(b)+" -> "+controllerName(n))
	}
	if d.labels {
		parts = append(parts, render.MapChanges("labels", b.Labels, n.Labels)...)
	}
	for what, is := range map[string]bool{"finalizers": d.finalizers, "owners": d.refs, "spec": d.spec} {
		if is {
			parts = append(parts, what)
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, "; ")
}

func owned(o *Object) []string {
	switch {
	case o.controller() != nil:
		return []string{"controller: " + controllerName(o)}
	case len(o.OwnerReferences) > 0:
		return []string{"owner, no controller: " + sim.Short(o.OwnerReferences[0].Kind) + "/" +
			o.OwnerReferences[0].Name}
	}
	return nil
}

func controllerName(o *Object) string {
	if ref := o.controller(); ref != nil {
		return ownerName(ref)
	}
	return "none"
}

func ownerName(ref *metav1.OwnerReference) string { return sim.Short(ref.Kind) + "/" + ref.Name }

// mostLines limits an object's story.
const mostLines = 5

// told adds a change to an object's story, except writes of status.
func (n *entry) told(c *change) {
	if c.before != nil && !c.says.owner && !c.says.labels && !c.says.spec && !c.says.deletes && !c.says.refs {
		return
	}
	if len(n.lines) == mostLines {
		n.lines = append(n.lines[:1], n.lines[2:]...) // the first line is kept
	}
	n.lines = append(n.lines, lineOf(c))
}
