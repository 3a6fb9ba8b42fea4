// Checks of API-1 to API-6.

package law

import (
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

func oneController(j *Judge, r *sim.Record) {
	w := &j.write
	if w.After == nil {
		return
	}
	j.Exercise()
	n := 0
	refs := w.After.GetOwnerReferences()
	for i := range refs {
		if meta.Controls(&refs[i]) {
			n++
		}
	}
	if n > 1 {
		j.Report(Informed, "stored with "+strconv.Itoa(n)+" ControllerRefs")
	}
}

// secondController is the beginning of the server's message when it refuses a second ControllerRef.
const secondController = "Only one reference can have Controller set to true"

// onlyTrueControls checks API-2: the server may refuse a second ControllerRef only if the object has a first one.
func onlyTrueControls(j *Judge, r *sim.Record) {
	p := j.state.process(r.Process)
	if r.Code != 422 || p == nil || p.Actor.For.Kind == "" || !strings.Contains(r.Message, secondController) {
		return
	}
	j.Exercise()
	live := j.state.Named(r.Object.Kind, r.Object.Namespace, r.Object.Name)
	if live != nil && meta.ControllerOf(live.Meta) == nil {
		j.Report(Informed, "refused a controller although "+live.Ref.String()+" has none")
	}
}

func completeRefs(j *Judge, r *sim.Record) {
	w := &j.write
	if w.After == nil {
		return
	}
	refs := w.After.GetOwnerReferences()
	if len(refs) > 0 {
		j.Exercise()
	}
	for i := range refs {
		if f := badRef(&refs[i]); f != "" {
			j.Report(Informed, "stored with an owner reference with "+f)
			return
		}
	}
}

func badRef(ref *metav1.OwnerReference) string {
	switch {
	case ref.APIVersion == "":
		return "no apiVersion"
	case ref.Kind == "":
		return "no kind"
	case ref.Name == "":
		return "no name"
	case ref.UID == "":
		return "no uid"
	case ref.Kind == "Event" && (ref.APIVersion == "v1" || strings.HasPrefix(ref.APIVersion, "events.k8s.io/")):
		return "an Event as owner"
	}
	return ""
}

// oneWinner checks API-4: no actor may adopt an object that has got a controller since the actor read the object.
func oneWinner(j *Judge, r *sim.Record) {
	w := &j.write
	if w.Actor == nil || !w.Claims {
		return
	}
	j.Exercise()
	if w.Owner != nil && w.SawOwner == nil {
		j.Report(w.inherits(r), "adopted by "+refName(w.NewOwner)+" after "+refName(w.Owner)+" had won")
	}
}

// restartMovesNothing checks API-5. Between a crash or restart and the next user action (see State.newEpoch), no object
// may lose an owner that exists and selects it.
func restartMovesNothing(j *Judge, r *sim.Record) {
	if r.Op == sim.FaultHit {
		if r.Verb == "crash" || r.Verb == "restart" {
			j.Exercise()
		}
		return
	}
	w := &j.write
	if !j.state.restarted || w.Actor == nil && !w.GC || w.After == nil || w.Owner == nil ||
		meta.SameRef(w.Owner, w.NewOwner) {
		return
	}
	owner := j.state.Object(w.Owner.UID)
	if owner == nil || meta.Deleting(owner.Meta) {
		return
	}
	for _, p := range j.state.processes {
		sub := &p.Actor
		if sub.For.Kind != owner.Ref.Kind || !sub.manages(r.Object.Kind) ||
			!j.state.Selects(sub, owner.Value, w.Before) || !sub.fits(owner.Value, r.Before) {
			continue
		}
		s := committedIf(w.Saw != nil && !j.state.Selects(sub, ownerAsRead(r, owner), w.Saw))
		j.Report(s, "leaves "+refName(w.Owner)+" after a restart")
		return
	}
}

// ownerAsRead returns the version of the owner that the writer had read. After a restart, this version may have a
// selector that was replaced before the crash. If the writer does not reconcile this owner, the result is the stored
// version.
func ownerAsRead(r *sim.Record, owner *Object) any {
	if saw := meta.Of(r.SawFor); saw != nil && saw.GetUID() == owner.Meta.GetUID() {
		return r.SawFor
	}
	return owner.Value
}

// replacesVersion checks API-6: a write without a resourceVersion may not take an object from a controller that exists.
// A violation is always Informed, because the actor could have used a patch that adds an owner, or an update with a
// resourceVersion. The server would have refused these.
func replacesVersion(j *Judge, r *sim.Record) {
	w := &j.write
	if w.Actor == nil || !w.Claims {
		return
	}
	j.Exercise()
	if w.Owner != nil && !r.Guards.ResourceVersion && j.state.Object(w.Owner.UID) != nil {
		j.Report(Informed, "takes the place of "+refName(w.Owner)+" in a list of owners of whatever version")
	}
}
