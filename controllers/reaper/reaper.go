// Package reaper is cascading deletion as kubectl did it before the garbage
// collector (kubectl 1.5): scale the object to zero, wait until its status says
// that it has as many pods as it wants, then delete it. It needs a controller
// that works, holds the user's terminal, and, where selectors overlap, may wait
// without success.
package reaper

import (
	"context"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim/host"
)

// interval is the time between two looks at the object.
const interval = time.Second

// timeout is how long kubectl waited, without the ten seconds for each replica.
const timeout = 5 * time.Minute

var (
	replicaSets            = appsv1.SchemeGroupVersion.WithKind("ReplicaSet")
	replicationControllers = corev1.SchemeGroupVersion.WithKind("ReplicationController")
)

// reaper is one kubectl that deletes one ReplicaSet or ReplicationController.
type reaper struct {
	Kind            schema.GroupVersionKind
	Namespace, Name string

	scaled bool          // it has been told to have no replicas
	left   time.Duration // of the waiting
}

// newReaper returns a reaper. A kind that kubectl had no such reaper for is an error.
func newReaper(kind schema.GroupVersionKind, namespace, name string) (*reaper, error) {
	if kind != replicaSets && kind != replicationControllers {
		return nil, fmt.Errorf("no reaper has been implemented for %s", kind.Kind)
	}
	return &reaper{Kind: kind, Namespace: namespace, Name: name}, nil
}

// Round does what can be done now: the first scales the object to zero, later
// ones look whether its status says so, and the last deletes it. done means
// that there will be no further one; otherwise the next is due after
// an interval. An error ends it all, and the object stays as it is then.
func (r *reaper) Round(ctx context.Context, c host.Client) (done bool, err error) {
	obj, err := c.Get(ctx, r.Kind, r.Namespace, r.Name)
	if err != nil {
		return true, err
	}
	s := read(obj)
	if !r.scaled {
		only, err := r.alone(ctx, c, obj)
		if err != nil {
			return true, err
		}
		if !only {
			return true, r.delete(ctx, c) // its pods go on as the other's
		}
		err = r.scale(ctx, c, s)
		return err != nil && !apierrors.IsConflict(err), dropConflict(err)
	}
	if s.observed < s.generation || s.has != s.wants {
		r.left -= interval
		if r.left <= 0 {
			return true, fmt.Errorf("timed out waiting for %q to be synced", r.Name)
		}
		return false, nil
	}
	return true, r.delete(ctx, c)
}

// scale tells the object to have no replicas. When somebody else wrote it
// meanwhile the next round tries again.
func (r *reaper) scale(ctx context.Context, c host.Client, s state) error {
	if s.wants != 0 {
		if _, err := c.Update(ctx, s.withoutReplicas); err != nil {
			return err
		}
	}
	r.scaled, r.left = true, timeout+time.Duration(10*s.wants)*time.Second
	return nil
}

func dropConflict(err error) error {
	if apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// alone looks for ReplicationControllers with overlapping selectors. With one
// that selects more or less than this one, nothing is safe, and kubectl gave up;
// with one that selects the same it did not scale. Of ReplicaSets it never
// looked for others.
func (r *reaper) alone(ctx context.Context, c host.Client, obj runtime.Object) (bool, error) {
	if r.Kind != replicationControllers {
		return true, nil
	}
	mine := obj.(*corev1.ReplicationController).Spec.Selector
	all, err := c.List(ctx, r.Kind, r.Namespace, metav1.ListOptions{})
	if err != nil {
		return false, fmt.Errorf("error getting replication controllers: %w", err)
	}
	same := 0
	var overlapping []string
	for _, o := range all {
		rc := o.(*corev1.ReplicationController)
		its := rc.Spec.Selector
		if !matches(mine, its) && !matches(its, mine) {
			continue
		}
		if len(its) == len(mine) {
			same++
		} else {
			overlapping = append(overlapping, rc.Name)
		}
	}
	if len(overlapping) > 0 {
		return false,
			fmt.Errorf("detected overlapping controllers for rc %s: %s, please manage deletion individually with "+
				"--cascade=false", r.Name, strings.Join(overlapping, ","))
	}
	return same == 1, nil
}

func matches(selector, set map[string]string) bool {
	return labels.SelectorFromSet(selector).Matches(labels.Set(set))
}

// delete deletes the object alone: nothing of its own is left that could be
// orphaned or collected.
func (r *reaper) delete(ctx context.Context, c host.Client) error {
	no := false
	return c.Delete(ctx, r.Kind, r.Namespace, r.Name, metav1.DeleteOptions{OrphanDependents: &no})
}

// state is what a reaper looks at.
type state struct {
	wants, has           int32
	generation, observed int64
	withoutReplicas      runtime.Object // the same object, told to have none
}

func read(obj runtime.Object) state {
	none, wants := int32(0), int32(1)
	switch o := obj.(type) {
	case *appsv1.ReplicaSet:
		if o.Spec.Replicas != nil {
			wants = *o.Spec.Replicas
		}
		scaled := *o
		scaled.Spec.Replicas = &none
		return state{wants, o.Status.Replicas, o.Generation, o.Status.ObservedGeneration, &scaled}
	case *corev1.ReplicationController:
		if o.Spec.Replicas != nil {
			wants = *o.Spec.Replicas
		}
		scaled := *o
		scaled.Spec.Replicas = &none
		return state{wants, o.Status.Replicas, o.Generation, o.Status.ObservedGeneration, &scaled}
	}
	panic(fmt.Sprintf("reaper: read a %T", obj))
}

// Controller runs a reaper as a process, one round a sync: a kubectl that was
// started when the process was. Killed and restarted, it starts over. What it
// ends with is in outcome, nil for success.
func Controller(kind schema.GroupVersionKind, namespace, name string, outcome func(error)) (host.Controller, error) {
	if _, err := newReaper(kind, namespace, name); err != nil {
		return host.Controller{}, err
	}
	return host.Controller{
		Name: "kubectl",
		New: func(env *host.Env) host.Reconciler {
			r, _ := newReaper(kind, namespace, name)
			key := namespace + "/" + name
			env.Queue.Add(key)
			return host.SyncFunc(func(ctx context.Context, _ string) error {
				done, err := r.Round(ctx, env.Client)
				if !done {
					env.Queue.AddAfter(key, interval)
				} else if outcome != nil {
					outcome(err)
				}
				return nil
			})
		},
	}, nil
}
