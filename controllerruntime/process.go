package controllerruntime

import (
	"context"
	"fmt"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/host"
)

// process is one run of a controller's process, with the state of its manager. A process without an Env only records
// what the setup adds. It cannot read or write.
type process struct {
	o       *Options
	scheme  *runtime.Scheme
	env     *host.Env
	manager *recordingManager
	mapper  *mapper
	started bool // the sources have started: reconciles may begin

	mu    sync.Mutex                               // guards the maps below against goroutines of a Reconcile
	gvks  map[reflect.Type]schema.GroupVersionKind // kinds of Go types in the scheme
	lists map[reflect.Type]form                    // by the Go type of a list: the kind and the Go type of the items
	live  map[schema.GroupVersionKind]bool         // kinds that are never read from the cache
	at    map[schema.GroupVersionKind]int          // the index of a kind in the server's table at the last lookup
	views map[form]*view

	indexed  []schema.GroupVersionKind // without an Env: kinds whose fields the setup indexes
	starting *requests                 // the queue of the source that is being started
	giveUp   func()                    // cancels the start of the source that is being started
	failed   any                       // the value of a panic in the source's goroutine; nil if there was none
	recorded int                       // number of recorded events; guarded by mu
}

func newProcess(scheme *runtime.Scheme, o *Options, env *host.Env) *process {
	p := &process{o: o, scheme: scheme, env: env, gvks: map[reflect.Type]schema.GroupVersionKind{},
		lists: map[reflect.Type]form{}, live: map[schema.GroupVersionKind]bool{},
		at: map[schema.GroupVersionKind]int{}, views: map[form]*view{}}
	p.mapper = &mapper{p: p}
	p.manager = newManager(p)
	return p
}

func (p *process) setUp(setup Setup) error {
	for _, obj := range p.o.Live {
		gvk, err := p.gvkOf(obj)
		if err != nil {
			return fmt.Errorf("Live: %w", err)
		}
		p.live[gvk] = true
	}
	return setup(p.manager)
}

// gvkOf returns the kind of an object: the kind that it states, or the kind of its Go type in the scheme.
func (p *process) gvkOf(obj runtime.Object) (schema.GroupVersionKind, error) {
	switch obj.(type) {
	case runtime.Unstructured, *metav1.PartialObjectMetadata, *metav1.PartialObjectMetadataList:
		return apiutil.GVKForObject(obj, p.scheme)
	}
	t := reflect.TypeOf(obj)
	p.mu.Lock()
	defer p.mu.Unlock()
	if gvk, ok := p.gvks[t]; ok {
		return gvk, nil
	}
	gvk, err := apiutil.GVKForObject(obj, p.scheme)
	if err == nil {
		p.gvks[t] = gvk
	}
	return gvk, err
}

// kind returns the served kind with this version. If there is none, it returns the error of a client's RESTMapper.
func (p *process) kind(gvk schema.GroupVersionKind) (*fakeapi.Kind, error) {
	if p.env == nil {
		return nil, errNoServer
	}
	all := p.env.Served()
	p.mu.Lock()
	defer p.mu.Unlock()
	if i, ok := p.at[gvk]; ok && i < len(all) && all[i].GVK == gvk {
		return all[i], nil
	}
	for i, k := range all {
		if k.GVK == gvk {
			p.at[gvk] = i
			return k, nil
		}
	}
	return nil, &meta.NoKindMatchError{GroupKind: gvk.GroupKind(), SearchedVersions: []string{gvk.Version}}
}

func (p *process) kindOf(obj runtime.Object) (*fakeapi.Kind, schema.GroupVersionKind, error) {
	gvk, err := p.gvkOf(obj)
	if err != nil {
		return nil, gvk, err
	}
	k, err := p.kind(gvk)
	return k, gvk, err
}

// errNoServer is the error of a request before the process's sources have started.
var errNoServer = fmt.Errorf("controllerruntime: a setup can neither read nor write: it is called before there is a " +
	"server, to learn what it sets up")

// do sends a request. Before the process's sources have started, it returns errNoServer.
func (p *process) do(ctx context.Context, req *fakeapi.Request) (fakeapi.Response, error) {
	if p.env == nil || !p.started {
		return fakeapi.Response{}, errNoServer
	}
	return p.env.Client.Do(ctx, req)
}

// form is a kind with the Go type of its objects.
type form struct {
	gvk schema.GroupVersionKind
	as  reflect.Type // a pointer type
}

// The Go types of objects that are not in the scheme.
var (
	unstructuredType = reflect.TypeFor[*unstructured.Unstructured]()
	metadataType     = reflect.TypeFor[*metav1.PartialObjectMetadata]()
)

func (p *process) formOf(obj runtime.Object) (form, error) {
	gvk, err := p.gvkOf(obj)
	return form{gvk, reflect.TypeOf(obj)}, err
}

// itemsOf returns the kind and the Go type of a list's items, as controller-runtime's cache determines them.
func (p *process) itemsOf(list client.ObjectList) (form, error) {
	t := reflect.TypeOf(list)
	p.mu.Lock()
	f, ok := p.lists[t]
	p.mu.Unlock()
	if ok {
		return f, nil
	}
	gvk, err := p.gvkOf(list)
	if err != nil {
		return form{}, err
	}
	gvk.Kind = trimList(gvk.Kind)
	switch list.(type) {
	case runtime.Unstructured:
		return form{gvk, unstructuredType}, nil
	case *metav1.PartialObjectMetadataList:
		return form{gvk, metadataType}, nil
	}
	item, err := p.scheme.New(gvk)
	if err != nil {
		return form{}, err
	}
	f = form{gvk, reflect.TypeOf(item)}
	p.mu.Lock()
	p.lists[t] = f
	p.mu.Unlock()
	return f, nil
}

func trimList(kind string) string {
	if n := len(kind) - len("List"); n > 0 && kind[n:] == "List" {
		return kind[:n]
	}
	return kind
}
