// Package ref is the common code of controllers that own objects. [Decide] decides what to do with an object. A
// [Manager] adopts and releases. The rules are those of the ControllerRef proposal, "Behavior", and of Kubernetes 1.36.
//
// A Manager serves one reconcile of one controller object. It reads this object from the server at most once, and uses
// the answer only in this reconcile:
//
//	m := &ref.Manager{Client: env.Client, Owner: set, Kind: kind, Dependent: podKind, Without: &ref.Without{}}
//	own, err := ref.Claim(ctx, m, candidates, selects)
//
// Only mutants set fields of [Without]. See the example of [Decide], and package controllers/internal/replicas.
package ref

import (
	"bytes"
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/threelaws/threelaws/sim/host"
)

// Manager claims objects for one controller object during one reconcile.
type Manager struct {
	Client    host.Client
	Owner     metav1.Object           // the controller object, as cached
	Kind      schema.GroupVersionKind // the kind of Owner
	Dependent schema.GroupVersionKind // the kind of the objects to claim
	Without   *Without
	// Finalizers are added on adoption and removed on release, in the same patch as the reference.
	Finalizers []string

	checked bool
	refused error
	buf     []byte // memory that the patches reuse
}

// CanAdopt reads the controller object from the server. It returns an error if the read fails, or if the object was
// recreated or is terminating. A manager reads once and keeps the answer (ADOPT-4). Without this check, a
// controller could adopt the dependents of a deleted object that were orphaned on purpose (ADOPT-7). The object may
// still be deleted between this read and the adoption.
func (m *Manager) CanAdopt(ctx context.Context) error {
	if !m.checked && !m.Without.LiveCheck {
		m.checked, m.refused = true, m.recheck(ctx)
	}
	return m.refused
}

func (m *Manager) recheck(ctx context.Context) error {
	obj, err := m.Client.Get(ctx, m.Kind, m.Owner.GetNamespace(), m.Owner.GetName())
	if err != nil {
		return err
	}
	live := obj.(metav1.Object)
	if live.GetUID() != m.Owner.GetUID() && !m.Without.LiveUID {
		return fmt.Errorf("original %s %s/%s is gone: got uid %s, wanted %s", m.Kind.Kind, m.Owner.GetNamespace(),
			m.Owner.GetName(), live.GetUID(), m.Owner.GetUID())
	}
	if live.GetDeletionTimestamp() != nil && !m.Without.LiveDeletion {
		return fmt.Errorf("%s %s/%s has just been deleted", m.Kind.Kind, m.Owner.GetNamespace(), m.Owner.GetName())
	}
	return nil
}

// Adopt makes the controller object the controller of an object. It returns an error if that is not allowed (see
// [Manager.CanAdopt]), or if another controller has adopted the object (422, ADOPT-6).
func (m *Manager) Adopt(ctx context.Context, obj metav1.Object) error {
	if err := m.CanAdopt(ctx); err != nil {
		// The error is not wrapped, because a missing controller must not look like a missing object.
		return fmt.Errorf("can't adopt %s %s/%s (%s): %v", m.Dependent.Kind, obj.GetNamespace(), obj.GetName(),
			obj.GetUID(), err)
	}
	how := types.StrategicMergePatchType
	if m.Without.AppendOnly {
		how = types.MergePatchType
	}
	kind := m.Kind
	if m.Without.Version {
		kind.Version = "v1beta1"
	}
	m.buf = adoptPatch(m.buf[:0], m.uid(obj), kind, m.Owner)
	if m.Without.Blocks {
		m.buf = bytes.Replace(m.buf, []byte(`,"blockOwnerDeletion":true`), nil, 1)
	}
	m.buf = withFinalizers(m.buf, "finalizers", m.Finalizers)
	if m.Without.AdoptFields {
		m.buf = alsoFinalizers(m.buf)
	}
	return m.patch(ctx, obj, how)
}

// Release removes the controller's reference from the object, even if the controller is terminating. An object that is
// gone or was recreated needs no release, and is no error (ORPHAN-2).
func (m *Manager) Release(ctx context.Context, obj metav1.Object) error {
	m.buf = ReleasePatch(m.buf[:0], m.uid(obj), m.Owner.GetUID())
	m.buf = withFinalizers(m.buf, "$deleteFromPrimitiveList/finalizers", m.Finalizers)
	if m.Without.OwnEntryOnly {
		m.buf = clearPatch(m.buf[:0], m.uid(obj))
	}
	if m.Without.ReleaseFields {
		m.buf = alsoFinalizers(m.buf)
	}
	err := m.patch(ctx, obj, types.StrategicMergePatchType)
	if apierrors.IsNotFound(err) && !m.Without.Gone {
		return nil
	}
	if apierrors.IsInvalid(err) && !m.Without.Replaced || m.Without.Refused {
		return nil
	}
	return err
}

func (m *Manager) uid(obj metav1.Object) types.UID {
	if m.Without.DependentUID {
		return ""
	}
	return obj.GetUID()
}

func (m *Manager) patch(ctx context.Context, obj metav1.Object, how types.PatchType) error {
	_, err := m.Client.Patch(ctx, m.Dependent, obj.GetNamespace(), obj.GetName(), host.Patch{Type: how, Data: m.buf})
	return err
}

// Claim does what [Decide] says, and reports whether the controller owns the object now. It is no error if the object
// is missing, or if an object to release was recreated. If another controller adopted the object first, Claim returns
// an error, and the next reconcile sees the new owner (ADOPT-6).
func (m *Manager) Claim(ctx context.Context, obj metav1.Object, matches bool) (bool, error) {
	switch Decide(m.Owner, obj, matches, m.Without) {
	case Keep:
		return true, nil
	case Adopt:
		err := m.Adopt(ctx, obj)
		if m.Without.Loser {
			return true, nil
		}
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	case Release:
		return false, m.Release(ctx, obj)
	}
	return false, nil
}

// Claim claims each object, and continues after errors. It returns the objects that the controller owns, in the order
// of objs, and all errors. After an error the caller does not know what it owns, and must end its reconcile.
func Claim[T metav1.Object](ctx context.Context, m *Manager, objs []T, selects func(T) bool) ([]T, error) {
	claimed := make([]T, 0, len(objs))
	var errs []error
	for _, obj := range objs {
		ours, err := m.Claim(ctx, obj, selects(obj))
		if err != nil {
			errs = append(errs, err)
		}
		if ours {
			claimed = append(claimed, obj)
		}
	}
	return claimed, utilerrors.NewAggregate(errs)
}

// Decision is an action of a controller on an object.
type Decision uint8

const (
	Ignore  Decision = iota // the object belongs to another owner, or nothing may be done now
	Keep                    // the object is owned and matches
	Adopt                   // the object is an orphan to adopt
	Release                 // the object is owned but no longer matches
)

var decisionNames = [...]string{"ignore", "keep", "adopt", "release"}

// String names the decision.
func (d Decision) String() string { return decisionNames[d] }

// Decide returns what a controller may do with an object, given cached copies of both. matches says whether the object
// matches the selector and other conditions of the owner. An object is owned only if its ControllerRef has the owner's
// uid (proposal, "Behavior"). An object with another ControllerRef is left alone (LAW-2), even if that reference names
// the owner's name and an earlier uid (ADOPT-8).
func Decide(owner, obj metav1.Object, matches bool, without *Without) Decision {
	ref := metav1.GetControllerOfNoCopy(obj)
	if ref == nil {
		return decideOrphan(owner, obj, matches, without)
	}
	if ref.UID != owner.GetUID() && !(without.Foreign && matches) {
		return Ignore // another controller owns the object (LAW-1b, LAW-2)
	}
	if matches && !without.Match || without.Mismatch {
		return Keep // this needs no write, so a terminating controller may do it too
	}
	if owner.GetDeletionTimestamp() != nil && !without.ReleaseDeletion {
		return Ignore // a terminating controller neither releases nor counts the object (ADOPT-3)
	}
	return Release // the object no longer matches (ORPHAN-1)
}

func decideOrphan(owner, obj metav1.Object, matches bool, without *Without) Decision {
	switch {
	case owner.GetDeletionTimestamp() != nil && !without.Deletion:
		return Ignore // a terminating controller adopts nothing (ADOPT-3, ADOPT-7)
	case !matches && !without.Selector:
		return Ignore // the orphan does not match (ADOPT-1)
	case obj.GetDeletionTimestamp() != nil && !without.ObjectDeletion:
		return Ignore // the orphan is terminating (ADOPT-5)
	case owner.GetNamespace() != "" && owner.GetNamespace() != obj.GetNamespace() && !without.Namespace:
		return Ignore // the orphan is in another namespace (ADOPT-1); a cluster-scoped owner may own in any namespace
	}
	return Adopt // the orphan matches (LAW-1b, ADOPT-2)
}

// Without configures a mutant (package mutants). Each field disables one check. Its comment says what the mutant does.
type Without struct {
	Foreign         bool // claim matching objects of other controllers
	Selector        bool // adopt orphans that do not match
	Namespace       bool // adopt orphans of other namespaces
	Deletion        bool // adopt although the cache shows the controller as terminating
	ReleaseDeletion bool // release although the cache shows the controller as terminating
	ObjectDeletion  bool // adopt terminating objects
	Mismatch        bool // keep own objects that no longer match
	Match           bool // release own objects that match

	LiveCheck    bool // adopt without reading the controller from the server
	LiveUID      bool // do not compare the uid of the controller that was read
	LiveDeletion bool // ignore that the controller that was read is terminating

	DependentUID  bool // patches do not carry the dependent's uid
	AppendOnly    bool // adoption replaces the list of owners
	AdoptFields   bool // adoption also removes the dependent's finalizers
	Blocks        bool // adoption does not set blockOwnerDeletion
	Version       bool // adoption names the controller by another apiVersion
	OwnEntryOnly  bool // release removes every owner
	ReleaseFields bool // release also removes the dependent's finalizers
	Loser         bool // count a refused adoption as successful

	Refused  bool // count a refused release as successful, whatever the reason
	Gone     bool // treat the release of a missing object as an error
	Replaced bool // treat the release of a recreated object as an error
}
