package fakeapi

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

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
	r := c.written(http.StatusOK, c.remove(old, opts))
	//lint:ignore SA1019 old clients send orphanDependents
	if r.Err == nil && !c.draft.gone && opts.OrphanDependents != nil && !*opts.OrphanDependents {
		r.Code = http.StatusAccepted
	}
	return r
}

// legible returns an object's current entry, or an error if the object cannot be converted to the request's version.
// The real server reads an object before it deletes the object.
func (c *call) legible(old *entry) (*entry, error) {
	calls := c.s.calls
	if !c.req.Kind.asks() {
		return old, nil
	}
	if _, err := c.s.convert(c.req.Kind, old.obj, false); err != nil {
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
		if _, err := c.s.convert(c.req.Kind, obj, false); err != nil {
			return errUnlisted(c.req.Kind, err)
		}
	}
	if c.s.current(c.k) != c.k {
		return c.errRedefined()
	}
	return nil
}

// plainDelete reports whether o sets no option that must be validated.
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

// matchDelete returns 409 if a precondition requires another UID or resourceVersion than the stored object has.
func (c *call) matchDelete(w *draft) error {
	m, pre := w.old.meta, w.opts.Preconditions
	switch {
	case pre == nil:
		return nil
	case c.k.row.Terminate != nil:
		return c.conditionMeta(w.old, pre.UID, pre.ResourceVersion)
	}
	gr := schema.GroupResource{Group: c.k.GVK.Group, Resource: c.k.GVK.Kind}
	if pre.UID != nil && *pre.UID != m.GetUID() {
		return apierrors.NewConflict(gr, m.GetName(), fmt.Errorf(
			"the UID in the precondition (%s) does not match the UID in record (%s). The object might have been "+
				"deleted and then recreated",
			*pre.UID, m.GetUID()))
	}
	if pre.ResourceVersion != nil && *pre.ResourceVersion != m.GetResourceVersion() {
		return apierrors.NewConflict(gr, m.GetName(), fmt.Errorf(
			"the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The "+
				"object might have been modified",
			*pre.ResourceVersion, m.GetResourceVersion()))
	}
	return nil
}

// reviewDelete evaluates the policies and webhooks for a deletion, and returns their errors. If the object has changed
// during a webhook call, the error is errRaced. See still for the other errors, such as 404.
func (c *call) reviewDelete(w *draft) error {
	calls := c.s.calls
	if c.posted() || c.pending(w) {
		return nil
	}
	if err := c.review(admissionv1.Delete, nil, w.old.obj, w.dryRun); err != nil || c.s.calls == calls {
		return err
	}
	now, err := c.still(w.old)
	if err == nil && now != w.old {
		w.old, err = now, errRaced
	}
	return err
}

// storeDelete removes the object, or marks it as terminating. It never fails, and changes nothing in a dry run. If the
// kind has a function Terminate, Terminate marks the object. The object then stays while Held returns true.
func (c *call) storeDelete(w *draft) error {
	old, opts := w.old, w.opts
	switch {
	case c.pending(w):
		w.obj = old.obj
		return nil
	case c.k.row.Terminate == nil:
	case old.meta.GetDeletionTimestamp() == nil:
		w.obj = c.k.row.Terminate(old.obj, opts, c.now)
		if !w.dryRun {
			c.commit(c.s.writable(c.k), old, old.key, w.obj, metadata.Of(w.obj))
		}
		return nil
	}
	obj := c.k.row.Shallow(old.obj)
	m := metadata.Of(obj)
	graceful := c.beGraceful(obj, m, opts)
	c.setDeletionFinalizers(m, opts)
	if !graceful {
		if len(m.GetFinalizers()) == 0 {
			c.removeNow(w)
			return nil
		}
		c.markDeleting(m)
	}
	w.obj = obj
	if same, _ := unchanged(true, false, obj, old, m); same {
		w.obj = old.obj
	} else if !w.dryRun {
		w.old = c.commit(c.s.writable(c.k), old, old.key, obj, m)
	}
	switch {
	case len(m.GetFinalizers()) > 0 || graceful && *opts.GracePeriodSeconds > 0:
	case w.dryRun:
		w.gone = true
	default:
		c.removeNow(w)
	}
	return nil
}

func (c *call) removeNow(w *draft) {
	last, m := w.old.obj, w.old.meta
	if !w.dryRun {
		last = c.drop(c.s.writable(c.k), w.old)
	}
	w.obj, w.gone = c.deleted(last, m), true
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

// pending reports whether the object is already being deleted, and the request changes nothing. In this case no webhook
// is called, as in Store.Delete of k8s.io/apiserver and REST.Delete of Namespaces.
func (c *call) pending(w *draft) bool {
	m, asked, left := w.old.meta, w.opts.GracePeriodSeconds, w.old.meta.GetDeletionGracePeriodSeconds()
	switch {
	case m.GetDeletionTimestamp() == nil:
		return false
	case c.k.row.Held != nil:
		return c.k.row.Held(w.old.obj)
	}
	return c.k.row.Grace != nil && left != nil && *left != 0 && (asked == nil || *asked >= *left)
}

// beGraceful marks an object as terminating if its kind has graceful deletion, and reports whether it has changed obj.
func (c *call) beGraceful(obj runtime.Object, m metav1.Object, opts *metav1.DeleteOptions) bool {
	if c.k.row.Grace == nil {
		return false
	}
	left := m.GetDeletionGracePeriodSeconds()
	if at := m.GetDeletionTimestamp(); at != nil {
		if left == nil || *left == 0 {
			return false
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
		return true
	}
	period := c.k.row.Grace(obj, opts.GracePeriodSeconds)
	opts.GracePeriodSeconds = &period
	at := metadata.Seconds(c.now.Add(time.Duration(period) * time.Second))
	m.SetDeletionTimestamp(&at)
	m.SetDeletionGracePeriodSeconds(&period)
	if g := m.GetGeneration(); g > 0 {
		m.SetGeneration(g + 1)
	}
	return true
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

// setDeletionFinalizers sets the garbage collector's finalizers for the propagation policy (GCPOLICY). It takes the
// policy from the options, the object's finalizers or the kind, in this order. A kind with NoPolicy gets no finalizer.
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

// deleteCollection lists the objects and deletes each, like the real server. It stops at the first error.
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
		if err := c.remove(old, opts); err != nil {
			return refuse(err)
		}
	}
	return found
}

// still returns an object's current entry after a webhook call. It returns an error if the CRD has changed, the object
// is gone, or the object has changed during 10 calls (mostTries).
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
