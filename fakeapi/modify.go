package fakeapi

import (
	"cmp"
	"fmt"

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

// findUpdate converts the stored object to the request's version. It returns 404 for a missing object, or the error of
// the conversion.
func (c *call) findUpdate(w *draft) (err error) {
	if w.stored == nil {
		return c.errNotFound(c.req.Name)
	}
	if w.old = w.stored; c.k.stored != nil {
		w.old, err = c.s.converted(c.k, w.stored)
	}
	return err
}

// decodeUpdate makes the new state. It returns 409 if the UID in the body is not the stored one. An invalid patch is
// refused with 400 or 422.
func (c *call) decodeUpdate(w *draft) error {
	if w.body != nil {
		if err := c.matchUID(w.old, metadata.Of(w.body).GetUID()); err != nil {
			return err
		}
	}
	if err := w.make(c, w); err != nil {
		return err
	}
	w.m = metadata.Of(w.obj)
	return nil
}

// convertUpdate converts the new state as convertCreate does, with the same errors. It returns errRaced if the stored
// object has changed during a webhook call.
func (c *call) convertUpdate(w *draft) error {
	switch err := c.keep(w.obj); {
	case err != nil || c.s.calls == w.calls:
		return err
	case c.s.current(c.k) != c.k:
		return c.errRedefined()
	case c.s.lookup(c.s.tables[c.k.ordinal], c.req.Namespace, c.req.Name) != w.stored:
		return errRaced
	}
	return nil
}

// storeUpdate stores the new state, or removes a terminating object that has lost its last finalizer (see mayGo). In a
// dry run it changes nothing. If the update changes nothing, the response contains the stored object. An object that is
// too large is refused with 500.
func (c *call) storeUpdate(w *draft) error {
	if c.s.opts.DropControllerRefs {
		metadata.DropControllers(w.m) // before the comparison: setting only the field controller changes nothing
	}
	if len(w.m.GetFinalizers()) == 0 && w.old.meta.GetDeletionTimestamp() != nil && c.mayGo(w.obj, w.old.meta) {
		if !w.dryRun {
			c.drop(c.s.writable(c.k), w.old)
		}
		return nil
	}
	status := w.way == &c.k.row.ForStatus
	switch same, size := unchanged(w.onlyMeta, status, w.obj, w.old, w.m); {
	case same:
		w.obj = w.old.obj
	case w.dryRun:
		c.rehearse(w)
	default:
		bound, err := c.s.limit(w.obj, cmp.Or(size, w.bound(status)))
		if err != nil {
			return err
		}
		c.commit(c.s.writable(c.k), w.old, w.old.key, w.obj, w.m).bound = bound
	}
	return nil
}

// mayGo reports whether a terminating object without finalizers can be removed.
func (c *call) mayGo(obj runtime.Object, old metav1.Object) bool {
	if grace := old.GetDeletionGracePeriodSeconds(); grace != nil && *grace != 0 {
		return false
	}
	return c.k.row.Held == nil || !c.k.row.Held(obj)
}

// matchVersion returns a conflict if the object's resourceVersion is not the stored one. An object without a
// resourceVersion gets the stored one. If the kind has MustVersion set, such an object is refused as invalid.
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

// validateUpdate sets the fields of the new state that the server owns, and refuses an invalid state with 422.
func (c *call) validateUpdate(w *draft) error {
	way, obj, m, onlyMeta, old, oldMeta := w.way, w.obj, w.m, w.onlyMeta, w.old.obj, w.old.meta
	w.asked = c.askedPorts(obj, old)
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
	if err := c.inRange(obj, old); err != nil {
		return err
	}
	return c.allocatePorts(c.draft.asked, obj)
}

func (c *call) update(way *registry.Update) Response {
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
	return c.modify(edit{way: way, make: (*call).replaced, body: obj, dryRun: len(c.req.Update.DryRun) > 0,
		creates: c.k.CreateOnUpdate && c.req.Subresource == ""})
}

// replaced makes the new state of an update from the body.
func (c *call) replaced(w *draft) error {
	var live runtime.Object
	if w.old != nil {
		live = w.old.obj
	}
	next := w.body
	if c.mayAsk() { // another attempt may decode the body again
		next = next.DeepCopyObject()
	}
	w.obj = c.manage(live, next, c.req.Update.FieldManager)
	return nil
}

// matchUID returns an error if an update requires another UID than the stored one. The text is from the storage layer.
func (c *call) matchUID(e *entry, asked types.UID) error {
	have := e.meta.GetUID()
	if asked == "" || asked == have {
		return nil
	}
	return c.errConflict(e.meta.GetName(), fmt.Sprintf(
		"StorageError: invalid object, Code: 4, Key: /registry/%s/%s, ResourceVersion: 0, AdditionalErrorMsg: "+
			"Precondition failed: UID in precondition: %s, UID in object meta: %s",
		c.k.row.StoragePrefix(), e.key, asked, have))
}

// conditionMeta returns an error if a request requires another UID or resourceVersion than the stored one. nil stands
// for no requirement. The error has another text than the error of matchUID.
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
