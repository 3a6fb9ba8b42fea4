package trial

import (
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// subjectOf tells the laws what a process runs.
func subjectOf(process string, c host.Controller) law.Subject {
	s := law.Subject{Process: process, Controller: c.Name, Kind: c.For.Kind, APIVersion: c.For.GroupVersion().String(),
		Finalizers: c.Finalizers, Quarantine: c.Quarantine, Profile: law.Profile(c.Profile), Polls: c.Polls,
		Opaque: c.Program, Standalone: c.Standalone}
	for _, gvk := range c.Owns {
		s.Dependents = append(s.Dependents, gvk.Kind)
	}
	for _, gvk := range c.Also {
		s.Also = append(s.Also, gvk.Kind)
	}
	for _, gvk := range c.Tends {
		s.Tends = append(s.Tends, gvk.Kind)
	}
	if c.Selector != nil {
		s.Selector = func(owner any) labels.Selector { return c.Selector(owner.(runtime.Object)) }
	}
	if c.Replicas != nil {
		s.Replicas = func(owner any) int { return c.Replicas(owner.(runtime.Object)) }
	}
	if c.Counted != nil {
		s.Counted = func(owner any) int { return c.Counted(owner.(runtime.Object)) }
	}
	if c.Leaves != nil {
		s.Leaves = func(owner any) bool { return c.Leaves(owner.(runtime.Object)) }
	}
	exactly(&s, &c)
	byOffice(&s, &c)
	if c.Active != nil {
		s.Active = func(object any) bool { return c.Active(object.(runtime.Object)) }
	}
	return s
}

// exactly tells the EXACT laws what they ask for.
func exactly(s *law.Subject, c *host.Controller) {
	if c.Surge != nil {
		s.Surge = func(owner any) int { return c.Surge(owner.(runtime.Object)) }
	}
	if c.Unavailable != nil {
		s.Unavailable = func(owner any) int { return c.Unavailable(owner.(runtime.Object)) }
	}
	if c.Most != nil {
		s.Most = func(owner any) int { return c.Most(owner.(runtime.Object)) }
	}
	if c.Identity != nil {
		s.Identity = func(dependent any) string { return c.Identity(dependent.(runtime.Object)) }
	}
	if c.Wanted != nil {
		s.Wanted = func(owner, o any) bool { return c.Wanted(owner.(runtime.Object), o.(runtime.Object)) }
	}
	if c.Awaits != nil {
		s.Awaits = func(owner, o any) bool { return c.Awaits(owner.(runtime.Object), o.(runtime.Object)) }
	}
	if c.Willing != nil {
		s.Willing = func(owner, o any) bool { return c.Willing(owner.(runtime.Object), o.(runtime.Object)) }
	}
	for _, gvk := range c.Unwatched {
		s.Unwatched = append(s.Unwatched, gvk.Kind)
	}
	for _, n := range c.Counts {
		s.Counts = append(s.Counts, countOf(n))
	}
}

func countOf(n host.Count) law.Count {
	c := law.Count{Name: n.Name, Ever: n.Ever, Once: n.Once,
		Of: func(owner any) int { return n.Of(owner.(runtime.Object)) }}
	if n.Each != nil {
		c.Each = func(owner, dependent any) int { return n.Each(owner.(runtime.Object), dependent.(runtime.Object)) }
		return c
	}
	c.Is = func(owner, dependent any) bool { return n.Is(owner.(runtime.Object), dependent.(runtime.Object)) }
	return c
}

// byOffice tells what depends on objects that are nobody's dependents.
func byOffice(s *law.Subject, c *host.Controller) {
	if c.Twins != nil {
		s.Twins = func(owner, a, b any) bool {
			return c.Twins(owner.(runtime.Object), a.(runtime.Object), b.(runtime.Object))
		}
	}
	s.Amiss, s.Neglects = atRest(c.Amiss), atRest(c.Neglects)
	if c.Oversteps != nil {
		s.Oversteps = func(owner any, others []any, before, after any, now time.Time,
			all func(kind string) []any) string {
			was, _ := before.(runtime.Object)
			is, _ := after.(runtime.Object)
			return c.Oversteps(owner.(runtime.Object), objects(others), was, is, now,
				func(kind string) []runtime.Object { return objects(all(kind)) })
		}
	}
	s.Lacks, s.Strands, s.Retries = among(c.Lacks), among(c.Strands), among(c.Retries)
	if c.Keeps != nil {
		s.Keeps = func(obj any, all func(kind string) []any) string {
			return c.Keeps(obj.(runtime.Object), func(kind string) []runtime.Object { return objects(all(kind)) })
		}
	}
	if c.Stays != nil {
		s.Stays = func(object any, now time.Time) string { return c.Stays(object.(runtime.Object), now) }
	}
	if c.Spares != nil {
		s.Spares = func(object any, deletes bool, get func(kind, namespace, name string) any) string {
			return c.Spares(object.(runtime.Object), deletes, func(kind, namespace, name string) runtime.Object {
				obj, _ := get(kind, namespace, name).(runtime.Object)
				return obj
			})
		}
	}
}

// among is a question about a dependent that depends on what else there is; nil where it
// is not asked.
func among(f func(owner, dependent runtime.Object, all func(kind string) []runtime.Object) string) func(owner,
	dependent any, all func(kind string) []any) string {
	if f == nil {
		return nil
	}
	return func(owner, dependent any, all func(kind string) []any) string {
		return f(owner.(runtime.Object), dependent.(runtime.Object),
			func(kind string) []runtime.Object { return objects(all(kind)) })
	}
}

// atRest is a question about an object's dependents, and about what else there is; nil
// where it is not asked.
func atRest(f func(owner runtime.Object, own []runtime.Object, all func(kind string) []runtime.Object) string) func(
	owner any, own []any, all func(kind string) []any) string {
	if f == nil {
		return nil
	}
	return func(owner any, own []any, all func(kind string) []any) string {
		return f(owner.(runtime.Object), objects(own), func(kind string) []runtime.Object { return objects(all(kind)) })
	}
}

func objects(values []any) []runtime.Object {
	objs := make([]runtime.Object, len(values))
	for i, v := range values {
		objs[i] = v.(runtime.Object)
	}
	return objs
}

// served tells the laws which kinds a server knows.
func served(s *fakeapi.Server) func(apiVersion, kind string) (namespaced, ok bool) {
	return func(apiVersion, kind string) (namespaced, ok bool) {
		k := s.Kind(schema.FromAPIVersionAndKind(apiVersion, kind))
		return k != nil && k.Namespaced, k != nil
	}
}
