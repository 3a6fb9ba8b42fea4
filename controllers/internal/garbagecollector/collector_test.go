package garbagecollector

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/host"
)

// A 404 that names no object means that the path is unknown, even without details.
func TestUnserved(t *testing.T) {
	widgets := schema.GroupResource{Group: "example.com", Resource: "widgets"}
	without := &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound}}
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"no error":         {nil, false},
		"an object":        {apierrors.NewNotFound(widgets, "w"), false},
		"a path":           {apierrors.NewNotFound(widgets, ""), true},
		"a path, wrapped":  {fmt.Errorf("reading: %w", apierrors.NewNotFound(widgets, "")), true},
		"without details":  {without, true},
		"another error":    {apierrors.NewInternalError(fmt.Errorf("no")), false},
		"no answer at all": {fmt.Errorf("broken pipe"), false},
	} {
		if got := unserved(c.err); got != c.want {
			t.Errorf("%s: unserved %t", name, got)
		}
	}
}

// answers is a server with scripted responses to gets and deletes.
type answers struct {
	host.Client
	gets    []any // objects and errors
	deletes []error
	asked   []string // the versions in the deletes
}

func (a *answers) Get(context.Context, schema.GroupVersionKind, string, string) (runtime.Object, error) {
	next := a.gets[0]
	a.gets = a.gets[1:]
	if err, failed := next.(error); failed {
		return nil, err
	}
	return next.(runtime.Object), nil
}

func (a *answers) Delete(_ context.Context, _ schema.GroupVersionKind, _, _ string, o metav1.DeleteOptions) error {
	version := "any"
	if o.Preconditions.ResourceVersion != nil {
		version = *o.Preconditions.ResourceVersion
	}
	a.asked = append(a.asked, version)
	next := a.deletes[0]
	a.deletes = a.deletes[1:]
	return next
}

// collectorOf returns a garbage collector of ConfigMaps, and its queue.
func collectorOf(client host.Client) (*collector, func() string) {
	without := &Without{}
	g, work := recorder(*without)
	k := fakeapi.New(fakeapi.Options{}).Kind(configMaps)
	return &collector{graph: g, without: without, watched: map[watching]bool{},
		env: &host.Env{Client: client,
			Kinds: func() []*fakeapi.Kind { return nil }, Served: func() []*fakeapi.Kind { return nil }},
		kinds:   map[schema.GroupVersionKind]*fakeapi.Kind{configMaps: k},
		current: map[schema.GroupKind]*fakeapi.Kind{configMaps.GroupKind(): k}}, work
}

func versioned(cm *corev1.ConfigMap, version string) *corev1.ConfigMap {
	cm.ResourceVersion = version
	return cm
}

// After a conflict a delete is retried once, without a version, if the object and its owners are the same (RULES K102).
func TestDeleteAfterAConflict(t *testing.T) {
	maps := schema.GroupResource{Resource: "configmaps"}
	conflict := apierrors.NewConflict(maps, "d", errors.New("it has moved on"))
	gone, failed := apierrors.NewNotFound(maps, "d"), apierrors.NewInternalError(errors.New("no"))
	another := versioned(object("d", "a"), "3")
	another.UID = "another"
	for name, c := range map[string]struct {
		then any
		want string // the expected delete and its version
		is   func(error) bool
	}{
		"written by others": {versioned(object("d", "a"), "3"), "[2 any]", func(err error) bool { return err == nil }},
		"other owners":      {versioned(object("d", "b"), "3"), "[2]", apierrors.IsConflict},
		"as it was":         {versioned(object("d", "a"), "2"), "[2]", apierrors.IsConflict},
		"another":           {another, "[2]", apierrors.IsConflict},
		"gone":              {gone, "[2]", func(err error) bool { return err == nil }},
		"not to be read":    {failed, "[2]", apierrors.IsConflict},
	} {
		server := &answers{gets: []any{c.then}, deletes: []error{conflict, nil}}
		gc, _ := collectorOf(server)
		d := versioned(object("d", "a"), "2")
		gc.graph.observed(configMaps, nil, d)
		id := gc.graph.nodes["d"].identity
		err := gc.delete(t.Context(), id, d, d.OwnerReferences, metav1.DeletePropagationBackground)
		if got := fmt.Sprint(server.asked); got != c.want || !c.is(err) {
			t.Errorf("%s: deletes %s, want %s; error %v", name, got, c.want, err)
		}
		if there := gc.graph.nodes["d"] != nil; there == (c.then == gone) {
			t.Errorf("%s: in the graph: %t", name, there)
		}
	}
}

// If an object is missing under one name, its other known names are looked up in turn (RULES K98).
func TestDeleteOfWhatHasOtherNames(t *testing.T) {
	server := &answers{deletes: []error{apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, "a")}}
	gc, _ := collectorOf(server)
	wrong := object("e", "a")
	wrong.OwnerReferences[0].Name = "z"
	gc.graph.observed(configMaps, nil, object("d", "a"))
	gc.graph.observed(configMaps, nil, wrong)
	a := object("a", "gone")
	err := gc.delete(t.Context(), gc.graph.nodes["a"].identity, a, a.OwnerReferences,
		metav1.DeletePropagationBackground)
	if n := gc.graph.nodes["a"]; err == nil || n == nil || n.name != "z" {
		t.Errorf("error %v; in the graph as %v", err, n)
	}
}

// An object whose kind is no longer served is left alone. This is an error, so the work is retried: the kind may be
// served again (RULES K96).
func TestUnservedKind(t *testing.T) {
	gc, _ := collectorOf(&answers{})
	id := identity{apiVersion: "example.com/v1", kind: "Widget", namespace: "ns", name: "w", uid: "w"}
	unknown := func(err error) bool {
		_, is := err.(*kindError)
		return is
	}
	if err := gc.deleteAt(t.Context(), id, "1", metav1.DeletePropagationBackground); !unknown(err) {
		t.Errorf("deleted: %v", err)
	}
	if err := gc.cut(t.Context(), id, []types.UID{"a"}); !unknown(err) {
		t.Errorf("patched: %v", err)
	}
}

// An object that was deleted and recreated between two events counts as two objects. The dependents of the first have
// lost their owner, and the deletion of the second is new.
func TestReplacedBetweenTwoEvents(t *testing.T) {
	gc, work := collectorOf(&answers{})
	h := gc.handler(configMaps)
	first := deleting(object("a"), metav1.FinalizerDeleteDependents)
	second := deleting(object("a"), metav1.FinalizerDeleteDependents)
	second.UID = "a2"
	h.OnAdd(first, false)
	h.OnAdd(object("d", "a"), false)
	work()
	h.OnUpdate(first, second)
	if got := work(); got != "a2, d" {
		t.Errorf("queued %q, want the second object and the dependent of the first", got)
	}
	if gc.graph.nodes["a"] != nil {
		t.Error("the first object is still in the graph")
	}
}

// Every event on a CRD makes the garbage collector check the served kinds.
func TestDefined(t *testing.T) {
	gc, _ := collectorOf(&answers{})
	looked := 0
	gc.env.Kinds = func() []*fakeapi.Kind { looked++; return nil }
	h := gc.handler(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: definitions})
	d := object("widgets") // the graph does not read the content
	h.OnAdd(d, false)
	h.OnUpdate(d, d)
	h.OnDelete(d)
	if looked != 3 {
		t.Errorf("the kinds were checked %d times, want 3", looked)
	}
}
