package fakeapi

import (
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/registry"
)

// edit is one change of an object by a request.
type edit struct {
	way    *registry.Update
	uid    types.UID // the UID that the object must have; "" for any
	dryRun bool
	// creates is set if the edit creates a missing object.
	creates bool
	// make returns the new object. old is the stored object, or nil. If onlyMeta is true, obj differs from old only
	// in metadata, and shares everything else with old.
	make func(old *entry) (obj runtime.Object, onlyMeta bool, err error)
}

// modify applies an edit. If the object changes during a webhook call, modify tries again, up to mostTries times.
func (c *call) modify(ed *edit) Response {
	warned := len(c.warnings)
	for range mostTries {
		if r, done := c.try(ed); done {
			return r
		}
		c.warnings, c.kept = c.warnings[:warned], nil
	}
	return refuse(errOutOfTime())
}

// try applies the edit once. done is false if the object was changed, deleted or created during a webhook call.
func (c *call) try(ed *edit) (r Response, done bool) {
	calls := c.s.calls
	stored := c.s.lookup(c.s.tables[c.k.ordinal], c.req.Namespace, c.req.Name)
	if stored == nil {
		r := c.modifyMissing(ed)
		raced := c.s.calls != calls && ed.creates && r.Err != nil && apierrors.IsAlreadyExists(r.Err)
		return r, !raced
	}
	old := stored
	if c.k.stored != nil {
		var err error
		if old, err = c.k.entry(stored); err != nil {
			return refuse(err), true
		}
	}
	w := draft{old: old, dryRun: ed.dryRun}
	err := c.edit(ed, &w)
	if err == nil {
		err = c.admitUpdate(ed, &w)
	}
	if err == nil {
		err = c.beforeUpdate(ed.way, &w)
	}
	if err == nil {
		err = c.permitUpdate(&w)
	}
	if err == nil {
		err = c.keep(w.obj)
	}
	if err == nil && c.s.calls != calls {
		if c.s.current(c.k) != c.k {
			err = c.errRedefined()
		} else if c.s.lookup(c.s.tables[c.k.ordinal], c.req.Namespace, c.req.Name) != stored {
			return r, false
		}
	}
	if err == nil && !w.onlyMeta {
		err = c.charge(&w)
	}
	if err == nil {
		err = c.storeChange(&w)
	}
	if err != nil {
		return refuse(err), true
	}
	return Response{Object: w.obj, Code: http.StatusOK}, true
}

// edit sets the new state of an object in w.
func (c *call) edit(ed *edit, w *draft) (err error) {
	if err = c.conditionUID(w.old, ed.uid); err != nil {
		return err
	}
	if w.obj, w.onlyMeta, err = ed.make(w.old); err != nil {
		return err
	}
	w.m, w.asked = metadata.Of(w.obj), c.askedPorts(w.obj, w.old.obj)
	return nil
}

// storeChange stores the new state, or removes a terminating object without finalizers for which mayGo returns true. In
// a dry run it does neither. If nothing has changed, the response contains the stored object.
func (c *call) storeChange(w *draft) error {
	if c.s.opts.DropControllerRefs {
		metadata.DropControllers(w.m) // first: a write that only sets the controller field then changes nothing
	}
	switch {
	case len(w.m.GetFinalizers()) == 0 && w.old.meta.GetDeletionTimestamp() != nil && c.mayGo(w.obj, w.old.meta):
		if !w.dryRun {
			c.drop(c.s.writable(c.k), w.old)
		}
	case unchanged(w.onlyMeta, w.obj, w.old, w.m):
		w.obj = w.old.obj
	case !w.dryRun:
		if err := c.s.tooLarge(w.obj); err != nil {
			return err
		}
		c.commit(c.s.writable(c.k), w.old, w.old.key, w.obj, w.m)
	}
	return nil
}

func (c *call) modifyMissing(ed *edit) Response {
	if !ed.creates {
		return refuse(c.errNotFound(c.req.Name))
	}
	obj, _, err := ed.make(nil)
	if err != nil {
		return refuse(err)
	}
	m := metadata.Of(obj)
	if m.GetUID() != "" {
		return refuse(c.errConflict(c.req.Name,
			fmt.Sprintf("uid mismatch: the provided object specified uid %s, and no existing object was found",
				m.GetUID())))
	}
	c.dedupOwners(m, true)
	m.SetResourceVersion("") // a missing object has no revision to compare
	return c.insert(obj, m, ed.dryRun)
}

// mayGo reports whether a terminating object without finalizers can be removed.
func (c *call) mayGo(obj runtime.Object, old metav1.Object) bool {
	if grace := old.GetDeletionGracePeriodSeconds(); grace != nil && *grace != 0 {
		return false
	}
	return c.k.row.Held == nil || !c.k.row.Held(obj)
}

// matchVersion returns a conflict if the object's resourceVersion is not the stored one. An object without a
// resourceVersion gets the stored one, or is invalid if MustVersion of the kind is set.
func (c *call) matchVersion(m metav1.Object, old *entry) error {
	n, err := parseVersion(m.GetResourceVersion())
	if err != nil {
		return err
	}
	switch {
	case n == 0 && c.k.MustVersion:
		qualified := schema.GroupKind{Group: c.k.GVK.Group, Kind: c.k.Resource}
		return apierrors.NewInvalid(qualified, old.meta.GetName(), field.ErrorList{
			field.Invalid(metadata.Path.Child("resourceVersion"), n, "must be specified for an update")})
	case n == 0:
		m.SetResourceVersion(old.meta.GetResourceVersion())
	case n != old.rv:
		return c.errConflict(old.meta.GetName(), modified)
	}
	return nil
}

// beforeUpdate sets the server-owned fields of the new state, and validates the new state.
func (c *call) beforeUpdate(way *registry.Update, w *draft) error {
	obj, m, onlyMeta, old, oldMeta := w.obj, w.m, w.onlyMeta, w.old.obj, w.old.meta
	m.SetGeneration(oldMeta.GetGeneration())
	if way.Prepare != nil && !(onlyMeta && way.Keeps) {
		way.Prepare(obj, old, c.now)
	}
	if m.GetUID() == "" {
		m.SetUID(oldMeta.GetUID())
	}
	m.SetCreationTimestamp(oldMeta.GetCreationTimestamp())
	if at := oldMeta.GetDeletionTimestamp(); at != nil {
		m.SetDeletionTimestamp(at)
	}
	if grace := oldMeta.GetDeletionGracePeriodSeconds(); grace != nil && m.GetDeletionGracePeriodSeconds() == nil {
		m.SetDeletionGracePeriodSeconds(grace)
	}
	if way == &c.k.row.Main && !onlyMeta {
		if err := c.begin(obj, m, old); err != nil {
			return err
		}
	}
	sound := metadata.Sound(m, oldMeta)
	var errs field.ErrorList
	if !sound {
		errs = apivalidation.ValidateObjectMetaAccessor(m, c.k.Namespaced, metadata.PathSegment, metadata.Path)
		errs = append(errs, apivalidation.ValidateObjectMetaAccessorUpdate(m, oldMeta, metadata.Path)...)
	}
	if way.Judge != nil && (!onlyMeta || way.MetadataToo || len(errs) > 0 || !sound && !metadata.Plain(m, oldMeta)) {
		found, warnings := way.Judge(obj, old, sound)
		if errs = append(errs, found...); len(errs) == 0 || way.MetadataToo {
			c.warnings = append(c.warnings, warnings...)
		}
	}
	if len(errs) > 0 {
		return c.errInvalid(m.GetName(), errs)
	}
	if c.k.row.Canonicalize != nil {
		c.k.row.Canonicalize(obj)
	}
	keepStamps(obj, m, w.old)
	return nil
}

func (c *call) begin(obj runtime.Object, m metav1.Object, old runtime.Object) error {
	if c.k.row.Begin != nil {
		if errs := c.k.row.Begin(obj, old); len(errs) > 0 {
			return c.errInvalid(m.GetName(), errs)
		}
	}
	return nil
}

// whole returns the make function of an edit that may change any field.
func whole(make func(old *entry) (runtime.Object, error)) func(*entry) (runtime.Object, bool, error) {
	return func(old *entry) (runtime.Object, bool, error) {
		obj, err := make(old)
		return obj, false, err
	}
}

func (c *call) update(w *registry.Update) Response {
	if o := &c.req.Update; len(o.DryRun) > 0 || o.FieldManager != "" || o.FieldValidation != "" {
		if errs := metav1validation.ValidateUpdateOptions(o); len(errs) > 0 {
			return refuse(errOptions("UpdateOptions", errs))
		}
	}
	obj, err := c.copyIn(c.req.Object)
	if err != nil {
		return refuse(err)
	}
	m := metadata.Of(obj)
	if err := c.matchNamespace(m); err != nil {
		return refuse(err)
	}
	if err := c.matchName(m); err != nil {
		return refuse(err)
	}
	c.dedupOwners(m, false)
	return c.modify(&edit{
		way: w, uid: m.GetUID(), dryRun: len(c.req.Update.DryRun) > 0, creates: c.k.CreateOnUpdate &&
			c.req.Subresource == "",
		make: func(old *entry) (runtime.Object, bool, error) {
			var live runtime.Object
			if old != nil {
				live = old.obj
			}
			next := obj
			if c.mayAsk() { // make may be called again
				next = obj.DeepCopyObject()
			}
			return c.manage(live, next, c.req.Update.FieldManager), false, nil
		},
	})
}

// conditionUID returns an error if a write requires another UID than the stored one.
func (c *call) conditionUID(e *entry, asked types.UID) error {
	if asked != "" && asked != e.meta.GetUID() {
		return c.errPrecondition(e, "UID", string(asked), string(e.meta.GetUID()))
	}
	return nil
}

// conditionMeta returns an error if a request requires another UID or resourceVersion than the stored ones. nil is
// not compared. The error text differs from that of the storage layer, which errPrecondition returns.
func (c *call) conditionMeta(e *entry, uid *types.UID, version *string) error {
	const text = "Precondition failed: %[1]s in precondition: %[2]v, %[1]s in object meta: %[3]v"
	m := e.meta
	if uid != nil && *uid != m.GetUID() {
		return c.errConflict(m.GetName(), fmt.Sprintf(text, "UID", *uid, m.GetUID()))
	}
	if version != nil && *version != m.GetResourceVersion() {
		return c.errConflict(m.GetName(), fmt.Sprintf(text, "ResourceVersion", *version, m.GetResourceVersion()))
	}
	return nil
}

// precondition returns an error if a delete requires another UID or resourceVersion than the stored ones.
func (c *call) precondition(old *entry, pre *metav1.Preconditions) error {
	if pre == nil {
		return nil
	}
	gr := schema.GroupResource{Group: c.k.GVK.Group, Resource: c.k.GVK.Kind}
	if pre.UID != nil && *pre.UID != old.meta.GetUID() {
		return apierrors.NewConflict(gr, old.meta.GetName(), fmt.Errorf(
			"the UID in the precondition (%s) does not match the UID in record (%s). The object might have been "+
				"deleted and then recreated",
			*pre.UID, old.meta.GetUID()))
	}
	if pre.ResourceVersion != nil && *pre.ResourceVersion != old.meta.GetResourceVersion() {
		return apierrors.NewConflict(gr, old.meta.GetName(), fmt.Errorf(
			"the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The "+
				"object might have been modified",
			*pre.ResourceVersion, old.meta.GetResourceVersion()))
	}
	return nil
}

// errPrecondition returns the storage layer's error for a wrong UID or resourceVersion.
func (c *call) errPrecondition(e *entry, what, asked, have string) error {
	return c.errConflict(e.meta.GetName(), fmt.Sprintf(
		"StorageError: invalid object, Code: 4, Key: /registry/%s/%s, ResourceVersion: 0, AdditionalErrorMsg: "+
			"Precondition failed: %s in precondition: %s, %s in object meta: %s",
		c.k.row.StoragePrefix(), e.key, what, asked, what, have))
}
