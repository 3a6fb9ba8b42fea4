// Package reaper deletes an object and its dependents as kubectl 1.5 did, before the garbage collector. It scales the
// object to zero, waits until the status shows that, and deletes the object. The controller of the object must run
// meanwhile. With overlapping selectors the reaper may wait forever.
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

// interval is the time between two rounds.
const interval = time.Second

// timeout is the waiting time of kubectl, without the ten seconds that it added for each replica.
const timeout = 5 * time.Minute

var (
	replicaSets            = appsv1.SchemeGroupVersion.WithKind("ReplicaSet")
	replicationControllers = corev1.SchemeGroupVersion.WithKind("ReplicationController")
)

// reaper is one run of kubectl that deletes one ReplicaSet or ReplicationController.
type reaper struct {
	Kind            schema.GroupVersionKind
	Namespace, Name string

	scaled bool          // the object has been scaled to zero
	left   time.Duration // remaining waiting time
}

// newReaper returns a reaper. It returns an error if kubectl had no reaper for the kind.
func newReaper(kind schema.GroupVersionKind, namespace, name string) (*reaper, error) {
	if kind != replicaSets && kind != replicationControllers {
		return nil, fmt.Errorf("no reaper has been implemented for %s", kind.Kind)
	}
	return &reaper{Kind: kind, Namespace: namespace, Name: name}, nil
}

// Round does one step. The first round scales the object to zero, the next rounds check its status, and the last round
// deletes it. If done is false, the next round is due after one second. An error ends the deletion, and the object
// remains.
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
			return true, r.delete(ctx, c) // another controller with the same selector keeps the pods
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

// scale scales the object to zero. After a conflict the next round retries.
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

// alone reports whether kubectl would scale the object. kubectl did not scale if another ReplicationController had the
// same selector. It returned an error if a selector with more or fewer labels overlapped. It always scaled ReplicaSets.
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

// delete deletes the object. It sets orphanDependents to false, like kubectl.
func (r *reaper) delete(ctx context.Context, c host.Client) error {
	no := false
	return c.Delete(ctx, r.Kind, r.Namespace, r.Name, metav1.DeleteOptions{OrphanDependents: &no})
}

type state struct {
	wants, has           int32
	generation, observed int64
	withoutReplicas      runtime.Object // a copy of the object with zero replicas
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

// Controller returns a controller that runs a reaper, with one round per reconcile. A restarted process begins the
// deletion again. At the end the controller calls outcome, with nil for success.
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
