package fakeapi

import (
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

type selectors struct {
	server *Server // converts objects for the field selector
	kind   *Kind
	labels labels.Selector // nil selects all objects
	fields fields.Selector // nil selects all objects
}

func (s *Server) selectors(k *Kind, opts *metav1.ListOptions) (selectors, error) {
	sel := selectors{server: s, kind: k}
	if opts.LabelSelector != "" {
		l, err := labels.Parse(opts.LabelSelector)
		if err != nil {
			return sel, apierrors.NewBadRequest(err.Error())
		}
		if !l.Empty() {
			sel.labels = l
		}
	}
	if opts.FieldSelector != "" {
		f, err := fields.ParseSelector(opts.FieldSelector)
		if err != nil {
			return sel, apierrors.NewBadRequest(err.Error())
		}
		if f, err = f.Transform(k.fieldLabel); err != nil {
			return sel, apierrors.NewBadRequest(err.Error())
		}
		if !f.Empty() {
			sel.fields = f
		}
	}
	return sel, nil
}

// selects returns the version whose fields a field selector names: k itself for a CRD, otherwise the storage version.
func (k *Kind) selects() *Kind {
	if k.custom != nil {
		return k
	}
	return k.Stored()
}

// selectStored converts a field selector to the storage version.
func (k *Kind) selectStored(opts *metav1.ListOptions) error {
	v := k.row.View
	if v == nil || v.Labels == nil || opts.FieldSelector == "" {
		return nil
	}
	f, err := fields.ParseSelector(opts.FieldSelector)
	if err == nil {
		f, err = f.Transform(func(label, value string) (string, string, error) {
			if stored := v.Labels[label]; stored != "" {
				return stored, value, nil
			}
			return "", "", fmt.Errorf("field label not supported: %s", label)
		})
	}
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	opts.FieldSelector = f.String()
	return nil
}

// match reports whether a stored object is selected. It ignores a field selector that needs a converted object.
func (s selectors) match(obj runtime.Object) bool {
	if s.labels != nil && !s.labels.Matches(labels.Set(metadata.Of(obj).GetLabels())) {
		return false
	}
	return s.fields == nil || s.converts() || s.fields.Matches(s.kind.selectable(obj))
}

func (s selectors) converts() bool {
	if s.fields == nil || s.kind.custom == nil || s.kind.stored == nil {
		return false
	}
	return slices.ContainsFunc(s.fields.Requirements(), func(r fields.Requirement) bool {
		return slices.Contains(s.kind.row.SelectableKeys, r.Field)
	})
}

// selects reports whether a stored object is selected. It may call a conversion webhook.
func (s selectors) selects(obj runtime.Object) (bool, error) {
	if !s.match(obj) || !s.converts() {
		return s.match(obj), nil
	}
	obj, err := s.server.convert(s.kind, obj, false)
	return err == nil && s.fields.Matches(s.kind.selectable(obj)), err
}

// pick returns the items that the field selector selects. The caller has already removed items that match excludes.
func (s selectors) pick(items []runtime.Object) (picked []runtime.Object, err error) {
	if !s.converts() {
		return items, nil
	}
	for _, obj := range items {
		yes, err := s.selects(obj)
		if err != nil {
			return nil, errUnlisted(s.kind, err)
		}
		if yes {
			picked = append(picked, obj)
		}
	}
	return picked, nil
}

// pair returns a label and the value that it has in all selected objects. ok is false if the selector requires none.
func (s selectors) pair() (label, value string, ok bool) {
	if s.labels == nil {
		return "", "", false
	}
	reqs, _ := s.labels.Requirements()
	for i := range reqs {
		switch reqs[i].Operator() {
		case selection.Equals, selection.DoubleEquals, selection.In:
			if values := reqs[i].ValuesUnsorted(); len(values) == 1 {
				return reqs[i].Key(), values[0], true
			}
		}
	}
	return "", "", false
}

func (k *Kind) selectable(obj runtime.Object) fields.Set {
	m := obj.(metav1.Object)
	set := fields.Set{"metadata.name": m.GetName()}
	if k.Namespaced {
		set["metadata.namespace"] = m.GetNamespace()
	}
	if k.row.Selectable != nil {
		k.row.Selectable(obj, set)
	}
	return set
}

func (k *Kind) fieldLabel(label, value string) (string, string, error) {
	keys := k.row.SelectableKeys
	if label == "metadata.name" || label == "metadata.namespace" && (k.Namespaced || len(keys) == 0 && k.custom == nil) ||
		slices.Contains(keys, label) {
		return label, value, nil
	}
	if len(keys) == 0 && k.custom == nil {
		return "", "", fmt.Errorf("%q is not a known field selector: only %q, %q", label, "metadata.name",
			"metadata.namespace")
	}
	switch {
	case label == "spec.host" && k == podKind:
		return "spec.nodeName", value, nil
	case k.GVK.Group == "resource.k8s.io":
		return "", "", fmt.Errorf("field label not supported for %s: %s", k.GVK, label)
	case k.GVK.Group == "batch":
		return "", "", fmt.Errorf("field label %q not supported for %s", label, k.GVK.Kind)
	}
	return "", "", fmt.Errorf("field label not supported: %s", label)
}
