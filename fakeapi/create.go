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

// draft holds the state of one write, which its stages share.
type draft struct {
	old       *entry // nil for a create
	obj       runtime.Object
	m         metav1.Object // the metadata of obj
	key       string
	onlyMeta  bool // only metadata differs from old
	dryRun    bool
	asked     []askedPort // the node ports that the request for a Service sets
	generated tally       // the count of generated names to store with a created object
}

// insert performs a create in stages. It may change obj.
func (c *call) insert(obj runtime.Object, m metav1.Object, dryRun bool) Response {
	w, calls := draft{obj: obj, m: m, dryRun: dryRun}, c.s.calls
	err := c.admitCreate(obj, m, dryRun)
	if err == nil {
		c.name(&w)
		err = c.validateNew(&w)
	}
	if err == nil {
		err = c.permitCreate(obj, m, dryRun)
	}
	if err == nil {
		err = c.convertNew(&w, calls)
	}
	if err == nil {
		err = c.charge(&w)
	}
	if err == nil {
		err = c.storeNew(&w)
	}
	if err != nil {
		return refuse(err)
	}
	return Response{Object: obj, Code: http.StatusCreated}
}

func (c *call) name(w *draft) {
	t, m := c.s.writable(c.k), w.m
	if m.GetName() == "" && m.GetGenerateName() != "" {
		w.generated = c.generate(t, m)
		if c.k == jobKind {
			// like the real server, clone the labels: they may be the template's map, which later gets the selector's
			// labels
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
}

func (c *call) validateNew(w *draft) error {
	w.asked = c.askedPorts(w.obj, nil)
	err := c.beforeCreate(w.obj, w.m)
	if err != nil && c.k == jobKind && !w.dryRun { // never reuse the uid: the error may show it, as a label of the Job
		t := c.s.writable(c.k)
		t.past.ReplaceOrInsert(tally{key: w.key, n: t.gone(w.key) + 1, at: c.s.version})
	}
	return err
}

// convertNew converts the object to the storage version. calls is the server's number of webhook calls when the create
// began: during a later call, other requests may have run.
func (c *call) convertNew(w *draft, calls int) error {
	if err := c.keep(w.obj); err != nil || c.s.calls == calls {
		return err
	}
	if c.s.current(c.k) != c.k {
		return c.errRedefined()
	}
	c.identify(w.m, w.key, w.dryRun)
	return nil
}

func (c *call) storeNew(w *draft) error {
	if rv := w.m.GetResourceVersion(); rv != "" && !w.dryRun {
		if n, err := strconv.ParseUint(rv, 10, 64); err == nil && n != 0 {
			return errRVOnCreate
		}
		w.m.SetResourceVersion("")
	}
	t := c.s.writable(c.k)
	if old := c.s.find(t, w.key); old != nil {
		return c.errExists(old)
	}
	if w.dryRun && c.k.row.Dry != nil {
		c.k.row.Dry(w.obj)
	}
	if !w.dryRun {
		if err := c.s.tooLarge(w.obj); err != nil {
			return err
		}
		if w.generated.n > 0 {
			w.generated.at = c.s.version + 1
			t.made.ReplaceOrInsert(w.generated)
		}
	}
	completed := c.k.row.ReadDefault != nil && c.k.row.ReadDefault(w.obj)
	if w.dryRun {
		return nil
	}
	if e := c.commit(t, nil, w.key, w.obj, w.m); completed && c.k.stored == nil {
		e.stale = defaulted
	}
	return nil
}

// identify sets the uid again after a webhook call. During the call, another request may have created and deleted an
// object with the same name.
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
