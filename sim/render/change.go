package render

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim"
)

// Change is what one commit did.
type Change struct {
	Verb   string // adopt, release, create, delete, scale, status, patch, update, ...
	Detail string // "controller: none -> rs/web-a"
	Noise  bool   // status writes and the like: shown only in a verbose timeline
}

// ChangeOf names what a commit did.
func ChangeOf(r *sim.Record) Change {
	c := Change{Verb: r.Verb}
	switch {
	case r.Before == nil:
		c.Verb = "create"
		if owner, ok := ControllerOf(r.After); ok && !same(owner, r.For) {
			c.Detail = "controller: " + owner.String()
		} else if !ok && !r.For.IsZero() {
			c.Detail = "controller: none"
		}
		return c
	case r.After == nil && r.Verb == "delete":
		return c
	}
	before, after := r.Before.(metav1.Object), r.After
	details := []string{}
	if after == nil {
		details = append(details, removedFinalizers(before)...)
		c.Detail = strings.Join(append(details, "object removed"), "; ")
		return c
	}
	verb, owners := ownership(r)
	details = append(details, owners...)
	details = append(details, metaChanges(before, after.(metav1.Object))...)
	spec, status := fieldChanges(r)
	if verb == "" && len(details) == 0 && strings.HasPrefix(spec, "replicas: ") {
		verb = "scale"
	}
	if spec != "" {
		details = append(details, spec)
	}
	if len(details) == 0 && (status || r.Subresource == "status") {
		return Change{Verb: "status", Noise: true}
	}
	if verb != "" {
		c.Verb = verb
	}
	c.Detail = strings.Join(details, "; ")
	if c.Detail == "" {
		c.Detail = "nothing changed"
	}
	return c
}

func same(a, b sim.Ref) bool {
	return a.Kind == b.Kind && a.Name == b.Name && (a.UID == b.UID || a.UID == "" || b.UID == "")
}

// ownership says what a write did to the owner references: adopt and release
// are writes of the controller itself.
func ownership(r *sim.Record) (verb string, details []string) {
	before, after := Owners(r.Before), Owners(r.After)
	was, had := ControllerOf(r.Before)
	is, has := ControllerOf(r.After)
	if had != has || had && was != is {
		details = append(details, "controller: "+refOrNone(was, had)+" -> "+refOrNone(is, has))
		switch {
		case !had && has && same(is, r.For):
			verb = "adopt"
		case had && !has && same(was, r.For):
			verb = "release"
		case had && has && same(is, r.For):
			verb = "take over"
		}
		if had && has && was.String() == is.String() {
			details[0] += " (another of that name)"
		}
	}
	var added, removed []string
	for _, o := range after {
		if !slices.Contains(before, o) && !(o.Controller && has && o.Ref == is && (!had || was != is)) {
			added = append(added, "+"+o.Ref.String())
		}
	}
	for _, o := range before {
		if !slices.Contains(after, o) && !(o.Controller && had && o.Ref == was && (!has || was != is)) {
			removed = append(removed, "-"+o.Ref.String())
		}
	}
	if words := append(added, removed...); len(words) > 0 {
		details = append(details, "owners: "+strings.Join(words, " "))
	}
	return verb, details
}

func refOrNone(r sim.Ref, ok bool) string {
	if !ok {
		return "none"
	}
	return r.String()
}
