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

// Manager claims objects for one controller object during one sync.
type Manager struct {
	Client    host.Client
	Owner     metav1.Object           // the controller object, as cached
	Kind      schema.GroupVersionKind // its kind
	Dependent schema.GroupVersionKind // the kind of the objects to claim
	Without   *Without
	// Finalizers are put on what is adopted and come off what is released, in the
	// same patch as the reference, so that no dependent is ever without them.
	Finalizers []string

	checked bool
	refused error
	buf     []byte // of the patches, one after another
}

// CanAdopt reads the controller object from the server and returns an error
// when it is gone, has been replaced by a namesake, or is being deleted. The
// server is asked once in a manager's life, before its first adoption, and the
// answer, an error included, is kept (ADOPT-4): between the listing of the
// orphans and their adoption the controller may have been deleted, and its
// dependents orphaned on purpose (ADOPT-7).
//
// It is a read, not a precondition of the adoption: a window remains.
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

// Adopt makes the controller the object's controller. It returns an error when
// the controller may not adopt (see [Manager.CanAdopt]) or when the server
// refuses, as it does when somebody else was first (422, ADOPT-6).
func (m *Manager) Adopt(ctx context.Context, obj metav1.Object) error {
	if err := m.CanAdopt(ctx); err != nil {
		// Not wrapped: that the controller is gone must not pass for the object being gone.
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

// Release removes the controller's own reference from the object, whatever the
// state of the controller. An object that is gone, or that has become another
// of the same name, needs no release (ORPHAN-2): that is no error.
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

// Claim does what [Decide] says and reports whether the object is the
// controller's now. That the object is gone is no error. Any other refusal is,
// a lost race for an orphan included: the sync is to be repeated, and will find
// the orphan owned (ADOPT-6).
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

// Claim claims each of the objects, going on after an error, and returns those
// that are the controller's now, in their order, with the errors in one. A
// caller that gets an error abandons its sync: it does not know what it owns.
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
