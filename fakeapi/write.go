package fakeapi

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi/internal/registry"
)

// stage is one step of a write. It sets fields of w, which is c.draft, or returns the error that refuses the request. The
// comment of a stage says what it refuses.
type stage func(c *call, w *draft) error

// createStages are the stages of a create, in order. An update or an apply of a missing object has the same stages.
var createStages = []stage{
	(*call).decodeCreate,
	(*call).admitCreate,
	(*call).nameCreate,
	(*call).validateCreate,
	(*call).permitCreate,
	(*call).convertCreate,
	(*call).charge,
	(*call).storeCreate,
}

// updateStages are the stages of an update, a patch or an apply of a stored object, in order. A write of a Scale, a
// binding, and the first part of an eviction have the same stages.
var updateStages = []stage{
	(*call).findUpdate,
	(*call).decodeUpdate,
	(*call).admitUpdate,
	(*call).validateUpdate,
	(*call).permitUpdate,
	(*call).convertUpdate,
	(*call).charge,
	(*call).storeUpdate,
}

// deleteStages are the stages of the deletion of one stored object, in order.
var deleteStages = []stage{
	(*call).matchDelete,
	(*call).admitDelete,
	(*call).reviewDelete,
	(*call).storeDelete,
}

// edit is what a request asks for. The function that begins the write sets it: create, update, patch, rescale, bind or
// disrupt.
type edit struct {
	way     *registry.Update // nil for a create
	make    stage            // sets draft.obj and draft.onlyMeta from the request and draft.old
	body    runtime.Object   // the server's copy of the body; nil for a create and a patch
	dryRun  bool
	creates bool // the write creates a missing object
}

// draft is the state of one attempt to write one object. It is a field of call, which makes one write at a time, so that
// a write needs no allocation for its stages.
type draft struct {
	edit
	calls  int    // the number of webhook calls when the attempt began: other requests may run during a later call
	stored *entry // set by modify: the stored object of an update, or nil

	// old is the object before the write, in the version of the request, or nil. findUpdate or remove sets it, and
	// reviewDelete replaces it.
	old *entry
	// obj is the object after the write, and in the end the object of the response. The decode stages set obj and m. A
	// store stage may replace obj.
	obj runtime.Object
	m   metav1.Object // the metadata of obj
	// onlyMeta tells that obj differs from old only in metadata, and shares everything else. decodeUpdate sets it, and
	// admitUpdate clears it.
	onlyMeta  bool
	key       string                // set by nameCreate
	generated tally                 // set by nameCreate: the count of generated names to store with the object
	asked     []askedPort           // set by validateCreate or decodeUpdate: the node ports that the request sets
	kept      runtime.Object        // set by a convert or store stage: obj in the storage version, if it differs
	opts      *metav1.DeleteOptions // set by remove
	gone      bool                  // set by storeDelete: the deletion removes the object
}

// pass runs the stages of a write. It returns the first error.
func (c *call) pass(stages []stage) error {
	for _, run := range stages {
		if err := run(c, &c.draft); err != nil {
			return err
		}
	}
	return nil
}

// written returns the response to a write.
func (c *call) written(code int, err error) Response {
	if err != nil {
		return refuse(err)
	}
	return Response{Object: c.draft.obj, Code: code}
}

// modify updates an object, or creates a missing one if the edit creates. If the object changes during a webhook call,
// modify tries again, up to mostTries times.
func (c *call) modify(ed edit) Response {
	warned := len(c.warnings)
	for range mostTries {
		stages, code := updateStages, http.StatusOK
		c.draft = draft{edit: ed, calls: c.s.calls,
			stored: c.s.lookup(c.s.tables[c.k.ordinal], c.req.Namespace, c.req.Name)}
		missing := c.draft.stored == nil && ed.creates
		if missing {
			stages, code = createStages, http.StatusCreated
		}
		err := c.pass(stages)
		if missing && c.s.calls != c.draft.calls && apierrors.IsAlreadyExists(err) {
			err = errRaced
		}
		if err != errRaced {
			return c.written(code, err)
		}
		c.warnings = c.warnings[:warned]
	}
	return refuse(errOutOfTime())
}

// remove deletes an object, or marks it as terminating. If the object changes during a webhook call, remove tries again.
func (c *call) remove(old *entry, opts metav1.DeleteOptions) error {
	c.draft = draft{edit: edit{dryRun: len(opts.DryRun) > 0}, old: old, opts: &opts}
	err := c.pass(deleteStages)
	for err == errRaced {
		err = c.pass(deleteStages)
	}
	return err
}
