package controllerruntime

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/threelaws/threelaws/sim/host"
)

// role is the known effect of a source's events.
type role uint8

const (
	other     role = iota // a mapping function, or any other handler
	forObject             // enqueues the object itself
	forOwner              // enqueues the owner, which is of the controller's kind
)

// watch is one source of a controller.
type watch struct {
	gvk   schema.GroupVersionKind // empty for a source.Func
	role  role
	every bool // with forOwner: owners that are not controllers are enqueued too
}

// watched returns the kind that each source of a controller watches. An error names a source that cannot run.
func (p *process) watched(c *controller) (out []watch, err error) {
	var for_ schema.GroupVersionKind
	for _, s := range *c.sources {
		switch s.(type) {
		case source.Func:
			out = append(out, watch{})
			continue
		case *source.Informer:
			return nil, fmt.Errorf("a source.Informer: write source.Kind, which says what it watches")
		}
		if !isKind(s) {
			return nil, fmt.Errorf("a source of type %T: its events come from goroutines of its own; only source.Kind "+
				"and source.Func run here", s)
		}
		obj := watchedBy(s)
		w := watch{role: other}
		if w.gvk, err = p.gvkOf(obj); err != nil {
			return nil, err
		}
		h := reflect.ValueOf(s).Elem().FieldByName("Handler").Elem()
		switch {
		case strings.HasPrefix(typeName(h), "TypedEnqueueRequestForObject["):
			if w.role = forObject; for_.Empty() {
				for_ = w.gvk
			}
		case p.wakesOwner(h, obj, for_, true):
			w.role, w.every = forOwner, p.wakesOwner(h, obj, for_, false)
		}
		out = append(out, w)
	}
	return out, nil
}

func typeName(v reflect.Value) string { return reflect.Indirect(v).Type().Name() }

// watchedBy returns the object that a source.Kind was made with. It has the kind and the Go type.
func watchedBy(s source.Source) client.Object {
	return reflect.ValueOf(s).Elem().FieldByName("Type").Interface().(client.Object)
}

func isKind(s source.Source) bool {
	t := reflect.TypeOf(s)
	return t.Kind() == reflect.Pointer && t.Elem().PkgPath() == "sigs.k8s.io/controller-runtime/pkg/internal/source" &&
		strings.HasPrefix(t.Elem().Name(), "Kind[")
}

// wakesOwner reports whether a handler is an EnqueueRequestForOwner. The fields of this type are not exported, so
// wakesOwner calls the handler with an object that has an owner. An EnqueueRequestForOwner looks up the owner's
// resource and enqueues the owner. controls says whether the owner is the object's controller.
func (p *process) wakesOwner(h reflect.Value, like client.Object, owner schema.GroupVersionKind,
	controls bool) (wakes bool) {
	create := h
	if reflect.Indirect(h).Kind() != reflect.Struct || !strings.HasPrefix(typeName(h), "TypedFuncs[") || owner.Empty() {
		return false
	}
	defer func() {
		if recover() != nil { // the handler may be a user's handler.Funcs, which may panic on this object
			wakes = false
		}
	}()
	obj := like.DeepCopyObject().(client.Object)
	obj.SetNamespace("n")
	obj.SetName("dependent")
	ref := metav1.NewControllerRef(&metav1.ObjectMeta{Name: "owner", UID: "1"}, owner)
	ref.Controller = &controls
	obj.SetOwnerReferences([]metav1.OwnerReference{*ref})
	q := &requests{}
	asked := p.mapper.asked
	e := reflect.New(create.MethodByName("Create").Type().In(1)).Elem() // a TypedCreateEvent of the right type
	e.FieldByName("Object").Set(reflect.ValueOf(obj))
	create.MethodByName("Create").Call([]reflect.Value{reflect.ValueOf(context.Background()), e, reflect.ValueOf(q)})
	return p.mapper.asked > asked && len(q.pending) == 1 && q.pending[0].Name == "owner"
}

// wakesOwner finds fields of these types by name. If controller-runtime renames them, these lines do not compile.
var (
	_ = event.TypedCreateEvent[client.Object]{Object: nil}
	_ = handler.TypedFuncs[client.Object, reconcile.Request]{}
)

func rolesOf(all []watch) []role {
	out := make([]role, len(all))
	for i, w := range all {
		out[i] = w.role
	}
	return out
}

// watch starts a controller's sources one after the other, so that handlers run in the order of the setup. A
// source.Kind gets its informer in a goroutine. Nothing else happens until that goroutine has ended.
func (p *process) watch(c *controller, roles []role) {
	ctx := context.Background()
	for i, s := range *c.sources {
		q := &requests{queue: p.env.Queue, direct: i >= len(roles) || roles[i] != forOwner}
		err := p.startSource(ctx, s, q)
		if p.failed != nil {
			panic(p.failed)
		}
		if err != nil {
			panic(host.Misuse(fmt.Sprintf("controller %s: %v does not start: %v", c.name, s, err)))
		}
	}
	for _, v := range p.views {
		v.forget()
	}
	p.started = true
}

func (p *process) startSource(ctx context.Context, s source.Source, q *requests) error {
	ctx, cancel := context.WithCancel(ctx)
	p.starting = q
	p.giveUp = cancel
	defer func() { p.starting, p.giveUp = nil, nil }()
	err := s.Start(ctx, q)
	if syncing, ok := s.(source.SyncingSource); ok && err == nil {
		err = syncing.WaitForSync(context.Background())
	}
	return err
}
