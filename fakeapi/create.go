package fakeapi

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

func (c *call) create() Response {
	if o := &c.req.Create; len(o.DryRun) > 0 || o.FieldManager != "" || o.FieldValidation != "" {
		if errs := metav1validation.ValidateCreateOptions(o); len(errs) > 0 {
			return refuse(errOptions("CreateOptions", errs))
		}
	}
	c.draft = draft{edit: edit{make: (*call).newObject, dryRun: len(c.req.Create.DryRun) > 0}, calls: c.s.calls}
	return c.written(http.StatusCreated, c.pass(createStages))
}

// newObject makes the object of a create from the body.
func (c *call) newObject(w *draft) error {
	obj, err := c.copyIn(c.req.Object)
	if err != nil {
		return err
	}
	m := metadata.Of(obj)
	if err := c.matchNamespace(m); err != nil {
		return err
	}
	m.SetCreationTimestamp(metav1.Time{})
	m.SetUID("")
	m.SetDeletionTimestamp(nil)
	m.SetDeletionGracePeriodSeconds(nil)
	m.SetSelfLink("")
	c.dedupOwners(m, false)
	w.obj = c.manage(nil, obj, c.req.Create.FieldManager)
	return nil
}

// decodeCreate makes the new object. It returns 400 if, for example, the body and the request have different
// namespaces. For an update that creates an object, a uid in the body is refused with 409.
func (c *call) decodeCreate(w *draft) error {
	if err := w.make(c, w); err != nil {
		return err
	}
	w.m = metadata.Of(w.obj)
	if !w.creates {
		return nil
	}
	if w.m.GetUID() != "" {
		return c.errConflict(c.req.Name,
			fmt.Sprintf("uid mismatch: the provided object specified uid %s, and no existing object was found",
				w.m.GetUID()))
	}
	c.dedupOwners(w.m, true)
	w.m.SetResourceVersion("") // a missing object has no revision to compare
	return nil
}

// nameCreate sets a generated name, the key, the uid and the creation time. It never fails.
func (c *call) nameCreate(w *draft) error {
	t, m := c.s.writable(c.k), w.m
	if m.GetName() == "" && m.GetGenerateName() != "" {
		w.generated = c.generate(t, m)
		if c.k == jobKind {
			// the labels may be the template's map, to which generateSelector adds labels; upstream clones them too
			m.SetLabels(maps.Clone(m.GetLabels()))
		}
	}
	if m.GetName() == "" && c.k.row.NamesItself {
		w.generated = c.unnamed(t, m)
	}
	w.key = c.k.key(m.GetNamespace(), m.GetName())
	m.SetCreationTimestamp(metadata.Seconds(c.now))
	m.SetUID(uid(c.k, w.key, t.gone(w.key)+c.s.born))
	if w.dryRun {
		m.SetUID(c.s.dryUID(c.k, w.key))
	}
	return nil
}

// validateCreate sets the fields that the server owns, and refuses an invalid object with 422.
func (c *call) validateCreate(w *draft) error {
	w.asked = c.askedPorts(w.obj, nil)
	err := c.beforeCreate(w.obj, w.m)
	if err != nil && c.k == jobKind && !w.dryRun { // the error may show the uid in a label, so never use it again
		t := c.s.writable(c.k)
		t.past.ReplaceOrInsert(tally{key: w.key, n: t.gone(w.key) + 1, at: c.s.version})
	}
	return err
}

// convertCreate converts the object to the storage version if a webhook or a function in Options.Convert is needed. It
// returns 500 if the body has a resourceVersion. It returns the error of the conversion, or 503 if the CRD has changed
// during a webhook call.
func (c *call) convertCreate(w *draft) error {
	if rv := w.m.GetResourceVersion(); rv != "" && !w.dryRun {
		if n, err := strconv.ParseUint(rv, 10, 64); err == nil && n != 0 {
			return errRVOnCreate
		}
		w.m.SetResourceVersion("")
	}
	if err := c.keep(w.obj); err != nil || c.s.calls == w.calls {
		return err
	}
	if c.s.current(c.k) != c.k {
		return c.errRedefined()
	}
	// during a webhook call, another request may have used the uid for an object of the same name
	id := uid(c.k, w.key, c.s.tables[c.k.ordinal].gone(w.key)+c.s.born)
	if w.dryRun || id == w.m.GetUID() {
		return nil
	}
	w.m.SetUID(id)
	if w.kept != nil {
		metadata.Of(w.kept).SetUID(id)
	}
	return nil
}

// storeCreate stores the object. It returns 409 for a name in use, and 500 for an object that is too large.
func (c *call) storeCreate(w *draft) error {
	t := c.s.writable(c.k)
	if old := c.s.find(t, w.key); old != nil {
		return c.errExists(old)
	}
	if w.dryRun && c.k.row.Dry != nil {
		c.k.row.Dry(w.obj)
	}
	bound := 0
	if !w.dryRun {
		var err error
		if bound, err = c.s.limit(w.obj, 0); err != nil {
			return err
		}
		if w.generated.n > 0 {
			w.generated.at = c.s.version + 1
			t.made.ReplaceOrInsert(w.generated)
		}
	}
	completed := c.k.row.ReadDefault != nil && c.k.row.ReadDefault(w.obj)
	if w.dryRun {
		c.rehearse(w)
		return nil
	}
	e := c.commit(t, nil, w.key, w.obj, w.m)
	if e.bound = bound; completed && c.k.stored == nil {
		e.stale = defaulted
	}
	return nil
}

func (c *call) beforeCreate(obj runtime.Object, m metav1.Object) error {
	if c.k.row.PrepareCreate != nil {
		c.k.row.PrepareCreate(obj)
	}
	if c.k.row.By != nil {
		user := c.s.UserNamed(c.req.User)
		c.k.row.By(obj, &user)
	}
	if err := c.begin(obj, m, nil); err != nil {
		return err
	}
	sound := metadata.SoundNew(m, c.k.Namespaced)
	if c.k.row.Create != nil {
		errs, warnings := c.k.row.Create(obj, nil, sound)
		if len(errs) > 0 {
			return c.errInvalid(m.GetName(), errs)
		}
		c.warnings = append(c.warnings, warnings...)
	}
	if !sound {
		if errs := apivalidation.ValidateObjectMetaAccessor(m, c.k.Namespaced, metadata.PathSegment,
			metadata.Path); len(errs) > 0 {
			return c.errInvalid(m.GetName(), errs)
		}
	}
	if c.k.row.Canonicalize != nil {
		c.k.row.Canonicalize(obj)
	}
	return nil
}

func (c *call) errExists(old *entry) error {
	err := apierrors.NewAlreadyExists(c.k.groupResource(), old.meta.GetName())
	if old.meta.GetDeletionTimestamp() != nil {
		err.ErrStatus.Message = "object is being deleted: " + err.ErrStatus.Message
	}
	return err
}

var errRVOnCreate = errors.New("resourceVersion should not be set on objects to be created")
