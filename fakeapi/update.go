package fakeapi

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// edit is one change of an existing object on its way to the store.
type edit struct {
	way    *update
	uid    types.UID // the incarnation it is meant for; "" for any
	dryRun bool
	// creates says that a missing object is made.
	creates bool
	// make returns the new object, which the call owns, from the stored one
	// (nil when there is none).
	make func(old *entry) (runtime.Object, error)
	// onlyMeta says that make changed nothing but metadata: the rest is shared
	// with the stored object.
	onlyMeta bool
}

func (c *call) update() Response {
	w := c.k.row.way(c.req.Subresource)
	if w == nil {
		return c.updateSubresource()
	}
	if o := &c.req.Update; len(o.DryRun) > 0 || o.FieldManager != "" || o.FieldValidation != "" {
		if errs := metav1validation.ValidateUpdateOptions(o); len(errs) > 0 {
			return refuse(errOptions("UpdateOptions", errs))
		}
	}
	obj := c.copyIn(c.req.Object)
	m := metaOf(obj)
	if err := c.matchNamespace(m); err != nil {
		return refuse(err)
	}
	if err := c.matchName(m); err != nil {
		return refuse(err)
	}
	c.dedupOwners(m, false)
	return c.modify(&edit{
		way: w, uid: m.GetUID(), dryRun: len(c.req.Update.DryRun) > 0, creates: c.k.CreateOnUpdate && c.req.Subresource == "",
		make: func(old *entry) (runtime.Object, error) {
			if old == nil {
				return c.manage(nil, obj, c.req.Update.FieldManager), nil
			}
			return c.manage(old.obj, obj, c.req.Update.FieldManager), nil
		},
	})
}

// matchName compares the object's name with the name in the path.
func (c *call) matchName(m metav1.Object) error {
	switch name := m.GetName(); {
	case name == "":
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s based on URL) was undeterminable: name must be provided", c.req.Name))
	case name != c.req.Name:
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", name, c.req.Name))
	}
	return nil
}

// modify carries out an edit.
func (c *call) modify(ed *edit) Response {
	t := c.s.tables[c.k.ordinal]
	old := c.s.lookup(t, c.req.Namespace, c.req.Name)
	if old == nil {
		return c.modifyMissing(ed)
	}
	if c.k.stored != nil {
		old = c.k.entry(old)
	}
	if err := c.conditionUID(old, ed.uid); err != nil {
		return refuse(err)
	}
	obj, err := ed.make(old)
	if err != nil {
		return refuse(err)
	}
	m := metaOf(obj)
	if err := c.admitUpdate(obj, old.obj, ed); err != nil {
		return refuse(err)
	}
	c.dedupOwners(m, true)
	if err := c.matchVersion(m, old); err != nil {
		return refuse(err)
	}
	if err := c.beforeUpdate(ed, obj, old.obj, m, old.meta); err != nil {
		return refuse(err)
	}
	if c.s.opts.DropControllerRefs {
		dropControllers(m)
	}
	if len(m.GetFinalizers()) == 0 && old.meta.GetDeletionTimestamp() != nil && c.mayGo(obj, old.meta) {
		if !ed.dryRun {
			c.drop(c.s.writable(c.k), old)
		}
		return Response{Object: obj, Code: http.StatusOK}
	}
	if c.unchanged(ed, obj, old, m) {
		return Response{Object: old.obj, Code: http.StatusOK}
	}
	if !ed.dryRun {
		c.commit(c.s.writable(c.k), old, old.key, obj, m)
	}
	return Response{Object: obj, Code: http.StatusOK}
}

// modifyMissing answers an edit of an object that does not exist.
func (c *call) modifyMissing(ed *edit) Response {
	if !ed.creates {
		return refuse(c.errNotFound(c.req.Name))
	}
	obj, err := ed.make(nil)
	if err != nil {
		return refuse(err)
	}
	m := metaOf(obj)
	if m.GetUID() != "" {
		return refuse(c.errConflict(c.req.Name, fmt.Sprintf("uid mismatch: the provided object specified uid %s, and no existing object was found", m.GetUID())))
	}
	c.dedupOwners(m, true)
	return c.insert(obj, m, ed.dryRun)
}

// mayGo says whether an object being deleted goes with its last finalizer.
func (c *call) mayGo(obj runtime.Object, old metav1.Object) bool {
	if grace := old.GetDeletionGracePeriodSeconds(); grace != nil && *grace != 0 {
		return false
	}
	return c.k.row.held == nil || !c.k.row.held(obj)
}

// drop removes an object: watchers are shown its last state under a new revision.
func (c *call) drop(t *table, e *entry) runtime.Object {
	c.s.version++
	if c.k.stored != nil {
		e = c.s.find(t, e.key)
	}
	last := t.kind.row.shallow(e.obj)
	metaOf(last).SetResourceVersion(strconv.FormatUint(c.s.version, 10))
	c.tell(t.remove(e, c.s.version, last))
	return last
}

// matchVersion is optimistic locking. An object without a resourceVersion
// takes the stored one where the kind allows it.
func (c *call) matchVersion(m metav1.Object, old *entry) error {
	n, err := parseVersion(m.GetResourceVersion())
	if err != nil {
		return err
	}
	switch {
	case n == 0 && c.k.MustVersion:
		qualified := schema.GroupKind{Group: c.k.GVK.Group, Kind: c.k.Resource}
		return apierrors.NewInvalid(qualified, old.meta.GetName(), field.ErrorList{
			field.Invalid(metadataPath.Child("resourceVersion"), n, "must be specified for an update")})
	case n == 0:
		m.SetResourceVersion(old.meta.GetResourceVersion())
	case n != old.rv:
		return c.errConflict(old.meta.GetName(), modified)
	}
	return nil
}

// parseVersion reads a resourceVersion; "" is 0.
func parseVersion(rv string) (uint64, error) {
	if rv == "" {
		return 0, nil
	}
	return strconv.ParseUint(rv, 10, 64)
}

func (c *call) beforeUpdate(ed *edit, obj, old runtime.Object, m, oldMeta metav1.Object) error {
	m.SetGeneration(oldMeta.GetGeneration())
	if ed.way.prepare != nil && !(ed.onlyMeta && ed.way.keeps) {
		ed.way.prepare(obj, old)
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
	var errs field.ErrorList
	if !soundMeta(m, oldMeta) {
		errs = validation.ValidateObjectMetaAccessor(m, c.k.Namespaced, pathSegment, metadataPath)
		errs = append(errs, validation.ValidateObjectMetaAccessorUpdate(m, oldMeta, metadataPath)...)
	}
	if len(errs) > 0 || len(m.GetFinalizers()) > 0 {
		errs = append(errs, c.k.row.recheck(ed.way.again, m, oldMeta)...)
	}
	if ed.way.validate != nil && !ed.onlyMeta {
		errs = append(errs, ed.way.validate(obj, old)...)
	}
	if len(errs) > 0 {
		return c.errInvalid(m.GetName(), errs)
	}
	if ed.way.warn != nil && !ed.onlyMeta {
		c.warnings = append(c.warnings, ed.way.warn(obj, old)...)
	}
	if c.k.row.canonicalize != nil {
		c.k.row.canonicalize(obj)
	}
	return nil
}

// validateFinalizers is what built-in kinds ask of finalizers beyond the
// common rules: to be qualified, or one of the standard ones.
func validateFinalizers(m metav1.Object) (errs field.ErrorList) {
	for i, f := range m.GetFinalizers() {
		switch {
		case strings.Contains(f, "/"):
		case f == metav1.FinalizerOrphanDependents, f == metav1.FinalizerDeleteDependents, f == "kubernetes":
		default:
			errs = append(errs, field.Invalid(metadataPath.Child("finalizers").Index(i), f, "name is neither a standard finalizer name nor is it fully qualified"))
		}
	}
	return errs
}

var errRVOnCreate = errors.New("resourceVersion should not be set on objects to be created")

// pathSegment is the rule every name keeps: it can stand in a path.
func pathSegment(name string, prefix bool) []string {
	if prefix {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}
