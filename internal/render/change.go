package render

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim"
)

// Change describes one commit.
type Change struct {
	Verb   string // what the commit does: "adopt", "release", "create", "delete", "scale", "status", "evict", ...
	Detail string // what changed: "controller: none -> rs/web-a"
	Noise  bool   // a status write or a lease renewal by a controller; timelines usually leave these out

	shape string // Detail without field values; each round of a fight has the same shapes
}

// eviction is the subresource of a Pod that deletes it, unless a disruption budget forbids that.
const eviction = "eviction"

// ChangeOf describes a commit.
func ChangeOf(r *sim.Record) Change {
	c := Change{Verb: r.Verb}
	if r.Subresource == eviction {
		c.Verb = "evict"
		return c
	}
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
		if owner, ok := ControllerOf(r.Before); ok && r.Process == "user" { // the object may be older than the history
			c.Detail = "controller: " + owner.String()
		}
		return c
	}
	before, after := r.Before.(metav1.Object), r.After
	if after == nil {
		c.Detail = strings.Join(append(removedFinalizers(before), "object removed"), "; ")
		return c
	}
	verb, details := ownership(r)
	details = append(details, metaChanges(before, after.(metav1.Object))...)
	fields, status := asked{}.fields(before, after)
	c.name(r, verb, details, fields, status)
	if i := slices.IndexFunc(fields, isHolder); i >= 0 && r.Object.Kind == "Lease" {
		fields = fields[i : i+1] // show only the holder, not the renewal time
	}
	if c.Verb == "status" {
		for i := range status {
			status[i].path = strings.TrimPrefix(status[i].path, "status.") // the verb is already "status"
		}
	}
	if len(details) > 0 {
		status = nil // a deleted namespace is terminating, and its status adds nothing to this
	}
	c.Detail, c.shape = word(details, append(fields, status...))
	c.Detail = Plain(c.Detail) // labels, annotations and values may contain control characters
	return c
}

func isHolder(c changed) bool { return c.path == "spec.holderIdentity" }

func (c *Change) name(r *sim.Record, verb string, details []string, fields, status []changed) {
	switch {
	case len(details)+len(fields) == 0 && (len(status) > 0 || r.Subresource == "status"):
		// A user's status write is not noise, unless it is a write to a CRD.
		c.Verb, c.Noise = "status", r.Process != "user" || r.Object.Kind == "CustomResourceDefinition"
	case verb != "":
		c.Verb = verb
	case len(details) == 0 && len(fields) == 1 && fields[0].path == "spec.renewTime" && r.Object.Kind == "Lease":
		c.Verb, c.Noise = "renew", r.Process != "user"
	case len(details) == 0 && len(fields) > 0 && fields[0].path == "spec.replicas":
		c.Verb = "scale"
	}
}

// VerbOf returns the same as [ChangeOf] without Detail. It is faster, for counting the writes of many runs.
func VerbOf(r *sim.Record) Change {
	c := Change{Verb: r.Verb}
	switch {
	case r.Subresource == eviction:
		c.Verb = "evict"
		return c
	case r.Before == nil:
		c.Verb = "create"
		return c
	case r.After == nil:
		return c
	}
	verb, details := ownership(r)
	details = append(details, metaChanges(r.Before.(metav1.Object), r.After.(metav1.Object))...)
	if len(details) > 0 { // the verb already follows from the metadata
		c.name(r, verb, details, nil, nil)
		return c
	}
	fields, status := asked{bare: true, blind: r.Subresource == "status"}.fields(r.Before, r.After)
	c.name(r, verb, nil, fields, status)
	return c
}

const mostFields = 6

// word describes a change twice: detail has the values of the changed fields, and shape only their paths.
func word(details []string, fields []changed) (detail, shape string) {
	if len(details)+len(fields) == 0 {
		return "nothing changed", "nothing changed"
	}
	var full, bare []string
	for i, d := range fields {
		if i == mostFields && len(fields) > mostFields+1 {
			full = append(full, strconv.Itoa(len(fields)-i)+" more fields")
			break
		}
		full, bare = append(full, d.String()), append(bare, d.shape())
	}
	shape = strings.Join(append(slices.Clone(details), strings.Join(bare, ", ")), "; ")
	if len(full) > 0 {
		details = append(details, strings.Join(full, ", "))
	}
	return strings.Join(details, "; "), shape
}

func same(a, b sim.Ref) bool {
	return a.Kind == b.Kind && a.Name == b.Name && (a.UID == b.UID || a.UID == "" || b.UID == "")
}

// ownership describes changes of owner references. Only the new controller can adopt, only the old one can release.
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
	return verb, append(details, blocking(r.Before.(metav1.Object), r.After.(metav1.Object))...)
}

// blocking describes changes of blockOwnerDeletion in owner references that both versions have.
func blocking(before, after metav1.Object) []string {
	blocks := func(r metav1.OwnerReference) bool { return r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion }
	var out []string
	for _, was := range before.GetOwnerReferences() {
		for _, is := range after.GetOwnerReferences() {
			if was.UID == is.UID && blocks(was) != blocks(is) {
				out = append(out,
					fmt.Sprintf("blocks the deletion of %s: %t -> %t", ownerRef(after, is), blocks(was), blocks(is)))
			}
		}
	}
	return out
}

func refOrNone(r sim.Ref, ok bool) string {
	if !ok {
		return "none"
	}
	return r.String()
}

func removedFinalizers(before metav1.Object) []string {
	fs := before.GetFinalizers()
	if len(fs) == 0 {
		return nil
	}
	return []string{"finalizers: -" + strings.Join(fs, " -")}
}

func metaChanges(before, after metav1.Object) []string {
	var out []string
	var fs []string
	for _, f := range after.GetFinalizers() {
		if !slices.Contains(before.GetFinalizers(), f) {
			fs = append(fs, "+"+f)
		}
	}
	for _, f := range before.GetFinalizers() {
		if !slices.Contains(after.GetFinalizers(), f) {
			fs = append(fs, "-"+f)
		}
	}
	if len(fs) > 0 {
		out = append(out, "finalizers: "+strings.Join(fs, " "))
	}
	switch was, is := before.GetDeletionTimestamp(), after.GetDeletionTimestamp(); {
	case was == nil && is != nil:
		out = append(out, "deletionTimestamp set")
	case was != nil && is != nil && !was.Equal(is):
		out = append(out, "deletionTimestamp moved")
	}
	out = append(out, MapChanges("labels", before.GetLabels(), after.GetLabels())...)
	return append(out, MapChanges("annotations", before.GetAnnotations(), after.GetAnnotations())...)
}

// MapChanges describes how two maps differ. The result has at most one element; it is empty if they are equal.
func MapChanges(what string, before, after map[string]string) []string {
	var words []string
	for k, v := range after { //detcheck:ordered sorted below
		if old, ok := before[k]; !ok {
			words = append(words, "+"+k+"="+v)
		} else if old != v {
			words = append(words, k+"="+old+" -> "+v)
		}
	}
	for k := range before { //detcheck:ordered sorted below
		if _, ok := after[k]; !ok {
			words = append(words, "-"+k)
		}
	}
	if len(words) == 0 {
		return nil
	}
	sort.Strings(words)
	return []string{what + ": " + strings.Join(words, ", ")}
}
