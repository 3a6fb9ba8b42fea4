package law

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// eachOwned calls f for every stored object with owner references that the
// collector works on and that is not being deleted, where all of them can be
// resolved.
func (j *Judge) eachOwned(f func(o *Object, st standing)) {
	watched := j.survey().collector.Actor.Owns
	for _, l := range j.state.kinds {
		if len(watched) > 0 && !among(watched, l.kind) {
			continue
		}
		for _, o := range l.objects {
			if len(o.Meta.GetOwnerReferences()) > 0 && !meta.Deleting(o.Meta) && j.resolvable(o) {
				f(o, j.state.standing(o))
			}
		}
	}
}

// eachDangling asks about all that eachOwned finds, and calls f for those one of
// whose owners is absent.
func (j *Judge) eachDangling(f func(o *Object, st standing)) {
	j.eachOwned(func(o *Object, st standing) {
		j.Ask()
		if st.absent+st.foreign > 0 {
			f(o, st)
		}
	})
}

// resolvable reports whether it can be told which of an object's owners are
// there. A reference to a kind that the server does not know can't be resolved,
// as the kind may come to be served, and neither can one of a cluster-scoped
// object to a kind of namespaced ones, as nobody knows where to look (RULES K93,
// K96): what has such a reference is left alone.
func (j *Judge) resolvable(o *Object) bool {
	refs := o.Meta.GetOwnerReferences()
	for i := range refs {
		namespaced, served := j.Kinds(refs[i].APIVersion, refs[i].Kind)
		if !served || namespaced && o.Ref.Namespace == "" {
			return false
		}
	}
	return true
}

// served reports whether objects of an object's kind can be asked for at present, as they
// cannot in a version that its definition has ceased to serve.
func (j *Judge) served(o *Object) bool {
	obj, ok := o.Value.(runtime.Object)
	if !ok {
		return true
	}
	version, kind := obj.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
	_, served := j.Kinds(version, kind)
	return kind == "" || served
}
