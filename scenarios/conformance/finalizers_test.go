package conformance

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim/host"
)

// listing adds and removes its finalizer by a merge patch of the whole list, as client.MergeFrom does. It sends the
// version that it has read if it is versioned.
func listing(versioned bool) idiom {
	return func(a *at, owner *thing) error {
		if owner == nil {
			return nil
		}
		meta := map[string]any{}
		switch deleting := owner.GetDeletionTimestamp() != nil; {
		case deleting && held(owner):
			meta["finalizers"] = without(owner, finished)
		case deleting:
			return nil
		case held(owner):
			return applies(a, owner)
		default:
			meta["finalizers"] = append(owner.GetFinalizers(), finished)
		}
		if versioned {
			meta["resourceVersion"] = owner.GetResourceVersion()
		}
		return a.patch(owner, "", types.MergePatchType, map[string]any{"metadata": meta}, metav1.PatchOptions{})
	}
}

// A list of finalizers that was read too early removes another's finalizer. That is a violation of its own, and not a
// lost race: the same patch with its version never removes one.
func TestFinalizersOfOthersAreNotListedAway(t *testing.T) {
	for law, versioned := range map[string]bool{"finalizers-hold": false, "": true} {
		t.Run(law, func(t *testing.T) {
			finds(t, prepared(t, subjectOf(t, reconciler("listing", gardens, listing(versioned), parts))), "held", law)
		})
	}
}

// leavesPlot has a policy of retaining: it removes its finalizer, and the plot stays.
var leavesPlot = finalized((*at).plot, func(*at, *thing) error { return nil })

// sharesPlot has one plot for all owners, and deletes it with the last of them.
var sharesPlot = finalized(createsPlot("common"), func(a *at, owner *thing) error {
	all, err := a.list(gardens, "", "")
	if err != nil || slices.ContainsFunc(all, func(o *thing) bool {
		return o.GetDeletionTimestamp() == nil && o.GetUID() != owner.GetUID()
	}) {
		return err
	}
	return ignoreNotFound(a.env.Client.Delete(a, plots, "", "common", metav1.DeleteOptions{}))
})

// An owner's objects without a reference are deleted with the owner always or never, and the profile says which. Neither
// a controller that retains them nor one that shares them is reported.
func TestLeaks(t *testing.T) {
	for _, x := range []struct {
		name  string
		sync  idiom
		shown string
	}{
		{"it retains", leavesPlot,
			"  leaves      Plot without a reference when its owner is deleted, though it puts a finalizer on it\n"},
		{"another owner has it too", sharesPlot, "  deletes     Plot without a reference when its owner is deleted\n"},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := ofBug(t, []host.Controller{reconciler("plots", gardens, x.sync, plots)})
			shows(t, prepared(t, s), x.shown)
			Test(t, s)
		})
	}
}
