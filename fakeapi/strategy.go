package fakeapi

import (
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi/internal/registry"
)

// Strategies complete and judge the objects of kinds in place of the server's own
// rules; a kind that has none keeps the server's. The module upstream of this
// repository has those of kube-apiserver itself.
type Strategies map[schema.GroupVersionKind]Strategy

// Strategy says what becomes of the objects of a kind on their way to the store. The
// object it is given is the server's own copy, to be changed in place; old
// objects, and what else the server holds, are to be left as they are. Errors that are
// API statuses are answered as they are.
type Strategy interface {
	// Decode brings an object into the form in which decoding leaves it, with its
	// defaults. An error is a bad request.
	Decode(obj runtime.Object) error
	// Create completes a new object, validates it, and leaves what a read of it returns.
	Create(a *Act, obj runtime.Object) error
	// Update does the same with the new state of an object.
	Update(a *Act, obj, old runtime.Object) error
}

// Act is the request that a strategy is asked about.
type Act struct {
	Kind            *Kind
	Subresource     string // through which an object is changed
	Namespace, Name string
	User            authenticationv1.UserInfo
	Time            time.Time
	DryRun          bool
	Server          *Server // to look up what else there is
	Warnings        []string
	// Completed says that a read fills in what is not stored: the next write
	// of the object is then one even if it changes nothing.
	Completed bool
}

// strategy is what stands in for the server's own rules about the call's kind; nil
// for nothing.
func (c *call) strategy() Strategy {
	if c.s.opts.Strategies == nil {
		return nil
	}
	return c.s.opts.Strategies[c.k.GVK]
}

// decoded brings an object into the form in which decoding leaves it.
func (c *call) decoded(obj runtime.Object) error {
	if st := c.strategy(); st != nil {
		if err := st.Decode(obj); err != nil {
			return apierrors.NewBadRequest(err.Error())
		}
		return nil
	}
	if c.k.Default != nil {
		c.k.Default(obj)
	}
	return nil
}

func (c *call) act(subresource string, dryRun bool) *Act {
	return &Act{Kind: c.k, Subresource: subresource, Namespace: c.req.Namespace, Name: c.req.Name,
		User: c.s.UserNamed(c.req.User), Time: c.now, DryRun: dryRun, Server: c.s}
}

// createBy has a strategy make a new object what is stored of it.
func (c *call) createBy(st Strategy, obj runtime.Object, dryRun bool) error {
	a := c.act("", dryRun)
	if err := st.Create(a, obj); err != nil {
		return err
	}
	c.warnings, c.lazy = append(c.warnings, a.Warnings...), a.Completed
	return nil
}

// updateBy does the same with the new state of an object.
func (c *call) updateBy(st Strategy, w *registry.Update, dryRun bool, obj, old runtime.Object) error {
	a := c.act(c.req.Subresource, dryRun)
	switch w {
	case &bare:
		return nil
	case &c.k.row.Main:
		if a.Subresource != "scale" {
			a.Subresource = ""
		}
	case &c.k.row.ForStatus:
		a.Subresource = "status" // or what writes it in passing, as an eviction does
	}
	if err := st.Update(a, obj, old); err != nil {
		return err
	}
	c.warnings, c.lazy = append(c.warnings, a.Warnings...), a.Completed
	return nil
}

// bare is the way of an update that nobody prepares or judges.
var bare registry.Update
