package fakeapi

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// createStages are the stages of a create, in kube-apiserver's order, which decides the error that a client sees first.
// An update or an apply of a missing object has the same stages. See draft for what each stage sets.
var createStages = []stage{
	(*call).decodeCreate,
	(*call).admitCreate,
	(*call).nameCreate,
	(*call).validateCreate,
	(*call).permitCreate,
	(*call).charge,
	(*call).convertCreate,
	(*call).storeCreate,
}

// updateStages are the stages of an update, a patch or an apply of a stored object, in order. A write of a Scale, a
// binding, and the update of an evicted Pod have the same stages. The options and the body are checked before.
var updateStages = []stage{
	(*call).findUpdate,
	(*call).decodeUpdate,
	(*call).admitUpdate,
	(*call).validateUpdate,
	(*call).permitUpdate,
	(*call).charge,
	(*call).convertUpdate,
	(*call).storeUpdate,
}

// deleteStages are the stages of the deletion of one stored object, in order. The options are checked before.
var deleteStages = []stage{
	(*call).matchDelete,
	(*call).admitDelete,
	(*call).reviewDelete,
	(*call).storeDelete,
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

func (c *call) written(code int, err error) Response {
	if err != nil {
		return refuse(err)
	}
	return Response{Object: c.draft.obj, Code: code}
}

// modify updates an object. If ed.creates is set, it creates a missing object. If the object changes during a webhook
// call, modify tries again, up to 10 times (mostTries).
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
		// another request may have created the object during a webhook call
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

// remove deletes an object, or marks it as terminating. It tries again if the object changes during a webhook call.
func (c *call) remove(old *entry, opts metav1.DeleteOptions) error {
	if opts.GracePeriodSeconds != nil && *opts.GracePeriodSeconds < 0 {
		opts.GracePeriodSeconds = new(int64(1))
	}
	c.draft = draft{edit: edit{dryRun: len(opts.DryRun) > 0}, old: old, opts: &opts}
	err := c.pass(deleteStages)
	for err == errRaced {
		err = c.pass(deleteStages)
	}
	return err
}
