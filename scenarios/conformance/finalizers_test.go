package conformance

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim/host"
)

// listing adds and removes its finalizer by a merge patch of the whole list, like client.MergeFrom. If versioned is
// set, the patch contains the resource version that was read.
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

// A patch of an outdated list removes a finalizer of another program. This is a violation, and not a lost race: with a
// resource version, the same patch never does.
func TestFinalizersOfOthersAreNotListedAway(t *testing.T) {
	for law, versioned := range map[string]bool{"finalizers-hold": false, "": true} {
		t.Run(law, func(t *testing.T) {
			finds(t, prepared(t, subjectOf(t, reconciler("listing", gardens, listing(versioned), parts))), "held", law)
		})
	}
}

// leavesPlot removes its finalizer without deleting the plot.
var leavesPlot = finalized((*at).plot, func(*at, *thing) error { return nil })

// sharesPlot has one plot for all owners, and deletes it with the last owner.
var sharesPlot = finalized(createsPlot("common"), func(a *at, owner *thing) error {
	all, err := a.list(gardens, "", "")
	if err != nil || slices.ContainsFunc(all, func(o *thing) bool {
		return o.GetDeletionTimestamp() == nil && o.GetUID() != owner.GetUID()
	}) {
		return err
	}
	return ignoreNotFound(a.env.Client.Delete(a, plots, "", "common", metav1.DeleteOptions{}))
})

// A controller deletes an owner's objects without a reference either always or never, and the profile says which. A
// controller that never deletes them is not reported, nor is one that shares them.
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
