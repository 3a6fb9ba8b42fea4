package conformance

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/threelaws/threelaws/scenarios"
)

// stamps reports the time of day in the owner's status: at each reconcile (kfp-operator#625), or only when what it reports
// changes, when it has been there for so long, or when it is about to run out.
func stamps(due func(owner *thing, since time.Duration) (now bool, next time.Duration)) idiom {
	return func(a *at, owner *thing) error {
		if ended(owner) {
			return nil
		}
		if err := applies(a, owner); err != nil {
			return err
		}
		now := a.env.Now()
		was, _, _ := unstructured.NestedString(owner.Object, "status", "seen")
		at, err := time.Parse(time.RFC3339, was)
		write, next := true, time.Duration(0)
		if err == nil {
			write, next = due(owner, now.Sub(at))
		}
		if next > 0 {
			a.env.Queue.AddAfter(key(owner), next)
		}
		if !write {
			return nil
		}
		return a.reports(owner, "seen", metav1.NewTime(now).UTC().Format(time.RFC3339))
	}
}

// A controller that writes the time of day in each reconcile, which its own write starts, never stops as soon as time passes
// between them. Heartbeats, renewals and what ends after a while go by a timer.
func TestTimePasses(t *testing.T) {
	every := func(d time.Duration) func(*thing, time.Duration) (bool, time.Duration) {
		return func(_ *thing, since time.Duration) (bool, time.Duration) {
			if since >= d {
				return true, d
			}
			return false, d - since
		}
	}
	for _, x := range []struct {
		name string
		idiom
		law string
	}{
		{"each time", stamps(func(*thing, time.Duration) (bool, time.Duration) { return true, 0 }), "never-fight"},
		{"once", stamps(func(*thing, time.Duration) (bool, time.Duration) { return false, 0 }), ""},
		{"heartbeat", stamps(every(20 * time.Minute)), ""},
		{"renewal", stamps(every(12 * time.Hour)), ""},
		{"ttl", expires, ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			convicts(t, prepared(t, subjectOf(t, operates(gardens, parts, x.idiom))), "faults", x.law)
		})
	}
}

// So it is in a whole program.
func TestTimePassesInPrograms(t *testing.T) {
	c := placed(t, prepared(t, whole(false, wrong{stamps: true})), "faults")
	c.Faults, c.User, c.Schedules = map[string]int{"slow": 1}, nil, 5
	x, err := c.Explore(t.Context(), t.Name())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(x.Failures, func(f *scenarios.Counterexample) bool { return f.Law == "never-fight" }) {
		t.Errorf("not convicted\n%s", x.Text())
	}
}

// expires deletes its owner an hour after it was created.
func expires(a *at, owner *thing) error {
	if ended(owner) {
		return nil
	}
	if left := time.Hour - a.env.Now().Sub(owner.GetCreationTimestamp().Time); left > 0 {
		a.env.Queue.AddAfter(key(owner), left)
		return applies(a, owner)
	}
	return a.remove(owner)
}
