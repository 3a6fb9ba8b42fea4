package scenarios

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios/internal/golden"
	"github.com/threelaws/threelaws/scenarios/internal/manifest"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

func (r *Run) names() servers {
	if r.file.server == nil {
		return servers{r.t.Server}
	}
	return servers{r.t.Server, r.file.server}
}

func (r *Run) target(object string) (target, error) {
	return parseTarget(r.names(), r.at(), object)
}

func (r *Run) lookup(t target) metav1.Object {
	if k := r.t.Server.Kind(t.kind.GVK); k != nil {
		if o, ok := r.t.Server.Lookup(k, t.namespace, t.name).(metav1.Object); ok {
			return o
		}
	}
	return nil
}

// named lists the objects that have the target's kind and namespace, in the form that steps use.
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

// each calls f for all objects of a kind, sorted by namespace and name. "web-2" comes before "web-10".
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

func orNone(s string) string {
	if s == "" {
		return golden.None
	}
	return s
}

// checkUIDs checks that the objects in a text's $(uid ...) expressions have valid names.
func checkUIDs(in servers, s *Step, text []byte) error {
	_, err := manifest.ReplaceUIDs(text, func(expr, object string) (string, error) {
		_, err := parseTarget(in, s, object)
		return "", uidError(s, expr, err)
	})
	return err
}

func uidError(s *Step, expr string, err error) error {
	if e := (*Error)(nil); errors.As(err, &e) {
		return s.wrong("%s: %s", expr, e.Text)
	}
	return err
}

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

func (r *Run) processesNamed(name string) ([]*host.Process, error) {
	ps := r.instances(r.registry.process(name))
	if len(ps) == 0 {
		return nil, r.errorf("unknown process %s%s", name, suggest(name, r.processNames()))
	}
	return ps, nil
}

func (r *Run) processNames() []string {
	var names []string
	for _, p := range r.t.Cluster.Processes() {
		names = append(names, p.Name)
	}
	return names
}

// instances returns the processes that a step names: a process, all instances of a controller, or all processes.
func (r *Run) instances(name string) []*host.Process {
	var out []*host.Process
	for _, p := range r.t.Cluster.Processes() {
		base, _, _ := strings.Cut(p.Name, "#")
		if name == "all" || p.Name == name || base == name && !strings.Contains(name, "#") {
			out = append(out, p)
		}
	}
	return out
}

func (r *Run) start(process string, c host.Controller) error {
	c = r.replacing(c)
	return r.act("start "+process, func() error {
		if what := Unserved(r.t.Server, c); what != "" {
			return r.errorf("%s", what)
		}
		r.t.Start(process, c)
		return nil
	})
}

// Unserved describes, in one line, the first kind that a controller needs but the server does not have. It returns ""
// if there is none.
func Unserved(server *fakeapi.Server, c host.Controller) string {
	kinds := slices.Concat([]schema.GroupVersionKind{c.For}, c.Owns, c.Reads)
	for _, route := range c.Routes {
		kinds = append(kinds, route.Kind)
	}
	for _, gvk := range kinds {
		if gvk.Empty() || slices.ContainsFunc(server.Kinds(), func(k *fakeapi.Kind) bool { return k.GVK == gvk }) {
			continue
		}
		text := c.Name + " works on " + gvk.Kind + " of " + gvk.GroupVersion().String() + ", which "
		for _, k := range server.Kinds() {
			if k.GVK.GroupKind() == gvk.GroupKind() {
				return text + "is stored as " + k.GVK.Version + ": only the stored version can be watched"
			}
		}
		if n := server.NearestKind(gvk.Kind); n != "" {
			return text + "is not served; did you mean " + n + "?"
		}
		return text + "is not served: apply its CRD first"
	}
	return ""
}

// replacing returns the controller in r.replace for c, or c if there is none. A mutant with an era replaces only that
// era.
func (r *Run) replacing(c host.Controller) host.Controller {
	if m, ok := r.replace[c.Name]; ok && (m.Era == c.Era || m.Era == "") {
		r.replaced = true
		return m
	}
	return c
}

func (r *Run) instanceName(base string) string {
	for n := 2; ; n++ {
		if name := fmt.Sprintf("%s#%d", base, n); r.t.Cluster.Process(name) == nil {
			return name
		}
	}
}
