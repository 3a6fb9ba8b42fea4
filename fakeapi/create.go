package fakeapi

import (
	"net/http"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// call is one request being executed.
type call struct {
	s         *Server
	req       *Request
	k         *Kind
	now       time.Time
	warnings  []string
	events    []Event
	generated tally          // the count to keep when the create commits
	kept      runtime.Object // what was stored of an object of another version
}

var metadataPath = field.NewPath("metadata")

func (c *call) create() Response {
	if c.req.Subresource != "" {
		return c.createSubresource()
	}
	if o := &c.req.Create; len(o.DryRun) > 0 || o.FieldManager != "" || o.FieldValidation != "" {
		if errs := metav1validation.ValidateCreateOptions(o); len(errs) > 0 {
			return refuse(errOptions("CreateOptions", errs))
		}
	}
	obj := c.copyIn(c.req.Object)
	m := metaOf(obj)
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
		m = metaOf(obj)
	}
	return c.insert(obj, m, len(c.req.Create.DryRun) > 0)
}

// insert admits, validates and stores a new object of which c is the owner.
func (c *call) insert(obj runtime.Object, m metav1.Object, dryRun bool) Response {
	if err := c.admitCreate(obj, m); err != nil {
		return refuse(err)
	}
	t := c.s.writable(c.k)
	if m.GetName() == "" && m.GetGenerateName() != "" {
		m.SetName(c.generate(t, m.GetNamespace(), m.GetGenerateName()))
	}
	key := c.k.key(m.GetNamespace(), m.GetName())
	past, _ := t.past.Get(tally{key: key})
	m.SetCreationTimestamp(seconds(c.now))
	m.SetUID(uid(c.k, key, past.n+c.s.born))
	if err := c.beforeCreate(obj, m); err != nil {
		return refuse(err)
	}
	if rv := m.GetResourceVersion(); rv != "" {
		if n, err := strconv.ParseUint(rv, 10, 64); err == nil && n != 0 {
			return refuse(errRVOnCreate)
		}
		m.SetResourceVersion("")
	}
	if old := c.s.find(t, key); old != nil {
		return refuse(c.errExists(old))
	}
	if dryRun {
		return Response{Object: obj, Code: http.StatusCreated}
	}
	if c.generated.n > 0 {
		t.made.ReplaceOrInsert(c.generated)
	}
	lazy := c.k.row.readDefault != nil && c.k.row.readDefault(obj)
	c.commit(t, nil, key, obj, m).lazy = lazy
	return Response{Object: obj, Code: http.StatusCreated}
}

// copyIn makes the server's own copy of an object of a request.
func (c *call) copyIn(in runtime.Object) runtime.Object {
	obj := in.DeepCopyObject()
	obj.GetObjectKind().SetGroupVersionKind(c.k.GVK)
	m := metaOf(obj)
	if !c.s.opts.ManagedFields && len(m.GetManagedFields()) > 0 {
		m.SetManagedFields(nil)
	}
	if c.k.Default != nil {
		c.k.Default(obj)
	}
	return obj
}

// matchNamespace fills in the namespace of the request.
func (c *call) matchNamespace(m metav1.Object) error {
	want := c.req.Namespace
	if !c.k.Namespaced {
		want = ""
	}
	switch have := m.GetNamespace(); {
	case have == want:
	case have == "" || want == "":
		m.SetNamespace(want)
	default:
		return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	return nil
}

func (c *call) beforeCreate(obj runtime.Object, m metav1.Object) error {
	if c.k.row.prepareCreate != nil {
		c.k.row.prepareCreate(obj)
	}
	var errs field.ErrorList
	if c.k.row.name != nil {
		if !soundNew(m, c.k.Namespaced, c.k.row.name) {
			errs = validation.ValidateObjectMetaAccessor(m, c.k.Namespaced, c.k.row.name, metadataPath)
			errs = append(errs, validateFinalizers(m)...)
		}
	}
	if c.k.row.validateCreate != nil {
		errs = append(errs, c.k.row.validateCreate(obj)...)
	}
	if len(errs) == 0 && c.k.row.name == nil {
		errs = validation.ValidateObjectMetaAccessor(m, c.k.Namespaced, pathSegment, metadataPath)
	}
	if len(errs) > 0 {
		return c.errInvalid(m.GetName(), errs)
	}
	if c.k.row.warnCreate != nil {
		c.warnings = append(c.warnings, c.k.row.warnCreate(obj)...)
	}
	if c.k.row.canonicalize != nil {
		c.k.row.canonicalize(obj)
	}
	return nil
}

// commit stores an object, which from then on nobody changes.
func (c *call) commit(t *table, before *entry, key string, obj runtime.Object, m metav1.Object) *entry {
	if c.s.opts.DropControllerRefs {
		dropControllers(m)
	}
	c.s.version++
	m.SetResourceVersion(strconv.FormatUint(c.s.version, 10))
	after := &entry{key: key, obj: obj, meta: m, rv: c.s.version}
	if c.k.stored != nil {
		after.obj = c.stored(obj)
		after.meta = metaOf(after.obj)
		if before != nil {
			before = c.s.find(t, key)
		}
	}
	c.tell(t.put(before, after))
	return after
}

// tell adds a change to the answer.
func (c *call) tell(ch *change) {
	if c.events == nil {
		c.events = ch.ev[:1:1]
		return
	}
	c.events = append(c.events, ch.ev[0])
}

func (c *call) errExists(old *entry) error {
	err := apierrors.NewAlreadyExists(c.k.groupResource(), old.meta.GetName())
	if old.meta.GetDeletionTimestamp() != nil {
		err.ErrStatus.Message = "object is being deleted: " + err.ErrStatus.Message
	}
	return err
}

// dropControllers forgets the controller field of every owner reference.
func dropControllers(m metav1.Object) {
	refs := m.GetOwnerReferences()
	for i := range refs {
		if refs[i].Controller == nil {
			continue
		}
		own := append([]metav1.OwnerReference(nil), refs...)
		for j := range own {
			own[j].Controller = nil
		}
		m.SetOwnerReferences(own)
		return
	}
}

// dedupOwners drops owner references that say the same as an earlier one.
func (c *call) dedupOwners(m metav1.Object, late bool) {
	refs := m.GetOwnerReferences()
	if len(refs) < 2 {
		return
	}
	kept := make([]metav1.OwnerReference, 0, len(refs))
	var twice []byte
	for i := range refs {
		if !containsRef(kept, &refs[i]) {
			kept = append(kept, refs[i])
			continue
		}
		if twice != nil {
			twice = append(twice, ", "...)
		}
		twice = append(twice, refs[i].UID...)
	}
	if twice == nil {
		return
	}
	m.SetOwnerReferences(kept)
	if late {
		c.warnings = append(c.warnings, duplicateOwnersLate+string(twice))
	} else {
		c.warnings = append(c.warnings, duplicateOwners+string(twice))
	}
}

func containsRef(refs []metav1.OwnerReference, ref *metav1.OwnerReference) bool {
	for i := range refs {
		if sameRef(&refs[i], ref) {
			return true
		}
	}
	return false
}

// sameRef says whether two references are equal in every field.
func sameRef(a, b *metav1.OwnerReference) bool {
	return a.UID == b.UID && a.Name == b.Name && a.Kind == b.Kind && a.APIVersion == b.APIVersion &&
		sameBool(a.Controller, b.Controller) && sameBool(a.BlockOwnerDeletion, b.BlockOwnerDeletion)
}

func sameBool(a, b *bool) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// conditionUID refuses a write meant for another incarnation.
func (c *call) conditionUID(e *entry, asked types.UID) error {
	if asked != "" && asked != e.meta.GetUID() {
		return c.errPrecondition(e, "UID", string(asked), string(e.meta.GetUID()))
	}
	return nil
}

const (
	duplicateOwners     = ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: "
	duplicateOwnersLate = ".metadata.ownerReferences contains duplicate entries after mutating admission happens; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: "
)
