package scenarios

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"sort"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law"
	"github.com/threelaws/threelaws/sim/render"
)

// Facts looks inside Kubernetes objects for package render.
var Facts = render.Facts{
	Owners:   ownersOf,
	Deleting: func(obj any) bool { m, ok := obj.(metav1.Object); return ok && m.GetDeletionTimestamp() != nil },
	Change:   changeOf,
	Refusal:  refusalOf,
}

// Breach makes what a law found fit to be shown.
func Breach(b law.Breach) render.Breach {
	return render.Breach{Record: b.Record, Law: b.Law.Name, Sentence: b.Law.Sentence, Source: b.Law.Source,
		Text: withoutUIDs(b.Text), Race: b.Strength == law.Committed, Cycle: b.Cycle}
}

func ownersOf(obj any) []render.Owner {
	m, ok := obj.(metav1.Object)
	if !ok {
		return nil
	}
	var owners []render.Owner
	for _, r := range m.GetOwnerReferences() {
		owners = append(owners, render.Owner{Ref: ownerRef(m, r), Controller: r.Controller != nil && *r.Controller})
	}
	return owners
}

// ownerRef is the object an owner reference means. Nodes and Namespaces may own
// across namespaces, so that a namespace is assumed for the others only.
func ownerRef(m metav1.Object, r metav1.OwnerReference) sim.Ref {
	ref := sim.Ref{Kind: r.Kind, Namespace: m.GetNamespace(), Name: r.Name, UID: string(r.UID)}
	if gv, err := schema.ParseGroupVersion(r.APIVersion); err == nil && gv.Group == "" && (r.Kind == "Node" || r.Kind == "Namespace" || r.Kind == "PersistentVolume") {
		ref.Namespace = ""
	}
	return ref
}

func controllerOf(obj any) (sim.Ref, bool) {
	for _, o := range ownersOf(obj) {
		if o.Controller {
			return o.Ref, true
		}
	}
	return sim.Ref{}, false
}

// changeOf names what a commit did.
func changeOf(r *sim.Record) render.Change {
	c := render.Change{Verb: r.Verb}
	switch {
	case r.Before == nil:
		c.Verb = "create"
		if owner, ok := controllerOf(r.After); ok && !same(owner, r.For) {
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
		return render.Change{Verb: "status", Noise: true}
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
	before, after := ownersOf(r.Before), ownersOf(r.After)
	was, had := controllerOf(r.Before)
	is, has := controllerOf(r.After)
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

func removedFinalizers(before metav1.Object) []string {
	fs := before.GetFinalizers()
	if len(fs) == 0 {
		return nil
	}
	return []string{"finalizers: -" + strings.Join(fs, " -")}
}

// metaChanges lists changes of finalizers, deletion, labels and annotations.
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
	out = append(out, mapChanges("labels", before.GetLabels(), after.GetLabels())...)
	return append(out, mapChanges("annotations", before.GetAnnotations(), after.GetAnnotations())...)
}

func mapChanges(what string, before, after map[string]string) []string {
	var words []string
	for k, v := range after {
		if old, ok := before[k]; !ok {
			words = append(words, "+"+k+"="+v)
		} else if old != v {
			words = append(words, k+"="+old+" -> "+v)
		}
	}
	for k := range before {
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

// fieldChanges names the fields below spec and the like that a write changed,
// and whether status changed.
func fieldChanges(r *sim.Record) (spec string, status bool) {
	before, after := reflect.Indirect(reflect.ValueOf(r.Before)), reflect.Indirect(reflect.ValueOf(r.After))
	if before.Kind() != reflect.Struct || before.Type() != after.Type() {
		return "", false
	}
	var names []string
	for i := range before.NumField() {
		f := before.Type().Field(i)
		if f.Name == "ObjectMeta" || f.Name == "TypeMeta" || reflect.DeepEqual(before.Field(i).Interface(), after.Field(i).Interface()) {
			continue
		}
		if f.Name == "Status" {
			status = true
			continue
		}
		names = append(names, structChanges(f, before.Field(i), after.Field(i))...)
	}
	return strings.Join(names, ", "), status
}

// structChanges goes one level down into spec; replicas are shown as numbers.
func structChanges(f reflect.StructField, before, after reflect.Value) []string {
	top, _ := jsonName(f)
	if f.Type.Kind() != reflect.Struct {
		return []string{top}
	}
	var names []string
	for i := range before.NumField() {
		g := before.Type().Field(i)
		x, y := before.Field(i), after.Field(i)
		if reflect.DeepEqual(x.Interface(), y.Interface()) {
			continue
		}
		name, _ := jsonName(g)
		if name == "replicas" {
			names = append(names, fmt.Sprintf("replicas: %s -> %s", value(x), value(y)))
		} else {
			names = append(names, top+"."+name)
		}
	}
	return names
}

func value(v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return "none"
		}
		v = v.Elem()
	}
	return fmt.Sprint(v.Interface())
}

var (
	uidShape     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	invalidHead  = regexp.MustCompile(`^[A-Za-z.]+ "[^"]*" is invalid: `)
	invalidValue = regexp.MustCompile(`Invalid value: (\[.*\]|\{.*\}|".*"|[^:]*): `)
)

// withoutUIDs replaces unique ids, which are the same in every run of one
// schedule but tell a reader nothing.
func withoutUIDs(text string) string { return uidShape.ReplaceAllString(text, "(uid)") }

// refusalOf says why a request was refused: the status, and the part of the
// message that tells something.
func refusalOf(r *sim.Record) string {
	text := invalidHead.ReplaceAllString(r.Message, "")
	text = invalidValue.ReplaceAllString(text, "")
	text = withoutUIDs(text)
	if i := strings.Index(text, "Only one reference can have Controller set to true"); i >= 0 {
		text = "only one reference can have controller=true"
	}
	head := strings.TrimSpace(fmt.Sprintf("%d %s", r.Code, r.Reason))
	if text == "" || r.Code == 404 {
		return head
	}
	return head + ": " + text
}
