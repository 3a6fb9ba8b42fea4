package check

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim"
)

type creation struct {
	kind schema.GroupVersionKind
	how  string // how the object refers to the owner: one of the constants below
}

// These constants say how a created object refers to the owner.
const (
	controls = "with a ControllerRef"
	refers   = "with a plain reference"
	sharing  = "with a plain reference, one for all owners (declare Owns, and it must have a ControllerRef)"
	none     = "without a reference"
	shared   = "without a reference, one for all owners"
	outlives = "without a reference, so that it outlives its owner"                          // see operator.names
	tended   = "without a reference; it deletes them before its finalizer lets the owner go" // see found.tends
	afar     = "out of the reach of a reference"
	elses    = "for an owner of another kind"
	chained  = "with a ControllerRef to a dependent"
	itself   = "for itself, in a world without a sample too"
)

// The method note records what the controller did in a run: the objects that it created, with their owners, the
// finalizers that it added, and its other writes.
func (f *found) note(r *quiet) {
	declared := r.s.Controller.Owns
	f.owns = slices.Clone(declared)
	for _, rec := range r.writes() {
		after, _ := rec.After.(runtime.Object)
		if after == nil {
			continue
		}
		m := after.(metav1.Object)
		gvk := r.Server.KindOf(after).GVK
		if gvk.Empty() || rec.Object.Kind != gvk.Kind {
			panic("check: the server does not know the kind of " + rec.Object.String())
		}
		f.holds(rec, m)
		switch {
		case rec.Before != nil:
			f.wrote(rec)
			if r.s.custom(gvk) && rec.Subresource == "status" {
				f.worksOn(r, gvk) // by convention the controller of a kind writes its status
			}
			continue
		case gvk.Kind == "Event" || gvk.Kind == "Lease":
			continue // events and leases have no owner
		case r.s.itself(rec.Object):
			f.creates = appendOnce(f.creates, creation{gvk, itself})
			continue
		}
		f.applies = f.applies || rec.Verb == "patch"
		c := creation{gvk, r.belongs(m)}
		if c.how == none && (gvk.Kind == "PersistentVolumeClaim" || gvk.Kind == "Secret" && r.s.names(m)) {
			c.how = outlives
			f.shared = appendOnce(f.shared, sim.Ref{Kind: gvk.Kind, Namespace: rec.Object.Namespace, Name: rec.Object.Name})
		}
		if ref := metav1.GetControllerOf(m); c.how == elses && ref != nil {
			f.worksOn(r, schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind))
		}
		f.creates = appendOnce(f.creates, c)
		if c.how == refers && len(declared) == 0 {
			f.plain = append(f.plain, sim.Ref{Kind: rec.Object.Kind, Namespace: rec.Object.Namespace, Name: rec.Object.Name})
		}
		if c.how == none && len(declared) == 0 && len(m.GetOwnerReferences()) == 0 {
			f.bare = append(f.bare, sim.Ref{Kind: rec.Object.Kind, Namespace: rec.Object.Namespace, Name: rec.Object.Name})
		}
		undeclared := len(declared) == 0 && (c.how == none || c.how == refers)
		if undeclared || c.how == controls {
			f.owns = appendOnce(f.owns, gvk)
		}
	}
}

// names reports whether the spec of the sample contains the object's name. A Secret without references then outlives its
// owner, as with cert-manager: the user could have created it, other owners may use it, and it may hold the password of
// a volume. A PersistentVolumeClaim holds data, and outlives its owner as with a StatefulSet.
func (s *operator) names(m metav1.Object) bool {
	return m.GetNamespace() == s.owner.GetNamespace() && contains(s.owner.Object["spec"], m.GetName())
}

// contains reports whether text is a value in v, which consists of maps, slices and scalars.
func contains(v any, text string) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, x := range v {
			if contains(x, text) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(x any) bool { return contains(x, text) })
	}
	return v == text
}

// outliving lists the kinds of which each object without references may outlive its owner, or is deleted before it.
func (f *found) outliving() (kinds []schema.GroupVersionKind) {
	for _, c := range f.creates {
		if (c.how == outlives || c.how == tended) && !slices.Contains(f.creates, creation{c.kind, none}) {
			kinds = append(kinds, c.kind)
		}
	}
	return kinds
}

// worksOn records another kind that the program reconciles.
func (f *found) worksOn(r *quiet, gvk schema.GroupVersionKind) {
	if c := r.s.Controller; c.Hosted() && gvk != c.For {
		f.also = appendOnce(f.also, gvk)
	}
}

func (f *found) wrote(rec *sim.Record) {
	what := rec.Object.Kind
	if rec.Subresource != "" {
		what += "/" + rec.Subresource
	}
	f.writes = appendOnce(f.writes, what)
}

// belongs returns how a created object refers to the owner.
func (r *quiet) belongs(m metav1.Object) string {
	owner, stored := r.s.owner, r.stored(r.s.owner)
	above := metav1.GetControllerOf(m)
	if r.s.Controller.Hosted() && above != nil && above.Kind != owner.GetKind() && r.shows(above.Kind) &&
		r.resolve(above, m.GetNamespace()) != nil {
		if gvk := schema.FromAPIVersionAndKind(above.APIVersion, above.Kind); r.s.custom(gvk) || !r.below(above, m.GetNamespace()) {
			return elses
		}
		return chained
	}
	if owner.GetNamespace() != "" && m.GetNamespace() != owner.GetNamespace() {
		if stored != nil && metav1.IsControlledBy(m, stored.(metav1.Object)) {
			return controls // LAW-1 reports that the owner is in another namespace
		}
		return afar
	}
	for _, ref := range m.GetOwnerReferences() {
		if stored != nil && ref.UID == stored.(metav1.Object).GetUID() {
			if ref.Controller != nil && *ref.Controller {
				return controls
			}
			return refers
		}
	}
	if r.below(above, m.GetNamespace()) {
		return chained
	}
	return none
}

// below reports whether a ControllerRef refers to a stored object that the sample controls.
func (r *quiet) below(ref *metav1.OwnerReference, namespace string) bool {
	above, owner := r.resolve(ref, namespace), r.stored(r.s.owner)
	return above != nil && owner != nil && metav1.IsControlledBy(above, owner.(metav1.Object))
}
