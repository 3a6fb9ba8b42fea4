package conformance

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim/host"
)

// leaves has a policy of retaining: its finalizer goes, and the plot stays.
func leaves(a *at, owner *thing) error {
	if owner.GetDeletionTimestamp() == nil {
		return tidb(true)(a, owner)
	}
	if !held(owner) {
		return nil
	}
	owner.SetFinalizers(without(owner, finished))
	return a.update(owner)
}

// held reports whether the operator's finalizer is on an owner.
func held(owner *thing) bool { return len(without(owner, finished)) < len(owner.GetFinalizers()) }

// sharesPlot has one plot for all owners, and deletes it with the last of them.
func sharesPlot(a *at, owner *thing) error {
	plot := &thing{Object: map[string]any{}}
	plot.SetGroupVersionKind(plots)
	plot.SetName("common")
	if owner.GetDeletionTimestamp() == nil {
		if is, err := a.holds(owner); !is {
			return err
		}
		if err := a.create(plot); !apierrors.IsAlreadyExists(err) {
			return err
		}
		return nil
	}
	if !held(owner) {
		return nil
	}
	all, err := a.env.Client.List(a, gardens, "", metav1.ListOptions{})
	if err != nil {
		return err
	}
	last := true
	for _, o := range all {
		last = last && (o.(metav1.Object).GetDeletionTimestamp() != nil || o.(metav1.Object).GetUID() == owner.GetUID())
	}
	if last {
		if err := a.env.Client.Delete(a, plots, "", "common", metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	owner.SetFinalizers(without(owner, finished))
	return a.update(owner)
}

// What an owner has where no reference holds it is deleted by each deletion or by none, and the profile says which.
func TestLeaks(t *testing.T) {
	for _, x := range []struct {
		name  string
		sync  idiom
		shown string
		leaks bool
	}{
		{"kept", tidb(true), "  deletes     Plot without a reference when its owner is deleted\n", false},
		{"violated", tidb(false), "  deletes     Plot without a reference when its owner is deleted\n", true},
		{"looks wrong: it retains", leaves,
			"  leaves      Plot without a reference when its owner is deleted, though it puts a finalizer on it\n", false},
		{"looks wrong: another owner has it too", sharesPlot,
			"  deletes     Plot without a reference when its owner is deleted\n", false},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := ofBug(t, []host.Controller{reconciler("plots", gardens, x.sync, plots)})
			plan := prepared(t, s)
			if text := plan.String(); !strings.Contains(text, x.shown) {
				t.Errorf("it is shown as\n%s", text)
			}
			if !x.leaks {
				Test(t, s)
				return
			}
			world := placed(t, plan, "deleted/unseen")
			if found, err := world.Explore(t.Context(), x.name); err != nil || len(found.Failures) != 1 {
				t.Errorf("%v\n%s", err, found.Text())
			}
		})
	}
}
