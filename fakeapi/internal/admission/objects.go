package admission

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// bound is one number of a LimitRange, such as max.cpu, with the object's request and limit of the same resource.
type bound struct {
	on             corev1.LimitType
	name           corev1.ResourceName
	at             resource.Quantity
	request, limit resource.Quantity
	asks, limited  bool
	// asked, most and bound are request, limit and at as integers in units of 1/1000. If a number is too large, the
	// unit is 1. See requestLimitEnforcedValues of the LimitRanger plugin.
	asked, most, bound int64
}

func newBound(item *corev1.LimitRangeItem, of corev1.ResourceList, name corev1.ResourceName,
	requests, limits corev1.ResourceList) *bound {
	b := &bound{on: item.Type, name: name, at: of[name]}
	b.request, b.asks = requests[name]
	b.limit, b.limited = limits[name]
	b.asked, b.most, b.bound = b.request.Value(), b.limit.Value(), b.at.Value()
	if max(b.asked, b.most, b.bound) <= resource.MaxMilliValue {
		b.asked, b.most, b.bound = b.request.MilliValue(), b.limit.MilliValue(), b.at.MilliValue()
	}
	return b
}

// findings holds the error texts for an object that violates a LimitRange.
type findings []string

func (f *findings) add(format string, args ...any) { *f = append(*f, fmt.Sprintf(format, args...)) }

func (f findings) err() error {
	var once []string
	for _, text := range f {
		if !slices.Contains(once, text) {
			once = append(once, text)
		}
	}
	switch len(once) {
	case 0:
		return nil
	case 1:
		return errors.New(once[0])
	}
	return errors.New("[" + strings.Join(once, ", ") + "]")
}

// all checks an object's requests and limits against the minima, maxima and ratios of a LimitRange item.
func (f *findings) all(item *corev1.LimitRangeItem, requests, limits corev1.ResourceList) {
	for _, name := range names(item.Min) {
		f.atLeast(newBound(item, item.Min, name, requests, limits))
	}
	for _, name := range names(item.Max) {
		f.atMost(newBound(item, item.Max, name, requests, limits))
	}
	for _, name := range names(item.MaxLimitRequestRatio) {
		f.inRatio(newBound(item, item.MaxLimitRequestRatio, name, requests, limits))
	}
}

func (f *findings) atLeast(b *bound) {
	switch {
	case !b.asks:
		f.add("minimum %s usage per %s is %s.  No request is specified", b.name, b.on, b.at.String())
	case b.asked < b.bound:
		f.add("minimum %s usage per %s is %s, but request is %s", b.name, b.on, b.at.String(), b.request.String())
	case b.limited && b.most < b.bound:
		f.add("minimum %s usage per %s is %s, but limit is %s", b.name, b.on, b.at.String(), b.limit.String())
	}
}

func (f *findings) atMost(b *bound) {
	switch {
	case !b.limited:
		f.add("maximum %s usage per %s is %s.  No limit is specified", b.name, b.on, b.at.String())
	case b.most > b.bound:
		f.add("maximum %s usage per %s is %s, but limit is %s", b.name, b.on, b.at.String(), b.limit.String())
	case b.asks && b.asked > b.bound:
		f.add("maximum %s usage per %s is %s, but request is %s", b.name, b.on, b.at.String(), b.request.String())
	}
}

func (f *findings) asksAtMost(b *bound) {
	switch {
	case !b.asks:
		f.add("maximum %s usage per %s is %s.  No request is specified", b.name, b.on, b.at.String())
	case b.asked > b.bound:
		f.add("maximum %s usage per %s is %s, but request is %s", b.name, b.on, b.at.String(), b.request.String())
	}
}

func (f *findings) inRatio(b *bound) {
	const text = "%s max limit to request ratio per %s is %s, but "
	switch {
	case !b.asks || b.asked == 0:
		f.add(text+"no request is specified or request is 0", b.name, b.on, b.at.String())
		return
	case !b.limited || b.most == 0:
		f.add(text+"no limit is specified or limit is 0", b.name, b.on, b.at.String())
		return
	}
	ratio := float64(b.most) / float64(b.asked)
	have, allowed := ratio, float64(b.at.Value())
	if b.at.Value() <= resource.MaxMilliValue {
		have, allowed = ratio*1000, float64(b.at.MilliValue())
	}
	if have > allowed {
		f.add(text+"provided ratio is %f", b.name, b.on, b.at.String(), ratio)
	}
}

// Access describes a request for which the user needs permission.
type Access struct {
	User                  string
	Verb, Group, Version  string // "*" stands for any value
	Resource, Subresource string
	Namespace, Name       string
}

// Authorize reports whether an access is allowed, and may give the reason for a refusal.
type Authorize func(Access) (allowed bool, reason string)

// Owners describes a write that may change an object's owner references.
type Owners struct {
	Here     Access // the access to the written object
	New, Old []metav1.OwnerReference
	Created  bool
	// Resource returns the resource of an owner's kind, and whether the kind is namespaced.
	Resource func(schema.GroupVersionKind) (resource string, namespaced, known bool)
}

// May returns an error if the user is not allowed to change the owner references. A change of an existing object needs
// permission to delete the object. A new blockOwnerDeletion needs permission to update the owner's finalizers. May is
// the OwnerReferencesPermissionEnforcement plugin (admission/owner-permission-off).
func (o *Owners) May(authorize Authorize) error {
	if equality.Semantic.DeepEqual(o.New, o.Old) {
		return nil
	}
	if !o.Created {
		remove := o.Here
		remove.Verb = "delete"
		if ok, why := authorize(remove); !ok {
			return fmt.Errorf("cannot set an ownerRef on a resource you can't delete: %v, <nil>", why)
		}
	}
	blocking := o.blocking()
	if len(blocking) == 0 {
		return nil
	}
	anything := Access{User: o.Here.User, Verb: "update", Group: "*", Version: "*", Resource: "*",
		Subresource: "finalizers", Name: "*"}
	if ok, _ := authorize(anything); ok {
		return nil
	}
	for _, ref := range blocking {
		gvk := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
		resource, namespaced, known := o.Resource(gvk)
		if !known {
			return fmt.Errorf("cannot set blockOwnerDeletion in this case because cannot find RESTMapping for "+
				"APIVersion %s Kind %s: no matches for kind %q in version %q", ref.APIVersion, ref.Kind, ref.Kind,
				ref.APIVersion)
		}
		finalize := Access{User: o.Here.User, Verb: "update", Group: gvk.Group, Version: gvk.Version,
			Resource: resource, Subresource: "finalizers", Name: ref.Name}
		if namespaced {
			finalize.Namespace = o.Here.Namespace
		}
		if ok, why := authorize(finalize); !ok {
			return fmt.Errorf("cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set "+
				"finalizers on: %v, <nil>", why)
		}
	}
	return nil
}

// blocking returns the owner references that have blockOwnerDeletion after the write, but not before.
func (o *Owners) blocking() (out []metav1.OwnerReference) {
	for _, ref := range o.New {
		if blocks(&ref) && !blockedBefore(o.Old, &ref) {
			out = append(out, ref)
		}
	}
	return out
}

func blocks(ref *metav1.OwnerReference) bool {
	return ref.BlockOwnerDeletion != nil && *ref.BlockOwnerDeletion
}

func blockedBefore(old []metav1.OwnerReference, ref *metav1.OwnerReference) bool {
	return slices.ContainsFunc(old, func(o metav1.OwnerReference) bool { return o.UID == ref.UID && blocks(&o) })
}
