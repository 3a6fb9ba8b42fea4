// Package routing decides which controller objects an event concerns. [Dependents] routes by ControllerRef, as in the
// proposal's section "Watches" (WATCH-1 to WATCH-6). [TieBreak] is the earlier rule (WATCH-8). [Own] routes events on
// the controller objects themselves.
package routing

import (
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim/host"
)

// Dependents routes events on the objects that controllers of one kind own.
type Dependents struct {
	Owner schema.GroupVersionKind // the controllers' kind
	// Selects reports whether a controller object's selector matches labels.
	Selects func(owner runtime.Object, labels map[string]string) bool
	// Later, if set, returns the delay after which to reconcile the owner of an updated object again, or 0.
	Later   func(owner, old, cur runtime.Object) time.Duration
	Without *Without
}

func (d *Dependents) Route(kind schema.GroupVersionKind) host.Route {
	return host.Route{Kind: kind, Do: d.Do}
}

func (d *Dependents) Do(v host.View, e host.Event, out *host.Effect) {
	switch {
	case e.Old == nil:
		d.added(v, e.New.(metav1.Object), out)
	case e.New == nil:
		if !e.Tombstone || !d.Without.Tombstone {
			d.deleted(v, e.Old.(metav1.Object), out)
		}
	default:
		d.updated(v, e.Old, e.New, out)
	}
}

// added enqueues the owner and updates its expectations (WATCH-1, WATCH-2). For an orphan it enqueues every matching
// controller. Their expectations stay unchanged, because a controller never creates orphans (WATCH-4).
func (d *Dependents) added(v host.View, obj metav1.Object, out *host.Effect) {
	if obj.GetDeletionTimestamp() != nil {
		d.deleted(v, obj, out) // first seen while terminating, for example after a restart
		return
	}
	ref := metav1.GetControllerOfNoCopy(obj)
	if ref == nil {
		if !d.Without.OrphanAdd {
			d.offer(v, obj, out)
		}
		if d.Without.OrphanUncounted {
			d.matching(v, obj, func(key string) { out.Created = append(out.Created, key) })
		}
		return
	}
	if key, _ := d.wakeOwner(v, obj, ref, out); key != "" {
		out.Created = append(out.Created, d.expecting(v, obj, key))
	}
}

// deleted enqueues the owner and updates its expectations. For an orphan it enqueues nothing, because no controller has
// to replace an orphan (WATCH-5).
func (d *Dependents) deleted(v host.View, obj metav1.Object, out *host.Effect) {
	ref := metav1.GetControllerOfNoCopy(obj)
	if ref == nil {
		if d.Without.OrphanDelete {
			d.offer(v, obj, out)
		}
		return
	}
	if key, _ := d.wakeOwner(v, obj, ref, out); key != "" {
		out.Deleted = append(out.Deleted, d.expecting(v, obj, key))
	}
}

func (d *Dependents) updated(v host.View, before, after runtime.Object, out *host.Effect) {
	old, cur := before.(metav1.Object), after.(metav1.Object)
	if old.GetResourceVersion() == cur.GetResourceVersion() && !d.Without.Resync {
		return // a resync, which shows no change (WRITE-9)
	}
	relabelled := !maps.Equal(old.GetLabels(), cur.GetLabels())
	was, is := metav1.GetControllerOfNoCopy(old), metav1.GetControllerOfNoCopy(cur)
	changed := !sameRef(was, is)
	if changed && was != nil && !d.Without.OldOwner {
		d.wakeOwner(v, old, was, out) // WATCH-3: the former owner has lost a dependent
	}
	if cur.GetDeletionTimestamp() != nil && !d.Without.Graceful {
		// A deletion counts from its start, because it may take long.
		d.deleted(v, cur, out)
		return
	}
	if is != nil {
		key, owner := d.wakeOwner(v, cur, is, out)
		if key != "" && d.Later != nil {
			if after := d.Later(owner, before, after); after > 0 {
				out.Delayed = append(out.Delayed, host.Delayed{Key: key, After: after})
			}
		}
		return
	}
	if relabelled && !d.Without.OrphanLabels || changed && !d.Without.Removal || d.Without.OrphanQuiet {
		d.offer(v, cur, out) // the orphan has new labels (WATCH-6) or has lost its owner (WATCH-3)
	}
}

// wakeOwner enqueues the controller of a reference, and returns its key and object. The key is "" if there is none.
func (d *Dependents) wakeOwner(v host.View, obj metav1.Object, ref *metav1.OwnerReference, out *host.Effect) (string,
	runtime.Object) {
	owner := d.resolve(v, obj.GetNamespace(), ref)
	if owner == nil {
		return "", nil
	}
	key := Key(owner.(metav1.Object))
	out.Keys = append(out.Keys, key)
	if d.Without.OnlyOne {
		d.offer(v, obj, out)
	}
	return key, owner
}

// resolve finds a controller by kind and name. Its uid must be that of the reference (WATCH-1). As in upstream, the API
// group does not matter (RULES A20).
func (d *Dependents) resolve(v host.View, namespace string, ref *metav1.OwnerReference) runtime.Object {
	if ref.Kind != d.Owner.Kind && !d.Without.Kind {
		return nil
	}
	owner := v.Get(d.Owner, namespace, ref.Name)
	if owner == nil || uid(owner) != ref.UID && !d.Without.UID && !d.Without.Kind {
		return nil
	}
	return owner
}

// expecting returns the key of the controller whose expectations an event on obj fulfils.
func (d *Dependents) expecting(v host.View, obj metav1.Object, owner string) string {
	if d.Without.OwnExpectations {
		t := TieBreak{Owner: d.Owner, Selects: d.Selects}
		if first := t.first(v, obj); first != nil {
			return Key(first.(metav1.Object))
		}
	}
	return owner
}

// offer enqueues every controller that selects obj, so that each may adopt it.
func (d *Dependents) offer(v host.View, obj metav1.Object, out *host.Effect) {
	d.matching(v, obj, func(key string) { out.Keys = append(out.Keys, key) })
}

func (d *Dependents) matching(v host.View, obj metav1.Object, f func(key string)) {
	v.Each(d.Owner, obj.GetNamespace(), func(owner runtime.Object) bool {
		if d.Selects(owner, obj.GetLabels()) {
			f(Key(owner.(metav1.Object)))
		}
		return true
	})
}

func uid(obj runtime.Object) types.UID { return obj.(metav1.Object).GetUID() }

func sameRef(a, b *metav1.OwnerReference) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.UID == b.UID && a.Name == b.Name && a.Kind == b.Kind && a.APIVersion == b.APIVersion &&
		blocks(a) == blocks(b)
}

func blocks(r *metav1.OwnerReference) bool {
	return r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion
}

// Without configures a mutant (package mutants). Each field disables one rule. Its comment says what the mutant does.
type Without struct {
	UID      bool // resolve a reference by kind and name, whatever its uid
	Kind     bool // resolve a reference by name, whatever its kind
	OnlyOne  bool // also enqueue every matching controller for an event on an owned object
	OldOwner bool // do not enqueue the former owner when the reference changes
	Removal  bool // enqueue no controller for an object that lost its reference

	OrphanAdd    bool // enqueue no controller for a new orphan
	OrphanDelete bool // enqueue the matching controllers for a deleted orphan
	OrphanLabels bool // enqueue no controller for an orphan with changed labels
	OrphanQuiet  bool // enqueue the matching controllers for every update of an orphan

	Resync          bool // treat an update to the same version as a change
	Graceful        bool // do not treat the start of a graceful deletion as the deletion
	Tombstone       bool // ignore a deletion that a relist shows
	OwnExpectations bool // lower the expectations of the first matching controller instead of the owner's
	OrphanUncounted bool // count a new orphan as a creation for every matching controller
	Incarnation     bool // keep expectations when a controller object is recreated
	OwnDeletion     bool // keep expectations when a controller object is deleted
}

// Own routes events on the controller objects. Each event enqueues its object, also a resync. The expectations of a
// deleted or recreated object are dropped, because a new object would inherit them by its key (RULES B31, C35).
func Own(kind schema.GroupVersionKind, without *Without) host.Route {
	return host.Route{Kind: kind, Do: func(_ host.View, e host.Event, out *host.Effect) {
		obj := e.New
		if obj == nil {
			obj = e.Old
		}
		key := Key(obj.(metav1.Object))
		if e.New == nil && !without.OwnDeletion {
			out.Forget = append(out.Forget, key)
		}
		if e.New != nil && e.Old != nil && uid(e.Old) != uid(e.New) && !without.Incarnation {
			out.Forget = append(out.Forget, key)
		}
		out.Keys = append(out.Keys, key)
	}}
}

// Key returns the queue key of an object: namespace/name, or only the name for a cluster-scoped object.
func Key(obj metav1.Object) string {
	if ns := obj.GetNamespace(); ns != "" {
		return ns + "/" + obj.GetName()
	}
	return obj.GetName()
}
