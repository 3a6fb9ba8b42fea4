package fakeapi

import (
	"net/http"
	"slices"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi/internal/admission"
	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

func (c *call) delete() Response {
	if c.req.Subresource != "" {
		return refuse(errNoSubresource())
	}
	opts := c.req.Delete
	if !plainDelete(&opts) {
		if errs := metav1validation.ValidateDeleteOptions(&opts); len(errs) > 0 {
			return refuse(errOptions("DeleteOptions", errs))
		}
	}
	if c.k == priorityClassKind {
		if err := admission.SystemPriorityClass(c.req.Name); err != nil {
			return refuse(apierrors.NewForbidden(c.k.groupResource(), c.req.Name, err))
		}
	}
	c.warnOrphaned(&opts)
	old := c.s.lookup(c.s.tables[c.k.ordinal], c.req.Namespace, c.req.Name)
	if old == nil {
		return refuse(c.errNotFound(c.req.Name))
	}
	old, err := c.legible(old)
	if err != nil {
		return refuse(err)
	}
	obj, gone, err := c.remove(old, opts)
	if err != nil {
		return refuse(err)
	}
	r := Response{Object: obj, Code: http.StatusOK}
	//lint:ignore SA1019 old clients send orphanDependents
	if !gone && opts.OrphanDependents != nil && !*opts.OrphanDependents {
		r.Code = http.StatusAccepted
	}
	return r
}

// legible returns an object's current entry. It returns an error if the object cannot be converted to the request's
// version, because the real server reads an object before it deletes the object.
func (c *call) legible(old *entry) (*entry, error) {
	calls := c.s.calls
	if !c.req.Kind.asks() {
		return old, nil
	}
	if _, err := c.req.Kind.convert(old.obj, false); err != nil {
		return nil, err
	}
	if c.s.calls == calls {
		return old, nil
	}
	return c.still(old)
}

func (c *call) legibleAll(items []runtime.Object) error {
	if !c.req.Kind.asks() {
		return nil
	}
	for _, obj := range items {
		if _, err := c.req.Kind.convert(obj, false); err != nil {
			return errUnlisted(c.req.Kind, err)
		}
	}
	if c.s.current(c.k) != c.k {
		return c.errRedefined()
	}
	return nil
}

// plainDelete reports whether the options need no validation.
func plainDelete(o *metav1.DeleteOptions) bool {
	//lint:ignore SA1019 old clients send orphanDependents
	return o.OrphanDependents == nil && o.PropagationPolicy == nil && len(o.DryRun) == 0 &&
		o.IgnoreStoreReadErrorWithClusterBreakingPotential == nil
}

func (c *call) warnOrphaned(opts *metav1.DeleteOptions) {
	//lint:ignore SA1019 old clients send orphanDependents
	if c.k.row.OrphanedWarning != "" && opts.PropagationPolicy == nil && opts.OrphanDependents == nil {
		c.warnings = append(c.warnings, c.k.row.OrphanedWarning)
	}
}

// reviewedDeletion calls the webhooks for a deletion, and returns the current entry. If that is another one than old,
// the object has changed in the meantime, and the caller must check the new entry.
func (c *call) reviewedDeletion(old *entry, dryRun bool) (*entry, error) {
	calls := c.s.calls
	if c.posted() {
		return old, nil
	}
	if err := c.review(admissionv1.Delete, nil, old.obj, dryRun); err != nil {
		return nil, err
	}
	if c.s.calls == calls {
		return old, nil
	}
	return c.still(old)
}

// remove deletes an object, or marks it as terminating. It reports whether the object is gone (in a dry run: would be).
func (c *call) remove(old *entry, opts metav1.DeleteOptions) (runtime.Object, bool, error) {
	if c.k.row.Terminate != nil {
		obj, done, err := c.terminate(old, &opts)
		if done || err != nil {
			return obj, false, err
		}
	}
	if err := c.precondition(old, opts.Preconditions); err != nil {
		return nil, false, err
	}
	if err := c.admitDelete(old); err != nil {
		return nil, false, err
	}
	now, err := c.reviewedDeletion(old, len(opts.DryRun) > 0)
	if err != nil {
		return nil, false, err
	}
	if now != old {
		return c.remove(now, opts)
	}
	if opts.GracePeriodSeconds != nil && *opts.GracePeriodSeconds < 0 {
		opts.GracePeriodSeconds = new(int64(1))
	}
	obj := c.k.row.Shallow(old.obj)
	m := metadata.Of(obj)
	graceful, pending := c.beGraceful(obj, m, &opts)
	if pending {
		return c.deleted(old.obj, old.meta), false, nil
	}
	c.setDeletionFinalizers(m, &opts)
	if !graceful {
		if len(m.GetFinalizers()) == 0 {
			return c.removeNow(old, opts.DryRun)
		}
		c.markDeleting(m)
	}
	stored := old
	if unchanged(true, obj, old, m) {
		obj = old.obj
	} else if len(opts.DryRun) == 0 {
		stored = c.commit(c.s.writable(c.k), old, old.key, obj, m)
	}
	if len(m.GetFinalizers()) > 0 || graceful && *opts.GracePeriodSeconds > 0 {
		return obj, false, nil
	}
	if len(opts.DryRun) > 0 {
		return obj, true, nil
	}
	return c.removeNow(stored, nil)
}

func (c *call) removeNow(old *entry, dryRun []string) (runtime.Object, bool, error) {
	last := old.obj
	if len(dryRun) == 0 {
		last = c.drop(c.s.writable(c.k), old)
	}
	return c.deleted(last, old.meta), true, nil
}

// deleted returns the object in the response to a delete: the deleted object, or a Status that names it.
func (c *call) deleted(obj runtime.Object, m metav1.Object) runtime.Object {
	if c.k.ReturnDeleted {
		return obj
	}
	return &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusSuccess,
		Details: &metav1.StatusDetails{Name: m.GetName(), Group: c.req.Kind.GVK.Group, Kind: c.k.Resource,
			UID: m.GetUID()},
	}
}

// beGraceful marks an object as terminating if its kind has graceful deletion. graceful reports whether obj was
// changed. pending reports whether an earlier graceful deletion is in progress and its end does not change.
func (c *call) beGraceful(obj runtime.Object, m metav1.Object, opts *metav1.DeleteOptions) (graceful, pending bool) {
	if c.k.row.Grace == nil {
		return false, false
	}
	left := m.GetDeletionGracePeriodSeconds()
	if at := m.GetDeletionTimestamp(); at != nil {
		switch {
		case left == nil || *left == 0:
			return false, false
		case opts.GracePeriodSeconds == nil:
			opts.GracePeriodSeconds = left
			return false, true
		case *opts.GracePeriodSeconds >= *left:
			return false, true
		}
		period := *opts.GracePeriodSeconds
		sooner := metav1.Time{Time: at.Add(time.Duration(period-*left) * time.Second)}
		if sooner.Time.Before(c.now) {
			sooner = metadata.Seconds(c.now)
			if period != 0 {
				period = 1
			}
		}
		m.SetDeletionTimestamp(&sooner)
		m.SetDeletionGracePeriodSeconds(&period)
		return true, false
	}
	period := c.k.row.Grace(obj, opts.GracePeriodSeconds)
	opts.GracePeriodSeconds = &period
	at := metadata.Seconds(c.now.Add(time.Duration(period) * time.Second))
	m.SetDeletionTimestamp(&at)
	m.SetDeletionGracePeriodSeconds(&period)
	if g := m.GetGeneration(); g > 0 {
		m.SetGeneration(g + 1)
	}
	return true, false
}

// markDeleting sets the deletion timestamp of an object that stays because of finalizers.
func (c *call) markDeleting(m metav1.Object) {
	at := m.GetDeletionTimestamp()
	if g := m.GetGeneration(); at == nil && g > 0 {
		m.SetGeneration(g + 1)
	}
	if at == nil || at.After(c.now) {
		now := metadata.Seconds(c.now)
		m.SetDeletionTimestamp(&now)
	}
	m.SetDeletionGracePeriodSeconds(new(int64))
}

// setDeletionFinalizers sets the garbage collector's finalizers for the propagation policy (GCPOLICY): the policy in
// the options, else that of the object's finalizers, else the kind's default. A kind with NoPolicy gets no finalizer.
func (c *call) setDeletionFinalizers(m metav1.Object, opts *metav1.DeleteOptions) {
	orphan, foreground := false, false
	have := m.GetFinalizers()
	hasOrphan := slices.Contains(have, metav1.FinalizerOrphanDependents)
	hasForeground := slices.Contains(have, metav1.FinalizerDeleteDependents)
	first := slices.IndexFunc(have, func(f string) bool {
		return f == metav1.FinalizerOrphanDependents || f == metav1.FinalizerDeleteDependents
	})
	//lint:ignore SA1019 old clients send orphanDependents
	old := opts.OrphanDependents
	switch {
	case c.k.row.NoPolicy:
	case old != nil:
		orphan = *old
	case opts.PropagationPolicy != nil && *opts.PropagationPolicy != "":
		orphan = *opts.PropagationPolicy == metav1.DeletePropagationOrphan
		foreground = *opts.PropagationPolicy == metav1.DeletePropagationForeground
	case first >= 0:
		orphan = have[first] == metav1.FinalizerOrphanDependents
		foreground = !orphan
	default:
		orphan = c.k.OrphanByDefault
	}
	if orphan != hasOrphan || foreground != hasForeground {
		m.SetFinalizers(metadata.WithPolicy(have, orphan, foreground))
	}
}

// deleteCollection lists the objects and deletes them one by one, like the real server. It stops at the first error.
func (c *call) deleteCollection() Response {
	opts := c.req.Delete
	if errs := metav1validation.ValidateDeleteOptions(&opts); len(errs) > 0 {
		return refuse(errOptions("DeleteOptions", errs))
	}
	c.warnOrphaned(&opts)
	found := c.list()
	if found.Err != nil {
		return found
	}
	if err := c.legibleAll(found.Items); err != nil {
		return refuse(err)
	}
	for _, obj := range found.Items {
		m := obj.(metav1.Object)
		old := c.s.lookup(c.s.tables[c.k.ordinal], m.GetNamespace(), m.GetName())
		if old == nil {
			continue
		}
		if _, _, err := c.remove(old, opts); err != nil {
			return refuse(err)
		}
	}
	return found
}

// terminate deletes an object of a kind with its own procedure, such as a Namespace. The first request marks the
// object. Later requests do not change it while the kind's function Held returns true. done reports whether the
// deletion needs no further step.
func (c *call) terminate(old *entry, opts *metav1.DeleteOptions) (obj runtime.Object, done bool, err error) {
	if pre := opts.Preconditions; pre != nil {
		if err := c.conditionMeta(old, pre.UID, pre.ResourceVersion); err != nil {
			return nil, false, err
		}
	}
	if err := c.admitDelete(old); err != nil {
		return nil, false, err
	}
	now, err := c.reviewedDeletion(old, len(opts.DryRun) > 0)
	if err != nil {
		return nil, false, err
	}
	if now != old {
		return c.terminate(now, opts)
	}
	if old.meta.GetDeletionTimestamp() != nil {
		return old.obj, c.k.row.Held != nil && c.k.row.Held(old.obj), nil
	}
	marked := c.k.row.Terminate(old.obj, opts, c.now)
	if len(opts.DryRun) == 0 {
		c.commit(c.s.writable(c.k), old, old.key, marked, metadata.Of(marked))
	}
	return marked, true, nil
}

// still returns an object's current entry after a webhook call. It returns an error if the CRD has changed, the object
// is gone, or the object has changed mostTries times.
func (c *call) still(old *entry) (*entry, error) {
	if c.s.current(c.k) != c.k {
		return nil, c.errRedefined()
	}
	now := c.s.find(c.s.tables[c.k.ordinal], old.key)
	if now == nil {
		return nil, c.errNotFound(old.meta.GetName())
	}
	if now != old {
		if c.tries++; c.tries == mostTries {
			return nil, errOutOfTime()
		}
	}
	return now, nil
}
