package law

import (
	"bytes"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/threelaws/threelaws/sim"
)

// Write is what there is to know of one commit, worked out once for all laws.
type Write struct {
	For     sim.Ref  // what the actor was syncing; where nobody says, what its references say
	Process *Process // nil for an actor that is no subject
	Subject *Subject // of a controller with a collection; nil for everybody else
	GC      bool     // by the garbage collector

	Before, After, Saw        metav1.Object
	Owner, NewOwner, SawOwner *metav1.OwnerReference // their ControllerRefs
	Dependent                 bool                   // the object is of a kind the subject manages
	Mine                      bool                   // Owner is For
	SawMine                   bool                   // and was, when the actor last read the object
	Claims                    bool                   // an object that was there gets another ControllerRef
	Adopts                    bool                   // and it is For
	Drops                     bool                   // the actor's own ControllerRef goes, the object stays
	Deletes                   bool                   // a deletion is asked for, or done
	Unread                    bool                   // nobody knows what the actor had read
	read                      bool                   // For is the incarnation that the actor has read live, not the one in its cache
	dropped                   bool                   // the server dropped the controller field from a reference to For
}

func (w *Write) fill(s *State, r *sim.Record, p *Process, known Evidence) {
	*w = Write{For: r.For, Process: p, Before: meta(r.Before), After: meta(r.After)}
	w.Owner, w.NewOwner = controllerOf(w.Before), controllerOf(w.After)
	w.Deletes = w.Before != nil && !deleting(w.Before) && (w.After == nil || deleting(w.After))
	w.Claims = w.Before != nil && w.NewOwner != nil && !sameRef(w.Owner, w.NewOwner)
	if w.Process == nil {
		return
	}
	w.GC = w.Process.Subject.Controller == Collector
	w.Saw = meta(r.Saw)
	if w.Saw == nil && known&Reads == 0 {
		// A version that the request carried it had read.
		if w.Unread = !r.Guards.ResourceVersion; !w.Unread {
			w.Saw = w.Before
		}
	}
	if w.Process.Subject.Kind == "" {
		return
	}
	w.Subject = &w.Process.Subject
	w.SawOwner = controllerOf(w.Saw)
	if w.For.UID == "" && w.Process.keyedOtherwise(s, r.For) {
		w.inferFor(r)
	}
	w.readFor(r)
	w.Dependent = w.Process.manages(r.Object.Kind) && !w.outOfReach(s, r)
	w.Mine = w.isFor(w.Owner)
	w.SawMine = w.isFor(w.SawOwner)
	w.Adopts = w.Claims && w.isFor(w.NewOwner)
	w.dropped = s.dropping && w.NewOwner == nil && w.For.UID != "" && refTo(w.After, uidOf(w.For)) != nil
	w.Drops = w.Mine && w.After != nil && !w.isFor(w.NewOwner)
}

// keyedOtherwise reports whether what is being synced is not known: nobody says,
// there is no object of its kind that the key would name and the process was never
// shown one, or the key is of another kind's object that it watches. A controller may have more
// queues than one.
func (p *Process) keyedOtherwise(s *State, f sim.Ref) bool {
	if f.Name == "" || !p.met[nsName{f.Namespace, f.Name}] && s.Named(p.Subject.Kind, f.Namespace, f.Name) == nil {
		return true
	}
	for _, c := range p.caches {
		if c.kind != p.Subject.Kind && c.Get(f.Namespace, f.Name) != nil {
			return p.Cache(p.Subject.Kind).Get(f.Namespace, f.Name) == nil
		}
	}
	return false
}

// readFor takes for what the actor acts for the incarnation that it has read live,
// where the object that it writes is or becomes that one's, or is it: its cache may
// still show an earlier one.
func (w *Write) readFor(r *sim.Record) {
	k := w.Process.work(r)
	if k == nil || k.live == "" || string(k.live) == w.For.UID {
		return
	}
	own := r.Object.Kind == w.Subject.Kind && w.Before != nil && w.Before.GetUID() == k.live
	if own || w.Owner != nil && w.Owner.UID == k.live || w.Owner == nil && w.NewOwner != nil && w.NewOwner.UID == k.live {
		w.For.UID, w.read = string(k.live), true
	}
}

// outOfReach reports whether an object is where no reference can tie it to the
// owner that the actor works for, and the actor itself has made it there: it is
// the owner's by other means.
func (w *Write) outOfReach(s *State, r *sim.Record) bool {
	if w.For.UID == "" || w.For.Namespace == "" || w.For.Namespace == r.Object.Namespace || w.isFor(w.Owner) || w.isFor(w.NewOwner) {
		return false
	}
	if w.Before == nil {
		return true
	}
	o := s.Object(w.Before.GetUID())
	return o != nil && o.maker == w.Process
}

// inferFor takes the ControllerRef of the object that is written, if it is of the
// kind the actor syncs, for what it acts for: the one it had, or else the one it
// gets. A namesake of what the key names is not meant: nothing is known of the
// object that the key stands for.
func (w *Write) inferFor(r *sim.Record) {
	ref := w.Owner
	if ref == nil {
		ref = w.NewOwner
	}
	if ref == nil || ref.Kind != w.Subject.Kind || ref.Name == r.For.Name && r.Object.Namespace == r.For.Namespace {
		return
	}
	namespace := r.Object.Namespace
	if w.Process.Cache(ref.Kind).Get("", ref.Name) != nil {
		namespace = "" // a cluster-scoped owner
	}
	w.For = sim.Ref{Kind: ref.Kind, Namespace: namespace, Name: ref.Name, UID: string(ref.UID)}
}

// isFor reports whether a ControllerRef names the object being synced, as the
// process saw it.
func (w *Write) isFor(ref *metav1.OwnerReference) bool {
	return ref != nil && w.For.UID != "" && string(ref.UID) == w.For.UID
}

// adds reports whether a write does nothing but add a reference to an owner.
func (w *Write) adds(r *sim.Record, owner string) bool {
	return w.After != nil && w.onlyRefs(r) && sameRefsBut(w.Before, w.After, owner)
}

// onlyRefs reports whether a write left everything alone but owner references,
// finalizers that the actor declares as its own (Job puts one on what it adopts)
// and what the server itself moves.
func (w *Write) onlyRefs(r *sim.Record) bool {
	a, b := w.Before, w.After
	return a != nil && b != nil &&
		a.GetName() == b.GetName() && a.GetUID() == b.GetUID() &&
		a.GetDeletionTimestamp().Equal(b.GetDeletionTimestamp()) &&
		maps.Equal(a.GetLabels(), b.GetLabels()) &&
		maps.Equal(a.GetAnnotations(), b.GetAnnotations()) &&
		sameFinalizersBut(a.GetFinalizers(), b.GetFinalizers(), w.Subject.Finalizers) &&
		sameBody(r.Before, r.After)
}

// sameRefsBut reports whether both objects have the same references, those to
// one owner left aside.
func sameRefsBut(a, b metav1.Object, owner string) bool {
	x, y := a.GetOwnerReferences(), b.GetOwnerReferences()
	i, k := 0, 0
	for {
		for i < len(x) && string(x[i].UID) == owner {
			i++
		}
		for k < len(y) && string(y[k].UID) == owner {
			k++
		}
		if i == len(x) || k == len(y) {
			return i == len(x) && k == len(y)
		}
		if !equality.Semantic.DeepEqual(&x[i], &y[k]) {
			return false
		}
		i, k = i+1, k+1
	}
}

// sameFinalizersBut reports whether both lists hold the same finalizers, those
// of the actor's own left aside.
func sameFinalizersBut(a, b, own []string) bool {
	return holdsAllBut(a, b, own) && holdsAllBut(b, a, own)
}

func holdsAllBut(a, b, own []string) bool {
	for _, f := range b {
		if !slices.Contains(a, f) && !slices.Contains(own, f) {
			return false
		}
	}
	return true
}

// sameBody compares everything outside the metadata.
func sameBody(a, b any) bool {
	if u, ok := a.(*unstructured.Unstructured); ok {
		v, ok := b.(*unstructured.Unstructured)
		return ok && sameContent(u.Object, v.Object)
	}
	va, vb := reflect.ValueOf(a), reflect.ValueOf(b)
	if va.Type() != vb.Type() || va.Kind() != reflect.Pointer || va.Elem().Kind() != reflect.Struct {
		return equality.Semantic.DeepEqual(a, b)
	}
	va, vb = va.Elem(), vb.Elem()
	for i := range va.NumField() {
		f := va.Type().Field(i)
		if !f.IsExported() || f.Name == "ObjectMeta" || f.Name == "TypeMeta" {
			continue
		}
		x, y := va.Field(i).Addr().Interface(), vb.Field(i).Addr().Interface()
		if !sameEncoding(x, y) && !equality.Semantic.DeepEqual(x, y) {
			return false
		}
	}
	return true
}

// sameEncoding reports whether two values have one protobuf encoding; they may
// mean the same all the same if not. It costs a fraction of a deep comparison.
func sameEncoding(a, b any) bool {
	type sized interface {
		Size() int
		MarshalToSizedBuffer([]byte) (int, error)
	}
	x, isX := a.(sized)
	y, isY := b.(sized)
	if !isX || !isY {
		return false
	}
	n := x.Size()
	if y.Size() != n {
		return false
	}
	buf := make([]byte, 2*n)
	_, errX := x.MarshalToSizedBuffer(buf[:n])
	_, errY := y.MarshalToSizedBuffer(buf[n:])
	return errX == nil && errY == nil && bytes.Equal(buf[:n], buf[n:])
}

func sameContent(a, b map[string]any) bool {
	for _, k := range slices.Sorted(maps.Keys(a)) {
		if k != "metadata" && !equality.Semantic.DeepEqual(a[k], b[k]) {
			return false
		}
	}
	for _, k := range slices.Sorted(maps.Keys(b)) {
		if _, ok := a[k]; !ok && k != "metadata" {
			return false
		}
	}
	return true
}
