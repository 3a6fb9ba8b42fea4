package deployment

import (
	"errors"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A Deployment whose conditions were removed still progresses, and reports it from now on.
func TestProgressWithoutACondition(t *testing.T) {
	u, _ := rolloutOf(t, nil, setOf("a", "old", 3, "1"), setOf("now", "now", 2, "2"))
	s := appsv1.DeploymentStatus{Replicas: 5, UpdatedReplicas: 2}
	u.progress(&s)
	if c := condition(&s, appsv1.DeploymentProgressing); c == nil || c.Reason != setUpdated ||
		!c.LastTransitionTime.Time.Equal(u.env.Now()) {
		t.Errorf("it says %+v", c)
	}
}

// If the current ReplicaSet has all wanted pods and they are available, all others get zero. Failed writes are
// reported.
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
		t.Errorf("nothing said that an old one keeps its pods: %v", err)
	}
}

// A terminating Deployment still determines its current ReplicaSet, and changes only its status.
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
		t.Errorf("its status says %+v", c)
	}
}
