package fakeapi

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi/internal/webhook"
)

// forms are the objects of a request in the version that a webhook gets.
type forms struct {
	to       webhook.Target
	obj, old runtime.Object
	as       *Kind // the kind of that form; nil for what is no version of the request's
}

// others returns the other served versions of the request's kind.
func (c *call) others() (all []webhook.Target) {
	for _, k := range c.s.kinds {
		if k.ordinal != c.k.ordinal || k == c.req.Kind || !k.Serves(c.req.Subresource) {
			continue
		}
		all = append(all, webhook.Target{Kind: k.BodyKind(c.req.Subresource).GVK, Resource: k.GVR()})
	}
	return all
}

// formsOf converts the objects of a request to a version.
func (c *call) formsOf(a *webhook.Attributes, to webhook.Target) (f *forms, err error) {
	f = &forms{to: to, obj: a.Object, old: a.Old}
	if a.Kind != c.req.Kind.GVK {
		return f, nil // the object of a subresource
	}
	for _, k := range c.s.kinds {
		if k.GVK == to.Kind && k.ordinal == c.k.ordinal {
			f.as = k
		}
	}
	if f.obj, err = c.inForm(f.as, a.Object); err == nil {
		f.old, err = c.inForm(f.as, a.Old)
	}
	return f, err
}

// inForm converts an object of the request's kind, or a stored one, to another version.
func (c *call) inForm(to *Kind, obj runtime.Object) (runtime.Object, error) {
	if to == nil || obj == nil {
		return obj, nil
	}
	from := c.k
	if obj.GetObjectKind().GroupVersionKind() == to.GVK {
		return obj, nil
	}
	var err error
	if from.stored != nil && obj.GetObjectKind().GroupVersionKind() == from.GVK {
		if obj, err = from.convert(obj, true); err != nil || to == from.stored {
			return obj, err
		}
	}
	return to.convert(obj, false)
}

// back converts an object that a webhook changed to the request's version.
func (c *call) back(obj runtime.Object, a *webhook.Attributes, f *forms) (runtime.Object, error) {
	if f.as == nil || f.to.Kind == a.Kind {
		return obj, nil
	}
	if f.as.stored != nil {
		var err error
		if obj, err = f.as.convert(obj, true); err != nil {
			return nil, err
		}
	}
	if c.k.stored == nil {
		return obj, nil
	}
	return c.k.convert(obj, false)
}

func (f *forms) complete(obj runtime.Object) {
	if f.as != nil && f.as.Default != nil {
		f.as.Default(obj)
	}
}
