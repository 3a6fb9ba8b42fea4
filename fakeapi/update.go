package fakeapi

import (
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/registry"
)

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
			if c.mayAsk() { // there may be another try
				next = obj.DeepCopyObject()
			}
			return c.manage(live, next, c.req.Update.FieldManager), false, nil
		},
	})
}
