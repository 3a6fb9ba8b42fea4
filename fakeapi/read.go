package fakeapi

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

func (c *call) get() Response {
	if rv := c.req.List.ResourceVersion; rv != "" {
		if asked, err := parseWatchVersion(rv); err != nil {
			return refuse(err)
		} else if asked > c.s.version {
			return refuse(errTooLarge(asked, c.s.version))
		}
	}
	e := c.s.lookup(c.s.tables[c.k.ordinal], c.req.Namespace, c.req.Name)
	if e == nil {
		return refuse(c.errNotFound(c.req.Name))
	}
	return Response{Object: e.obj, Code: http.StatusOK}
}

// Selection is a parsed pair of label and field selector.
type Selection struct {
	kind   *Kind
	labels labels.Selector // nil: all
	fields fields.Selector // nil: all
}

// Select parses the selectors of a list or a watch. An error is a 400.
func (k *Kind) Select(opts *metav1.ListOptions) (Selection, error) {
	sel := Selection{kind: k}
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

// Matches says whether an object is selected.
func (s Selection) Matches(obj runtime.Object) bool {
	if s.labels != nil && !s.labels.Matches(labels.Set(metadata.Of(obj).GetLabels())) {
		return false
	}
	return s.fields == nil || s.fields.Matches(s.kind.Selectable(obj))
}

// pair is a label that every selected object carries, for the index.
func (s Selection) pair() (label, value string, ok bool) {
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

func (c *call) list() Response {
	if err := validateListOptions(&c.req.List); err != nil {
		return refuse(err)
	}
	sel, err := c.k.Select(&c.req.List)
	if err != nil {
		return refuse(err)
	}
	return c.listSelected(sel)
}
