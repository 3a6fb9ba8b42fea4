package watch

import (
	"slices"
	"strings"
)

// mostNamed limits the objects named in a text.
const mostNamed = 3

// stuck describes what a deleted object waits for.
func (c *Cluster) stuck(e *entry) string {
	o := e.now
	if !o.terminating() {
		return ""
	}
	var parts []string
	for _, f := range o.Finalizers {
		switch f {
		case "foregroundDeletion":
			parts = append(parts, "the finalizer foregroundDeletion, which the garbage collector takes off when its "+
				"dependents are gone: "+c.blocking(e))
		case "orphan":
			parts = append(parts, "the finalizer orphan, which the garbage collector takes off when it has taken the "+
				"owner off its dependents")
		default:
			parts = append(parts, "the finalizer "+f+", for whoever put it there")
		}
	}
	parts = append(parts, o.waits...)
	switch {
	case len(parts) > 0:
	case o.of.Kind == "Pod" && o.node != "":
		parts = append(parts, "the kubelet of node "+o.node)
	case o.of.Kind == "Namespace":
		parts = append(parts, "the namespace controller")
	default:
		parts = append(parts, "nothing that it says")
	}
	return "it was deleted and is still there; it waits for " + strings.Join(parts, ", and ")
}

// blocking names the dependents that block an owner's deletion, and what they wait for.
func (c *Cluster) blocking(e *entry) string {
	var names []string
	for d := range c.dependents[e.now.UID] {
		for _, r := range d.now.OwnerReferences {
			if r.UID != e.now.UID || r.BlockOwnerDeletion == nil || !*r.BlockOwnerDeletion {
				continue
			}
			name := ownerOf(d.now)
			if d.now.terminating() && len(d.now.Finalizers) > 0 {
				name += " (which has " + strings.Join(d.now.Finalizers, ", ") + ")"
			}
			names = append(names, name)
		}
	}
	slices.Sort(names)
	switch {
	case len(names) == 0:
		return "none that is known blocks it"
	case len(names) > mostNamed:
		return strings.Join(names[:mostNamed], ", ") + " and others"
	}
	return strings.Join(names, ", ")
}
