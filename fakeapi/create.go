package fakeapi

import (
	"errors"
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
	obj, err := c.copyIn(c.req.Object)
	if err != nil {
		return refuse(err)
	}
	m := metadata.Of(obj)
	if err := c.matchNamespace(m); err != nil {
		return refuse(err)
	}
	m.SetCreationTimestamp(metav1.Time{})
	m.SetUID("")
	m.SetDeletionTimestamp(nil)
	m.SetDeletionGracePeriodSeconds(nil)
	m.SetSelfLink("")
	c.dedupOwners(m, false)
	if c.s.opts.ManagedFields {
		obj = c.manage(nil, obj, c.req.Create.FieldManager)
		m = metadata.Of(obj)
	}
	return c.insert(obj, m, len(c.req.Create.DryRun) > 0)
}

// insert admits, validates and stores a new object. The call owns the object.
func (c *call) insert(obj runtime.Object, m metav1.Object, dryRun bool) Response {
	calls := c.s.calls
	if err := c.admitCreate(obj, m, dryRun); err != nil {
		return refuse(err)
	}
	if c.mutatedIt {
		if err := c.matchNamespace(m); err != nil {
			return refuse(err)
		}
	}
	t := c.s.writable(c.k)
	if m.GetName() == "" && m.GetGenerateName() != "" {
		m.SetName(c.generate(t, m.GetNamespace(), m.GetGenerateName()))
		if c.k == jobKind {
			// The real server clones a Job's labels here. Otherwise they are its template's map, which gets the
			// selector's labels.
			m.SetLabels(maps.Clone(m.GetLabels()))
		}
	}
	if m.GetName() == "" && c.k.row.NamesItself {
		m.SetName(c.unnamed(t, m.GetNamespace()))
	}
	key := c.k.key(m.GetNamespace(), m.GetName())
	m.SetCreationTimestamp(metadata.Seconds(c.now))
	m.SetUID(uid(c.k, key, t.gone(key)+c.s.born))
	if dryRun {
		m.SetUID(c.s.dryUID(c.k, key))
	}
	asked := c.askedPorts(obj, nil)
	if err := c.beforeCreate(obj, m); err != nil {
		if c.k == jobKind && !dryRun { // a client whose Job is refused has seen the Job's uid in labels
			t.past.ReplaceOrInsert(tally{key: key, n: t.gone(key) + 1, at: c.s.version})
		}
		return refuse(err)
	}
	if err := c.permitCreate(obj, m, dryRun); err != nil {
		return refuse(err)
	}
	if err := c.keep(obj); err != nil {
		return refuse(err)
	}
	if c.s.calls != calls {
		if c.s.current(c.k) != c.k {
			return refuse(c.errRedefined())
		}
		t = c.s.writable(c.k)
		c.identify(m, key, dryRun)
	}
	if err := c.charge(obj, nil, m, dryRun); err != nil {
		return refuse(err)
	}
	if err := c.allocatePorts(asked, obj); err != nil {
		return refuse(err)
	}
	if rv := m.GetResourceVersion(); rv != "" && !dryRun {
		if n, err := strconv.ParseUint(rv, 10, 64); err == nil && n != 0 {
			return refuse(errRVOnCreate)
		}
		m.SetResourceVersion("")
	}
	if old := c.s.find(t, key); old != nil {
		return refuse(c.errExists(old))
	}
	if dryRun {
		if c.k.row.Dry != nil {
			c.k.row.Dry(obj)
		}
		if c.k.row.ReadDefault != nil {
			c.k.row.ReadDefault(obj)
		}
		return Response{Object: obj, Code: http.StatusCreated}
	}
	if err := c.s.tooLarge(obj); err != nil {
		return refuse(err)
	}
	if c.generated.n > 0 {
		c.generated.at = c.s.version + 1
		t.made.ReplaceOrInsert(c.generated)
	}
	if c.k.row.ReadDefault != nil && c.k.row.ReadDefault(obj) {
		c.stale = defaulted
	}
	c.commit(t, nil, key, obj, m)
	return Response{Object: obj, Code: http.StatusCreated}
}

// identify sets the uid again after a webhook was called. In the meantime others may have created and deleted an object
// of the same name.
func (c *call) identify(m metav1.Object, key string, dryRun bool) {
	id := uid(c.k, key, c.s.tables[c.k.ordinal].gone(key)+c.s.born)
	if dryRun || id == m.GetUID() {
		return
	}
	m.SetUID(id)
	if c.kept != nil {
		metadata.Of(c.kept).SetUID(id)
	}
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
