package conformance

import (
	"encoding/json"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/check"
)

// merges sends a merge patch.
func (a *at) merges(o *thing, patch map[string]any) error {
	data, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	for _, k := range a.env.Kinds() {
		if k.GVK == o.GroupVersionKind() {
			_, err = a.env.Client.Do(a, &fakeapi.Request{Verb: fakeapi.Patch, Kind: k, Namespace: o.GetNamespace(),
				Name: o.GetName(), PatchType: types.MergePatchType, Patch: data})
		}
	}
	return err
}

// listing puts its finalizer on the owner, and takes it off, by a merge patch of the whole list, as client.MergeFrom
// does. It sends the version that it has read only where it is to.
func listing(versioned bool) idiom {
	return func(a *at, owner *thing) error {
		if owner == nil {
			return nil
		}
		list := owner.GetFinalizers()
		ours := slices.Contains(list, finished)
		switch deleting := owner.GetDeletionTimestamp() != nil; {
		case deleting && ours:
			list = without(owner, finished)
		case !deleting && !ours:
			list = append(list, finished)
		case deleting:
			return nil
		default:
			return applies(a, owner)
		}
		meta := map[string]any{"finalizers": list}
		if versioned {
			meta["resourceVersion"] = owner.GetResourceVersion()
		}
		return a.merges(owner, map[string]any{"metadata": meta})
	}
}

// A finalizer that is lost by a list that was read before it was there is a violation of its own, and no race that was
// lost: the same patch with the version that it was made from never takes one off.
func TestFinalizersOfOthersAreNotListedAway(t *testing.T) {
	for _, x := range []struct {
		name      string
		versioned bool
		law       string
	}{
		{"a list without a version", false, "finalizers-hold"},
		{"a list with its version", true, ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			convicts(t, prepared(t, subjectOf(t, operates(gardens, parts, listing(x.versioned)))), "held", x.law)
		})
	}
}

// convicts explores a case and looks which laws are violated in it: law, or none where it is "".
func convicts(t *testing.T, plan *check.Plan, name, law string) {
	t.Helper()
	world := placed(t, plan, name)
	if world.Schedules = 60; law == "" {
		world.Schedules = 20
	}
	x, err := world.Explore(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	var laws []string
	for _, f := range x.Failures {
		laws = append(laws, f.Law)
	}
	if law == "" && x.Failed+x.Unsettled > 0 || law != "" && !slices.Contains(laws, law) {
		t.Errorf("violated: %q, want %q\n%s\n%s", laws, law, plan, x.Text())
	}
}
