// Package ttl is the controller that deletes ended Jobs. A Job's lifetime is over when ttlSecondsAfterFinished have
// passed since its end.
package ttl

import (
	"context"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/controllers/internal/routing"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// Without configures a mutant (package mutants). Each field disables one check. Its comment says what the mutant does.
type Without struct {
	UID   bool // delete a Job by name, even if the name now belongs to a recreated Job
	End   bool // count from the creation of the Job, not from its end
	Time  bool // delete a Job as soon as it has ended
	Later bool // do not requeue a Job for the end of its lifetime
}

var kind = batchv1.SchemeGroupVersion.WithKind("Job")

// New returns the controller. It owns no Jobs.
func New(without Without) host.Controller {
	return host.Controller{
		Name: "ttl-after-finished", Contract: law.Contract{Profile: law.Upstream, Invariants: []*law.Invariant{
			{
				ID:       "not-before-ttl",
				Sentence: "A finished Job is deleted once its ttlSecondsAfterFinished have passed, and not before.",
				When:     law.AtDelete | law.WhenSettled, Check: inTime,
			},
		}},
		New: func(env *host.Env) host.Reconciler {
			return &cleaner{without: without, env: env, jobs: env.Informer(kind).GetIndexer()}
		},
		Routes: []host.Route{{Kind: kind, Do: wake}},
	}
}

func wake(_ host.View, e host.Event, out *host.Effect) {
	if j, ok := e.New.(*batchv1.Job); ok && due(j) {
		out.Keys = append(out.Keys, routing.Key(j))
	}
}

type cleaner struct {
	without Without
	env     *host.Env
	jobs    cache.Indexer
}

func (c *cleaner) Digest(*sim.Hash) {}

// Sync deletes a Job whose lifetime is over. It reads the Job from the server first, because the lifetime may be
// longer now than in the cache. The delete carries the uid and version that were read (RULES L113). So it fails for a
// recreated Job and for a changed Job. Upstream sends only the uid.
func (c *cleaner) Sync(ctx context.Context, key string) error {
	obj, exists, err := c.jobs.GetByKey(key)
	if err != nil || !exists {
		return err
	}
	j := obj.(*batchv1.Job)
	if !c.expired(key, j) {
		return nil
	}
	live, err := c.env.Client.Get(ctx, kind, j.Namespace, j.Name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if j = live.(*batchv1.Job); !c.expired(key, j) {
		return nil
	}
	guards := &metav1.Preconditions{UID: &j.UID, ResourceVersion: &j.ResourceVersion}
	if c.without.UID {
		guards = nil
	}
	foreground := metav1.DeletePropagationForeground
	err = c.env.Client.Delete(ctx, kind, j.Namespace, j.Name,
		metav1.DeleteOptions{PropagationPolicy: &foreground, Preconditions: guards})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// expired reports whether a Job's lifetime is over. If the lifetime will end later, expired requeues the Job.
func (c *cleaner) expired(key string, j *batchv1.Job) bool {
	if !due(j) {
		return false
	}
	at := over(j)
	if c.without.End {
		at = j.CreationTimestamp.Add(at.Sub(endedAt(j)))
	}
	if left := at.Sub(c.env.Now()); left > 0 && !c.without.Time {
		if !c.without.Later {
			c.env.Queue.AddAfter(key, left)
		}
		return false
	}
	return true
}

// lifetime is longer than the TTL of any Job, which is at most 68 years.
const lifetime = 100 * 365 * 24 * time.Hour

// inTime is the check of the invariant not-before-ttl. A Job is deleted when its lifetime is over, and not earlier. In
// a settled world no Job is left whose lifetime is over. If nothing will change any more (f.Forever), no Job is left
// whose lifetime will end.
func inTime(f *law.Facts) string {
	if f.Before != nil {
		return stays(f.Before, f.Now)
	}
	now, what := f.Now, " is still there, and its time is over"
	if f.Forever {
		now, what = now.Add(lifetime), " is there for ever: nobody waits for its time to be over"
	}
	for _, obj := range f.All(kind.Kind) {
		if j := obj.(*batchv1.Job); stays(j, now) == "" {
			return sim.Ref{Kind: kind.Kind, Namespace: j.Namespace, Name: j.Name}.String() + what
		}
	}
	return ""
}

// stays returns why a Job must not be deleted yet, or "".
func stays(obj runtime.Object, now time.Time) string {
	j, ok := obj.(*batchv1.Job)
	switch {
	case !ok:
		return "deleted, and it is no Job"
	case j.Spec.TTLSecondsAfterFinished == nil:
		return "deleted, and it says nothing of how long it is kept"
	case endedAt(j).IsZero():
		return "deleted, and it has not ended"
	}
	if left := over(j).Sub(now); left > 0 {
		return "deleted " + left.String() + " before its time is over"
	}
	return ""
}

// over returns when the lifetime of an ended Job is over.
func over(j *batchv1.Job) time.Time {
	return endedAt(j).Add(time.Duration(*j.Spec.TTLSecondsAfterFinished) * time.Second)
}

// due reports whether a Job has to be deleted now or later.
func due(j *batchv1.Job) bool {
	return j.DeletionTimestamp == nil && j.Spec.TTLSecondsAfterFinished != nil && !endedAt(j).IsZero()
}

// endedAt returns when a Job ended. It is zero if the Job has not ended or does not report when.
func endedAt(j *batchv1.Job) time.Time {
	for _, c := range j.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Time
		}
	}
	return time.Time{}
}
