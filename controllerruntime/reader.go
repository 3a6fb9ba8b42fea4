package controllerruntime

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	toolscache "k8s.io/client-go/tools/cache"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/threelaws/threelaws/fakeapi"
)

// cacheReader reads from the process's informers, like controller-runtime's CacheReader. It returns copies, unless the
// read's UnsafeDisableDeepCopy disables that.
type cacheReader struct{ p *process }

func (r cacheReader) Get(_ context.Context, key client.ObjectKey, out client.Object, opts ...client.GetOption) error {
	if !r.p.started {
		return &ctrlcache.ErrCacheNotStarted{}
	}
	f, err := r.p.formOf(out)
	if err != nil {
		return err
	}
	v, err := r.p.viewOf(f)
	if err != nil {
		return err
	}
	o := (&client.GetOptions{}).ApplyOptions(opts)
	name := key.Name
	if v.kind.Namespaced && key.Namespace != "" {
		name = key.Namespace + "/" + key.Name
	}
	stored, exists, err := v.informer.GetIndexer().GetByKey(name)
	if err != nil {
		return err
	}
	if !exists { // the resource in the error is the kind, as in controller-runtime
		return apierrors.NewNotFound(schema.GroupResource{Group: f.gvk.Group, Resource: f.gvk.Kind}, key.Name)
	}
	if o.UnsafeDisableDeepCopy != nil && *o.UnsafeDisableDeepCopy {
		set(out, v.of(stored))
		return nil
	}
	set(out, v.of(stored).DeepCopyObject())
	out.GetObjectKind().SetGroupVersionKind(f.gvk)
	return nil
}

func (r cacheReader) List(_ context.Context, out client.ObjectList, opts ...client.ListOption) error {
	if !r.p.started {
		return &ctrlcache.ErrCacheNotStarted{}
	}
	f, err := r.p.itemsOf(out)
	if err != nil {
		return err
	}
	v, err := r.p.viewOf(f)
	if err != nil {
		return err
	}
	o := (&client.ListOptions{}).ApplyOptions(opts)
	stored, err := v.selected(o)
	if err != nil {
		return err
	}
	items := make([]runtime.Object, 0, len(stored))
	for _, item := range stored {
		if o.Limit > 0 && int64(len(items)) >= o.Limit {
			break
		}
		if o.LabelSelector != nil && !o.LabelSelector.Matches(labels.Set(item.(metav1.Object).GetLabels())) {
			continue
		}
		obj := runtime.Object(v.of(item))
		if o.UnsafeDisableDeepCopy == nil || !*o.UnsafeDisableDeepCopy {
			obj = obj.DeepCopyObject()
			obj.GetObjectKind().SetGroupVersionKind(f.gvk)
		}
		items = append(items, obj)
	}
	if err := meta.SetList(out, items); err != nil {
		return err
	}
	out.SetContinue("continue-not-supported")
	return nil
}

// selected returns the cached objects that the namespace and the fields select. The caller compares labels.
func (v *view) selected(o *client.ListOptions) ([]any, error) {
	indexer := v.informer.GetIndexer()
	switch {
	case o.Continue != "":
		return nil, errors.New("continue list option is not supported by the cache")
	case o.FieldSelector != nil:
		if !exact(o.FieldSelector) {
			return nil, errors.New("non-exact field matches are not supported by the cache")
		}
		return v.byFields(indexer, o.FieldSelector.Requirements(), o.Namespace)
	case o.Namespace != "":
		return indexer.ByIndex(toolscache.NamespaceIndex, o.Namespace)
	}
	return indexer.List(), nil
}

// exact reports whether a selector only compares fields with values.
func exact(s fields.Selector) bool {
	for _, r := range s.Requirements() {
		if r.Operator != selection.Equals && r.Operator != selection.DoubleEquals {
			return false
		}
	}
	return len(s.Requirements()) > 0
}

// byFields reads the first field's index, and filters by the other fields. The fields are sorted, because
// client.MatchingFields is a map in random order.
func (v *view) byFields(indexer toolscache.Indexer, all fields.Requirements, namespace string) ([]any, error) {
	slices.SortFunc(all, func(a, b fields.Requirement) int { return strings.Compare(a.Field, b.Field) })
	found, err := indexer.ByIndex(v.indexName(all[0].Field), indexKey(namespace, all[0].Value))
	if err != nil {
		return nil, noIndex(all[0].Field)
	}
	for _, r := range all[1:] {
		values, ok := indexer.GetIndexers()[v.indexName(r.Field)]
		if !ok && len(found) > 0 {
			return nil, errors.New("index with name field:" + r.Field + " does not exist")
		}
		found = slices.DeleteFunc(found, func(obj any) bool {
			has, _ := values(obj)
			return !slices.Contains(has, indexKey(namespace, r.Value))
		})
	}
	return found, nil
}

// noIndex is client-go's error for a missing index, with controller-runtime's name of the index.
func noIndex(field string) error {
	return errors.New("Index with name field:" + field + " does not exist")
}

type apiReader struct{ p *process }

func (r apiReader) Get(ctx context.Context, key client.ObjectKey, out client.Object, opts ...client.GetOption) error {
	k, gvk, err := r.p.kindOf(out)
	if err != nil {
		return err
	}
	o := (&client.GetOptions{}).ApplyOptions(opts)
	if raw := o.AsGetOptions(); raw.ResourceVersion != "" && raw.ResourceVersion != "0" {
		return errors.New("controllerruntime: a Get of a resourceVersion is not modelled")
	}
	req := &fakeapi.Request{Verb: fakeapi.Get, Kind: k, Name: key.Name}
	if req.Namespace, err = path(req, key.Namespace); err != nil {
		return err
	}
	resp, err := r.p.do(ctx, req)
	if err != nil {
		return err
	}
	return r.p.fill(out, resp.Object, gvk)
}

func (r apiReader) List(ctx context.Context, out client.ObjectList, opts ...client.ListOption) error {
	f, err := r.p.itemsOf(out)
	if err != nil {
		return err
	}
	k, err := r.p.kind(f.gvk)
	if err != nil {
		return err
	}
	o := (&client.ListOptions{}).ApplyOptions(opts)
	req := &fakeapi.Request{Verb: fakeapi.List, Kind: k, List: *o.AsListOptions()}
	if req.Namespace, err = path(req, o.Namespace); err != nil {
		return err
	}
	resp, err := r.p.do(ctx, req)
	if err != nil {
		return err
	}
	items := make([]runtime.Object, 0, len(resp.Items))
	for _, stored := range resp.Items {
		obj, err := as(stored, f)
		if err != nil {
			return err
		}
		item := obj.DeepCopyObject()
		item.GetObjectKind().SetGroupVersionKind(r.itemKind(k, f))
		items = append(items, item)
	}
	if err := setItems(out, items, r.itemKind(k, f).Empty()); err != nil {
		return err
	}
	out.SetResourceVersion(strconv.FormatUint(resp.Version, 10))
	if resp.Continue != "" || !r.itemKind(k, form{}).Empty() { // lists of custom resources have this field, even empty
		out.SetContinue(resp.Continue)
	}
	out.SetRemainingItemCount(resp.Left)
	return nil
}

// setItems sets the items of a list. An empty list from a protobuf response has nil items.
func setItems(out client.ObjectList, items []runtime.Object, protobuf bool) error {
	gvk := out.GetObjectKind().GroupVersionKind()
	if _, untyped := out.(runtime.Unstructured); !untyped {
		reflect.ValueOf(out).Elem().SetZero()
	}
	if _, ok := out.(*metav1.PartialObjectMetadataList); ok {
		out.GetObjectKind().SetGroupVersionKind(gvk)
	}
	if len(items) == 0 && protobuf {
		return nil
	}
	return meta.SetList(out, items)
}

// itemKind returns the kind that each item of the server's list contains. It is empty for typed items of built-in
// kinds, because protobuf items contain no kind.
func (r apiReader) itemKind(k *fakeapi.Kind, f form) schema.GroupVersionKind {
	if d, _ := k.Definition(); d == nil && f.as != unstructuredType && f.as != metadataType {
		return schema.GroupVersionKind{}
	}
	return k.GVK
}
