package law

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// eachOwned calls f for every stored object that has owner references, is not terminating, and whose references can
// all be resolved by the collector.
func (j *Judge) eachOwned(f func(o *Object, st refStates)) {
	watched := j.survey().collector.Actor.Owns
	for _, l := range j.state.kinds {
		if len(watched) > 0 && !among(watched, l.kind) {
			continue
		}
		for _, o := range l.objects {
			if len(o.Meta.GetOwnerReferences()) > 0 && !meta.Deleting(o.Meta) && j.resolvable(o) {
				f(o, j.state.refStates(o))
			}
		}
	}
}

// eachDangling counts each of them as exercised, and calls f for those with an absent owner.
func (j *Judge) eachDangling(f func(o *Object, st refStates)) {
	j.eachOwned(func(o *Object, st refStates) {
		j.Ask()
		if st.absent+st.foreign > 0 {
			f(o, st)
		}
	})
}

// resolvable reports whether it can be told which of an object's owners exist. It cannot if the server does not
// know the kind of an owner, or if a cluster-scoped object refers to a namespaced kind (RULES K93, K96). The
// collector leaves such objects alone.
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

// served reports whether the server serves objects of this object's kind at present. A CRD may have stopped serving
// their version.
func (j *Judge) served(o *Object) bool {
	obj, ok := o.Value.(runtime.Object)
	if !ok {
		return true
	}
	version, kind := obj.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
	_, served := j.Kinds(version, kind)
	return kind == "" || served
}
