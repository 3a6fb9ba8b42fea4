package deployment

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Earlier revisions are kept up to the length limit. The oldest are dropped.
func TestHistoryHasALimit(t *testing.T) {
	long := strings.TrimSuffix(strings.Repeat("1234567,", 250), ",") // 1999 characters
	for _, c := range []struct{ history, former, want string }{
		{"", "1", "1"},
		{"1", "3", "1,3"},
		{"1,3", "5", "1,3,5"},
		{long, "12", long[len("1234567,"):] + ",12"},
		{strings.Repeat("9", historyLimit), "7", "7"},
		{long[2:], "12", long[2:] + ",12"},
		{"", strings.Repeat("9", historyLimit), strings.Repeat("9", historyLimit)},
		{"", strings.Repeat("9", historyLimit+1), ""},
	} {
		a := map[string]string{}
		if c.history != "" {
			a[historyAnnotation] = c.history
		}
		addHistory(a, c.former)
		if got := a[historyAnnotation]; got != c.want {
			t.Errorf("%.20s... and %s: %.40s... (%d), want %d", c.history, c.former, got, len(got), len(c.want))
		}
	}
}

// A rollback restores a revision's template and annotations, and removes the request.
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
			t.Errorf("revisions %q: lastRevision is %d, want %d", c.revisions, got, c.last)
		}
	}
	low, odd := setOf("low", "i", 0, "-1"), setOf("odd", "i", 0, "x")
	low.CreationTimestamp.Time = odd.CreationTimestamp.Add(time.Hour)
	if lower(low, odd) != 1 || lower(odd, low) != -1 {
		t.Error("a ReplicaSet whose revision is not a number is not compared by age")
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
			t.Errorf("%q has revision %d, want %q", got, n, want)
		}
	}
	if u.now = 0; u.ofRevision(1) != u.sets[0] {
		t.Error("the current ReplicaSet has no revision")
	}
}

// If the conditions of a Deployment were removed, its progress is reported from then on.
func TestProgressWithoutACondition(t *testing.T) {
	u, _ := rolloutOf(t, nil, setOf("a", "old", 3, "1"), setOf("now", "now", 2, "2"))
	s := appsv1.DeploymentStatus{Replicas: 5, UpdatedReplicas: 2}
	u.progress(&s)
	if c := condition(&s, appsv1.DeploymentProgressing); c == nil || c.Reason != setUpdated ||
		!c.LastTransitionTime.Time.Equal(u.env.Now()) {
		t.Errorf("conditions %+v", c)
	}
}

// If the current ReplicaSet is saturated, all others are scaled to zero. Failed writes are reported.
func TestShareOfTheSaturated(t *testing.T) {
	now := func() *appsv1.ReplicaSet {
		rs := setOf("now", "now", 4, "2")
		rs.Annotations[desiredAnnotation] = "4"
		return rs
	}
	u, user := rolloutOf(t, nil, setOf("a", "a", 2, "1"), setOf("b", "b", 1, "1"), now())
	if err := u.share(t.Context()); err != nil {
		t.Error(err)
	}
	if got, want := there(t, user), []string{"a=0", "b=0", "now=4"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	u, user = rolloutOf(t, nil, setOf("a", "a", 2, "1"), now())
	u.env.Client = writesNone{user}
	if err := u.share(t.Context()); !errors.Is(err, errRefused) {
		t.Errorf("the error does not say that an old ReplicaSet keeps its pods: %v", err)
	}
}

// A terminating Deployment still determines its current ReplicaSet. It writes only its own status.
func TestWriteOff(t *testing.T) {
	u, user := rolloutOf(t, func(d *appsv1.Deployment) { d.Finalizers = []string{"example.com/hold"} },
		setOf("now", "now", 4, "1"))
	if err := user.Delete(t.Context(), Kind, "default", "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	going, err := user.Get(t.Context(), Kind, "default", "web")
	if err != nil {
		t.Fatal(err)
	}
	u.d = going.(*appsv1.Deployment).DeepCopy()
	if err := u.writeOff(t.Context()); err != nil {
		t.Fatal(err)
	}
	obj, err := user.Get(t.Context(), Kind, "default", "web")
	if err != nil {
		t.Fatal(err)
	}
	c := condition(&obj.(*appsv1.Deployment).Status, appsv1.DeploymentProgressing)
	if c == nil || c.Reason != setFound {
		t.Errorf("status %+v", c)
	}
}
