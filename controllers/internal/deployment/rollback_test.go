package deployment

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
)

// another, and the question goes.
func TestRollback(t *testing.T) {
	for _, c := range []struct {
		name             string
		to               int64
		image, kept, its string
	}{
		{"a revision", 1, "first", "", "1"}, {"the one before", 0, "second", "", "2"}, {"none", 9, "now", "yes", ""},
		{"where it is", 3, "now", "yes", ""},
	} {
		first, second, now := setOf("a", "first", 0, "1"), setOf("b", "second", 0, "2"), setOf("now", "now", 4, "3")
		for _, rs := range []*appsv1.ReplicaSet{first, second, now} {
			rs.Annotations["its"] = rs.Annotations[revisionAnnotation]
		}
		u, user := rolloutOf(t, func(d *appsv1.Deployment) {
			d.Annotations = map[string]string{appsv1.DeprecatedRollbackTo: fmt.Sprint(c.to), "kept": "yes"}
		}, first, second, now)
		if err := u.rollback(t.Context(), c.to); err != nil {
			t.Fatal(err)
		}
		obj, err := user.Get(t.Context(), Kind, "default", "web")
		if err != nil {
			t.Fatal(err)
		}
		d := obj.(*appsv1.Deployment)
		if _, asked := d.Annotations[appsv1.DeprecatedRollbackTo]; asked ||
			d.Spec.Template.Spec.Containers[0].Image != c.image || d.Annotations["kept"] != c.kept ||
			d.Annotations["its"] != c.its {
			t.Errorf("%s: %s, %v", c.name, d.Spec.Template.Spec.Containers[0].Image, d.Annotations)
		}
	}
}

func TestRevisions(t *testing.T) {
	for _, c := range []struct {
		revisions string
		last      int64
	}{{"", 0}, {"5", 0}, {"5 7", 5}, {"7 5", 5}, {"5 5", 5}, {"5 x 7 6", 6}, {"7 6 5", 6}, {"-1 5", 0}} {
		u := &rollout{reconciler: &reconciler{options: &Options{}}, d: &appsv1.Deployment{}, now: -1}
		for i, r := range strings.Fields(c.revisions) {
			u.sets = append(u.sets, setOf(fmt.Sprint(i), "i", 0, r))
		}
		if got := u.lastRevision(); got != c.last {
			t.Errorf("of %q the last but one is %d, want %d", c.revisions, got, c.last)
		}
	}
	low, odd := setOf("low", "i", 0, "-1"), setOf("odd", "i", 0, "x")
	low.CreationTimestamp.Time = odd.CreationTimestamp.Add(time.Hour)
	if lower(low, odd) != 1 || lower(odd, low) != -1 {
		t.Error("one that says nothing is not compared by age")
	}
	u := &rollout{reconciler: &reconciler{options: &Options{}}, d: &appsv1.Deployment{}, now: 1}
	for i, r := range []string{"1", "2", "2", "9223372036854775808", "0"} {
		u.sets = append(u.sets, setOf(fmt.Sprint(i), "i", 0, r))
	}
	for n, want := range map[int64]string{1: "0", 2: "2", 3: "", 1<<63 - 1: "", 0: ""} {
		got := ""
		if rs := u.ofRevision(n); rs != nil {
			got = rs.Name
		}
		if got != want {
			t.Errorf("%q is of revision %d, want %q", got, n, want)
		}
	}
	if u.now = 0; u.ofRevision(1) != u.sets[0] {
		t.Error("the current one is of no revision")
	}
}
