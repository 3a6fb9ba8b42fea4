package controllerruntime

import (
	"fmt"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/host"
)

// view is the process's cache of a kind in one Go type. If the server stores another type, the view also caches the
// conversions of the current objects.
type view struct {
	form
	mu       *sync.Mutex // guards made
	kind     *fakeapi.Kind
	informer toolscache.SharedIndexInformer
	made     map[runtime.Object]client.Object // by stored object; nil if conversions are not kept
}

// viewOf returns the view of a kind in a Go type, and makes it if it does not exist. After the start, a new view must
// share the informer of another view of the kind. If there is no such view, viewOf panics.
func (p *process) viewOf(f form) (*view, error) {
	p.mu.Lock()
	v := p.views[f]
	p.mu.Unlock()
	if v != nil {
		return v, nil
	}
	if p.env == nil {
		return nil, &ctrlcache.ErrCacheNotStarted{}
	}
	k, err := p.kind(f.gvk)
	if err != nil {
		return nil, err
	}
	v = &view{form: f, kind: k, mu: &p.mu}
	if p.started {
		p.mu.Lock()
		for other, has := range p.views { // all views of a kind have the same informer
			if other.gvk == f.gvk {
				v.informer = has.informer
			}
		}
		p.mu.Unlock()
		if v.informer == nil {
			return nil, p.unwatched(f)
		}
	} else {
		v.informer = p.env.Informer(f.gvk)
		if reflect.TypeOf(k.New()) != f.as {
			v.made = map[runtime.Object]client.Object{}
		}
	}
	p.mu.Lock()
	p.views[f] = v
	p.mu.Unlock()
	return v, nil
}

// unwatched ends the run, because a reconciler reads a kind that no source watches. A real cache would start an
// informer in the middle of the reconcile, and the reconcile would wait for the informer.
func (p *process) unwatched(f form) error {
	panic(host.Misuse(fmt.Sprintf("%s is read from the manager's cache, and no source watches it: name it in "+
		"Options.Reads (or in Options.Live, where the manager's client does not cache it)", f.gvk.Kind)))
}

func (p *process) mustView(obj client.Object) *view {
	f, err := p.formOf(obj)
	if err == nil {
		var v *view
		if v, err = p.viewOf(f); err == nil {
			return v
		}
	}
	panic(host.Misuse(err.Error()))
}

// try returns a stored object in the view's Go type. The result must not be changed.
func (v *view) try(stored runtime.Object) (client.Object, error) {
	if reflect.TypeOf(stored) == v.as {
		return stored.(client.Object), nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if obj, ok := v.made[stored]; ok {
		return obj, nil
	}
	obj, err := as(stored, v.form)
	if err == nil && v.made != nil {
		v.made[stored] = obj
	}
	return obj, err
}

// of is like try, but ends the run if an object does not fit the Go type: a real informer would list forever.
func (v *view) of(stored any) client.Object {
	obj, err := v.try(stored.(runtime.Object))
	if err != nil {
		panic(host.Misuse(err.Error()))
	}
	return obj
}

// forget adds a handler that drops conversions of old versions. It must be the last handler.
func (v *view) forget() {
	if v.made == nil {
		return
	}
	drop := func(stored any) {
		if t, ok := stored.(toolscache.DeletedFinalStateUnknown); ok {
			stored = t.Obj
		}
		v.mu.Lock()
		defer v.mu.Unlock()
		delete(v.made, stored.(runtime.Object))
	}
	_, err := v.informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		UpdateFunc: func(before, after any) {
			if before != after {
				drop(before)
			}
		},
		DeleteFunc: drop,
	})
	if err != nil {
		panic(fmt.Sprintf("controllerruntime: no handler can be added: %v", err))
	}
}

// index adds a field index. Like controller-runtime's cache, it stores each value twice: with the object's namespace,
// and for lists in all namespaces.
func (v *view) index(field string, values client.IndexerFunc) error {
	return v.informer.AddIndexers(toolscache.Indexers{v.indexName(field): func(stored any) ([]string, error) {
		obj := v.of(stored)
		m, err := meta.Accessor(obj)
		if err != nil {
			return nil, err
		}
		raw, namespace := values(obj), m.GetNamespace()
		out := make([]string, 0, 2*len(raw))
		for _, value := range raw {
			out = append(out, indexKey(namespace, value))
		}
		if namespace != "" {
			for _, value := range raw {
				out = append(out, indexKey("", value))
			}
		}
		return out, nil
	}})
}

// indexName separates the indexes of a field in different Go types, because controller-runtime keeps the types in
// separate caches.
func (v *view) indexName(field string) string {
	switch {
	case v.as == metadataType:
		return "field:metadata:" + field
	case v.as == unstructuredType:
		return "field:unstructured:" + field
	}
	return "field:" + field
}

func indexKey(namespace, value string) string {
	if namespace == "" {
		namespace = "__all_namespaces"
	}
	return namespace + "/" + value
}
