package mutants

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/controllers/internal/replicas"
	"github.com/threelaws/threelaws/controllers/internal/replicaset"
	"github.com/threelaws/threelaws/controllers/internal/routing"
	"github.com/threelaws/threelaws/sim/host"
)

// habitMutants make mistakes that no guard prevents. The clause of each mutant is the first that it violates.
var habitMutants = []mutant{
	{"replicaset/adopts-what-it-lacks", "ADOPT-2", "ADOPT-2",
		"adopts no more orphans than it lacks pods, and leaves the rest alone",
		client(replicas.Current, func(c *careless, inner host.Client) host.Client { return modest{inner, c} })},
	{"replicaset/takes-over", "LAW-1b", "LAW-1b",
		"takes pods that it selects and that another controller owns, when it lacks some",
		first((*careless).takeOver)},
	{"replicaset/adopts-by-update", "API-6", "API-6",
		"adopts by writing the whole pod as its cache has it, whatever version is stored",
		client(replicas.Current, func(c *careless, inner host.Client) host.Client { return updating{inner, c} })},
	{"replicaset/never-settles", "NOFIGHT-1", "NOFIGHT-1",
		"notes on its set in every sync whether it is an odd or an even one",
		first((*careless).takeTurns)},
	{"replicaset/retires", "NOFIGHT-2", "NOFIGHT-2",
		"deletes the set it works for when that has adopted a pod, and leaves the pods to others",
		first((*careless).retire)},
	{"replicaset/believes-its-status", "WRITE-7", "WRITE-7",
		"does nothing for a set whose status says that it has all it wants",
		skipping(func(_ *careless, set *appsv1.ReplicaSet) bool {
			s := &set.Status
			return s.ObservedGeneration == set.Generation && s.Replicas == *set.Spec.Replicas
		})},
	{"replicaset/begins-with-what-changes", "WRITE-3", "WRITE-3",
		"takes a set that it finds when it starts, and that a life before it has seen, for one that is done with",
		skipping(func(c *careless, set *appsv1.ReplicaSet) bool {
			key := routing.Key(set)
			met := c.begun[key]
			c.begun[key] = true
			return !met && set.Status.ObservedGeneration == set.Generation
		})},
	{"replicaset/pods-come-later", "WRITE-2", "WRITE-2",
		"does not look at a set when it is shown to it if it has been shown its pods, whose events it takes to do that",
		declared(func(c *host.Controller) { c.Routes[0].Do = unlessItsPodsAreThere(c.Routes[0].Do) })},
	{"replicaset/keeps-its-pods", "EXACT-6", "EXACT-6",
		"puts a finalizer on its pods and never takes it off",
		build{make: func() host.Controller {
			c := wrap(func(env *host.Env) { env.Client = sealing{env.Client} }, nil)
			c.Contract.Finalizers = []string{seal}
			return c
		}}},
	{"replicaset/one-to-a-slot", "EXACT-3", "EXACT-3",
		"says that there is one pod for each slot, and makes all of them for one",
		declared(func(c *host.Controller) {
			c.Contract.Identity = func(pod runtime.Object) string { return pod.(*corev1.Pod).Labels["slot"] }
		})},
	{"replicaset/adopts-once", "EXACT-5", "EXACT-5",
		"remembers what it has adopted, and deletes it by what its cache showed before that",
		client(replicas.ControllerRef, func(c *careless, inner host.Client) host.Client {
			return remembering{inner, c}
		})},
	{"routing/oldest-that-matches", "WATCH-8", "WATCH-8",
		"enqueues the oldest set that selects a pod, whatever the pod's owner is",
		declared(func(c *host.Controller) {
			t := &routing.TieBreak{Owner: replicaset.Kind.GVK, Selects: replicaset.Kind.Selects}
			c.Routes[1] = t.Route(pod.Kind)
		})},
}

// statusMutants write a wrong number into the status. Each falsifies one count that the Contract declares.
var statusMutants = []mutant{
	{"replicaset/none-is-available", "EXACT-8", "EXACT-8",
		"reports none as available",
		telling(func(s *appsv1.ReplicaSetStatus) { s.AvailableReplicas = 0 })},
	{"replicaset/labelled-when-there", "EXACT-8", "EXACT-8",
		"reports as fully labelled whatever there is",
		telling(func(s *appsv1.ReplicaSetStatus) { s.FullyLabeledReplicas = s.Replicas })},
	{"replicaset/forgets-the-terminating", "EXACT-8", "EXACT-8",
		"reports none that are being deleted",
		telling(func(s *appsv1.ReplicaSetStatus) { *s.TerminatingReplicas = 0 })},
}

// client builds a ReplicaSet controller of an era. The function through wraps the controller's client.
func client(g replicas.Era, through func(c *careless, inner host.Client) host.Client) build {
	return build{make: func() host.Controller {
		c := replicaset.New(replicas.Options{Era: g})
		inner := c.New
		c.New = func(env *host.Env) host.Reconciler {
			e := *env
			made := &careless{env: &e, begun: map[string]bool{}}
			e.Client = through(made, env.Client)
			made.reconciler = inner(&e).(reconciler)
			return made
		}
		return c
	}}
}

// skipping returns a ReplicaSet controller that skips the reconciles for which skip returns true.
func skipping(skip func(c *careless, set *appsv1.ReplicaSet) bool) build {
	return first(func(c *careless, _ context.Context, key string) error {
		obj, exists, err := c.env.Informer(replicaset.Kind.GVK).GetIndexer().GetByKey(key)
		if err == nil && exists && skip(c, obj.(*appsv1.ReplicaSet)) {
			return errSkip
		}
		return err
	})
}

// set returns the cached set of a key. It is nil if the set is missing or terminating.
func (c *careless) set(key string) *replicas.Set {
	obj, exists, _ := c.env.Informer(replicaset.Kind.GVK).GetIndexer().GetByKey(key)
	if !exists || obj.(*appsv1.ReplicaSet).DeletionTimestamp != nil {
		return nil
	}
	set := replicaset.Kind.Read(obj.(runtime.Object))
	return &set
}

// owned returns how many cached pods the set with this key controls. Terminating pods do not count.
func (c *careless) owned(key string) int {
	n := 0
	_ = c.pods(key, func(set replicas.Set, pod *corev1.Pod) error {
		if metav1.IsControlledBy(pod, set) && pod.DeletionTimestamp == nil {
			n++
		}
		return nil
	})
	return n
}

func (c *careless) takeOver(ctx context.Context, key string) error {
	have := c.owned(key)
	return c.pods(key, func(set replicas.Set, pod *corev1.Pod) error {
		owner := metav1.GetControllerOf(pod)
		if have >= set.Replicas || owner == nil || owner.UID == set.UID || !set.Matches(pod.Labels) {
			return nil
		}
		have++
		mine := pod.DeepCopy()
		mine.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, replicaset.Kind.GVK)}
		_, err := c.env.Client.Update(ctx, mine)
		return err
	})
}

const turn = "example.com/turn"

func (c *careless) takeTurns(ctx context.Context, key string) error {
	set := c.set(key)
	if set == nil {
		return nil
	}
	next := `{"metadata":{"annotations":{"` + turn + `":"odd"}}}`
	if set.Annotations[turn] == "odd" {
		next = `{"metadata":{"annotations":{"` + turn + `":"even"}}}`
	}
	_, err := c.env.Client.Patch(ctx, replicaset.Kind.GVK, set.Namespace, set.Name,
		host.Patch{Type: types.MergePatchType, Data: []byte(next)})
	return err
}

func (c *careless) retire(ctx context.Context, key string) error {
	set := c.set(key)
	if set == nil {
		return nil
	}
	adopted := false
	_ = c.pods(key, func(set replicas.Set, pod *corev1.Pod) error {
		adopted = adopted || metav1.IsControlledBy(pod, set) && pod.GenerateName == ""
		return nil
	})
	if !adopted {
		return nil
	}
	orphan := metav1.DeletePropagationOrphan
	return c.env.Client.Delete(ctx, replicaset.Kind.GVK, set.Namespace, set.Name,
		metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &set.UID}, PropagationPolicy: &orphan})
}

// unlessItsPodsAreThere returns a route that ignores new sets that select a cached pod, and otherwise calls do.
func unlessItsPodsAreThere(do func(host.View, host.Event, *host.Effect)) func(host.View, host.Event, *host.Effect) {
	return func(v host.View, e host.Event, out *host.Effect) {
		there := false
		if e.Old == nil {
			v.Each(pod.Kind, e.New.(metav1.Object).GetNamespace(), func(pod runtime.Object) bool {
				there = there || replicaset.Kind.Selects(e.New, pod.(*corev1.Pod).Labels)
				return true
			})
		}
		if !there {
			do(v, e, out)
		}
	}
}
