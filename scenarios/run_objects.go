package scenarios

import (
	"errors"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios/internal/manifest"
	"github.com/threelaws/threelaws/sim"
)

// names returns the servers in which the run's verbs look up kinds.
func (r *Run) names() servers {
	if r.file.server == nil {
		return servers{r.t.Server}
	}
	return servers{r.t.Server, r.file.server}
}

// target resolves an object's name.
func (r *Run) target(object string) (target, error) {
	return parseTarget(r.names(), r.at(), object)
}

// lookup reads a stored object; it returns nil if there is none.
func (r *Run) lookup(t target) metav1.Object {
	if k := r.t.Server.Kind(t.kind.GVK); k != nil {
		if o, ok := r.t.Server.Lookup(k, t.namespace, t.name).(metav1.Object); ok {
			return o
		}
	}
	return nil
}

// named lists the objects of a target's kind and namespace by the names that steps use.
func (r *Run) named(t target) []string {
	var names []string
	k := r.t.Server.Kind(t.kind.GVK)
	if k == nil {
		return nil
	}
	r.t.Server.EachIn(k, t.namespace, func(obj runtime.Object) bool {
		ref := sim.Ref{Kind: k.GVK.Kind, Namespace: t.namespace, Name: obj.(metav1.Object).GetName()}
		names = append(names, ref.String())
		return true
	})
	return names
}

// each visits the objects of a kind in natural order of their names.
func (r *Run) each(k *fakeapi.Kind, f func(ref sim.Ref, obj runtime.Object)) {
	var all []runtime.Object
	if k = r.t.Server.Kind(k.GVK); k == nil {
		return
	}
	r.t.Server.Each(k, func(obj runtime.Object) bool {
		all = append(all, obj)
		return true
	})
	ref := func(o runtime.Object) sim.Ref {
		m := o.(metav1.Object)
		return sim.Ref{Kind: k.GVK.Kind, Namespace: m.GetNamespace(), Name: m.GetName(), UID: string(m.GetUID())}
	}
	slices.SortFunc(all, func(a, b runtime.Object) int { return render.CompareRefs(ref(a), ref(b)) })
	for _, o := range all {
		f(ref(o), o)
	}
}

// orNone returns s, or the text for an empty output.
func orNone(s string) string {
	if s == "" {
		return None
	}
	return s
}

// checkUIDs checks the objects in the $(uid ...) expressions of a text and returns the error.
func checkUIDs(in servers, s *Step, text []byte) error {
	_, err := manifest.ReplaceUIDs(text, func(expr, object string) (string, error) {
		_, err := parseTarget(in, s, object)
		return "", uidError(s, expr, err)
	})
	return err
}

// uidError is a mistake within $(uid ...).
func uidError(s *Step, expr string, err error) error {
	if e := (*Error)(nil); errors.As(err, &e) {
		return s.wrong("%s: %s", expr, e.Text)
	}
	return err
}

// uid returns the current value of an expression $(uid ...).
func (r *Run) uid(expr, object string) (string, error) {
	t, err := r.target(object)
	if err != nil {
		return "", uidError(r.at(), expr, err)
	}
	o := r.lookup(t)
	if o == nil {
		return "", r.errorf("%s: there is no %s%s", expr, object, suggest(object, r.named(t)))
	}
	return string(o.GetUID()), nil
}
