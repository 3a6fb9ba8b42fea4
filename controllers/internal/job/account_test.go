package job

import (
	"context"
	"errors"
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim/host"
)

// accounts is a client that records written statuses, and refuses the nth write.
type accounts struct {
	host.Client
	wrote   []batchv1.JobStatus
	refuses int
	holds   string // the pod whose finalizer stays
}

var errNoStatus = errors.New("no status is written")

func (c *accounts) UpdateStatus(_ context.Context, obj runtime.Object) (runtime.Object, error) {
	c.wrote = append(c.wrote, *obj.(*batchv1.Job).Status.DeepCopy())
	if len(c.wrote) == c.refuses {
		return nil, errNoStatus
	}
	return obj, nil
}

func (c *accounts) Patch(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string,
	p host.Patch) (runtime.Object, error) {
	if name == c.holds {
		return nil, errRefused
	}
	return c.Client.Patch(ctx, gvk, namespace, name, p)
}

// accountOf returns a reconcile of a Job that has met its goal, with this many succeeded pods.
func accountOf(t *testing.T, pods int) (*attempt, *accounts) {
	var all []*corev1.Pod
	for i := range pods {
		all = append(all, aPod(fmt.Sprint("p", i), phase(corev1.PodSucceeded)))
	}
	a, user := attemptOf(t, nil, all...)
	c := &accounts{Client: user}
	a.r.env.Client = c
	a.end = newCondition(batchv1.JobSuccessCriteriaMet, "", "", start)
	return a, c
}

// A Job with more ended pods than its status may name has not ended when those it names are counted.
func TestAccountOfMany(t *testing.T) {
	for pods, ends := range map[int]bool{maxUncounted - 1: true, maxUncounted + 1: false} {
		a, c := accountOf(t, pods)
		if err := a.account(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		last := c.wrote[len(c.wrote)-1]
		if counted := min(pods, maxUncounted); finished(a.job) != ends || int(last.Succeeded) != counted {
			t.Errorf("%d pods: finished %v, and %d counted, want %v and %d", pods, finished(a.job), last.Succeeded,
				ends, counted)
		}
	}
}

// If one pod's finalizer stays, the others are counted. A failed write of the status is the first error, the
// finalizer's the second.
func TestAccountOfOneThatIsHeld(t *testing.T) {
	for refuses, want := range map[int]error{0: errRefused, 1: errNoStatus, 2: errNoStatus} {
		a, c := accountOf(t, 2)
		c.holds, c.refuses = "p1", refuses
		err := a.account(t.Context(), false)
		said := errors.Is(err, errNoStatus)
		if want == errRefused {
			said = errors.Is(err, errRefused) && c.wrote[1].Succeeded == 1
		}
		if !said || finished(a.job) {
			t.Errorf("write %d is refused: %v, finished %v", refuses, err, finished(a.job))
		}
		if u := c.wrote[0].UncountedTerminatedPods; len(u.Succeeded) != 2 {
			t.Errorf("the status names %v", u.Succeeded)
		}
	}
}
