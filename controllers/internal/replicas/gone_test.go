package replicas

import (
	"errors"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/threelaws/threelaws/controllers/internal/expectations"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

func clock() time.Time { return sim.Epoch }

// A sync that was at work when its set went may write down what it expects after the event of that has forgotten
// all. The next, which finds the set gone, forgets it: before ControllerRef another set of the name would wait.
func TestWhatIsGoneExpectsNothing(t *testing.T) {
	r := &reconciler{options: &Options{}, expected: expectations.New(clock),
		sets: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})}
	r.expected.ExpectCreations("default/web", "", 1)
	if err := r.Sync(t.Context(), "default/web"); err != nil {
		t.Fatal(err)
	}
	if w := r.Waiting(); len(w) > 0 {
		t.Errorf("waits: %v", w)
	}
}

// A creation that a namespace's end has refused has no name to be waited for by: the first pod that is seen, as one of
// an earlier life of the process, is taken for it.
func TestWhatWasNotMadeHasNoName(t *testing.T) {
	r := &reconciler{options: &Options{Era: Current}, expected: expectations.New(clock)}
	r.expected.ExpectCreations("default/web", "uid", 1)
	r.made("default/web", "")
	r.expected.Seen("default/web", "default/web-1")
	r.expected.Answered("default/web")
	if !r.expected.Satisfied("default/web", "uid") {
		t.Errorf("waits: %v", r.expected.Waiting())
	}
}

// looks is a queue that notes which keys are to be looked at later.
type looks struct {
	workqueue.TypedRateLimitingInterface[string]
	after map[string]time.Duration
}

func (l looks) AddAfter(key string, d time.Duration) { l.after[key] = d }

// A set whose pods are ready and not yet available is looked at when they are, but for one whose scaling has failed:
// that is tried again as all that fails is.
func TestLooksAgainWhereNothingFailed(t *testing.T) {
	for _, failed := range []error{nil, errors.New("refused")} {
		l := looks{after: map[string]time.Duration{}}
		pod := &corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady,
			Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(sim.Epoch)}}}}
		set := &Set{ObjectMeta: &metav1.ObjectMeta{Namespace: "default", Name: "web"}, MinReadySeconds: 30, Replicas: 1,
			Template: &corev1.PodTemplateSpec{}}
		set.Status = count(set, []*corev1.Pod{pod}, sim.Epoch)
		set.Status.Conditions = replicaFailure(set, 1, failed, sim.Epoch)
		r := &reconciler{options: &Options{Era: Current}, env: &host.Env{Queue: l, Now: clock},
			kind: &Traits{WithStatus: func(runtime.Object, appsv1.ReplicaSetStatus) runtime.Object {
				t.Fatal("the status is written")
				return nil
			}}}
		if err := r.writeStatus(t.Context(), set, []*corev1.Pod{pod}, failed); err != nil {
			t.Fatal(err)
		}
		if d, looks := l.after["default/web"]; looks != (failed == nil) || looks && d != 30*time.Second {
			t.Errorf("after %v: looked at again: %v, in %v", failed, looks, d)
		}
	}
}
