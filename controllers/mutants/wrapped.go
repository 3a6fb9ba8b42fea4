package mutants

import (
	"context"
	"errors"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/controllers/internal/ref"
	"github.com/threelaws/threelaws/controllers/internal/replicas"
	"github.com/threelaws/threelaws/controllers/internal/replicaset"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// wrappedMutants do the controller's work, and also something wrong that no guard prevents.
var wrappedMutants = []mutant{
	{"replicaset/let-go-at-start", "API-5", "API-5",
		"lets go, once in each life, of the pods that it owns and selects, to adopt them afresh",
		first(func(c *careless, ctx context.Context, key string) error {
			if c.begun[key] {
				return nil
			}
			c.begun[key] = true
			return c.letGo(ctx, key)
		})},
	{"replicaset/loser-deletes", "ADOPT-6", "ADOPT-6",
		"deletes the pod that another controller adopted before it",
		build{make: func() host.Controller {
			return wrap(func(env *host.Env) { env.Client = sore{env.Client} }, nil)
		}}},
	{"replicaset/inherits-by-name", "ADOPT-8", "ADOPT-8",
		"deletes what an earlier set of its name has left",
		first((*careless).disinherit)},
	{"replicaset/never-done", "EXACT-7", "EXACT-7",
		"queues its key again at the end of every sync, whatever came of it",
		first(func(c *careless, _ context.Context, key string) error {
			c.env.Queue.Add(key)
			return nil
		})},
	{"replicaset/trusts-its-queue", "EXACT-7b", "EXACT-7b",
		"takes what its key names for there, and reads a set that has been deleted",
		first(func(c *careless, _ context.Context, key string) error {
			obj, _, _ := c.env.Informer(replicaset.Kind.GVK).GetIndexer().GetByKey(key)
			_ = obj.(*appsv1.ReplicaSet).Spec.Replicas
			return nil
		})},
	{"replicaset/lists-from-server", "WRITE-4", "WRITE-4",
		"lists its pods from the server in every sync",
		first(func(c *careless, ctx context.Context, key string) error {
			namespace, _, _ := cache.SplitMetaNamespaceKey(key)
			_, err := c.env.Client.List(ctx, pod.Kind, namespace, metav1.ListOptions{})
			return err
		})},
}

// first returns a ReplicaSet controller that calls a function before each reconcile.
func first(do func(c *careless, ctx context.Context, key string) error) build {
	return build{make: func() host.Controller { return wrap(func(*host.Env) {}, do) }}
}

// wrap returns a ReplicaSet controller in a changed environment. Each reconcile first calls the function do, if set.
func wrap(change func(env *host.Env), do func(c *careless, ctx context.Context, key string) error) host.Controller {
	c := replicaset.New(replicas.Options{Era: replicas.Current})
	inner := c.New
	c.New = func(env *host.Env) host.Reconciler {
		e := *env
		change(&e)
		return &careless{reconciler: inner(&e).(reconciler), env: &e, first: do, begun: map[string]bool{}}
	}
	return c
}

type reconciler interface {
	host.Reconciler
	Observed(key string, deletion bool, object string)
	Forget(key string)
	Waiting() []string
	Digest(h *sim.Hash)
}

type careless struct {
	reconciler
	env   *host.Env
	first func(c *careless, ctx context.Context, key string) error
	key   string          // the key that is being reconciled; there is only one worker
	begun map[string]bool // what the mutant has done once, for example keys that it has reconciled
}

// errSkip is returned by careless.first to skip the controller's own reconcile.
var errSkip = errors.New("nothing to do")

func (c *careless) Sync(ctx context.Context, key string) error {
	c.key = key
	if c.first != nil {
		if err := c.first(c, ctx, key); err == errSkip {
			return nil
		} else if err != nil {
			return err
		}
	}
	return c.reconciler.Sync(ctx, key)
}

func (c *careless) Digest(h *sim.Hash) {
	c.reconciler.Digest(h)
	var sum uint64
	for key, is := range c.begun { //detcheck:ordered a sum
		if is {
			sum += sim.Mix(sim.HashString(key))
		}
	}
	h.Word(sum)
}

// pods calls a function for each cached pod in the namespace of the set with this key.
func (c *careless) pods(key string, do func(set replicas.Set, p *corev1.Pod) error) error {
	obj, exists, err := c.env.Informer(replicaset.Kind.GVK).GetIndexer().GetByKey(key)
	if err != nil || !exists {
		return err
	}
	set := replicaset.Kind.Read(obj.(runtime.Object))
	for _, p := range pod.In(c.env.Informer(pod.Kind).GetIndexer(), set.Namespace) {
		if err := do(set, p); err != nil {
			return err
		}
	}
	return nil
}

func (c *careless) letGo(ctx context.Context, key string) error {
	return c.pods(key, func(set replicas.Set, p *corev1.Pod) error {
		if !metav1.IsControlledBy(p, set) || !set.Matches(p.Labels) {
			return nil
		}
		m := ref.Manager{Client: c.env.Client, Owner: set, Kind: replicaset.Kind.GVK, Dependent: pod.Kind,
			Without: &ref.Without{}}
		return m.Release(ctx, p)
	})
}

func (c *careless) disinherit(ctx context.Context, key string) error {
	return c.pods(key, func(set replicas.Set, p *corev1.Pod) error {
		owner := metav1.GetControllerOf(p)
		if owner == nil || owner.Kind != replicaset.Kind.GVK.Kind || owner.Name != set.Name || owner.UID == set.UID {
			return nil
		}
		return c.env.Client.Delete(ctx, pod.Kind, p.Namespace, p.Name, metav1.DeleteOptions{})
	})
}

// sore is a client that deletes a pod if a patch of the pod, such as its adoption, is refused as invalid.
type sore struct{ host.Client }

func (s sore) Patch(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string,
	p host.Patch) (runtime.Object, error) {
	obj, err := s.Client.Patch(ctx, gvk, namespace, name, p)
	if apierrors.IsInvalid(err) {
		if err := s.Client.Delete(ctx, gvk, namespace, name, metav1.DeleteOptions{}); err != nil {
			return nil, err
		}
	}
	return obj, err
}

// operatorMutants repeat mistakes of released operators: they find objects by name or label, and do not check the
// owner. Pods stand for the operators' objects.
var operatorMutants = []mutant{
	{"operator/append-blindly", "LAW-1b", "EXACT-7",
		"adds its ControllerRef to every pod that it selects, and fails for ever where another has one",
		first(func(c *careless, ctx context.Context, key string) error {
			return c.others(key, func(set replicas.Set, p *corev1.Pod) error {
				p.OwnerReferences = append(p.OwnerReferences, *metav1.NewControllerRef(set, replicaset.Kind.GVK))
				_, err := c.env.Client.Update(ctx, p)
				return err
			})
		})},
	{"operator/overwrite-owners", "LAW-1b", "LAW-1b",
		"writes itself as the only owner of every pod that it selects",
		first(func(c *careless, ctx context.Context, key string) error {
			return c.others(key, func(set replicas.Set, p *corev1.Pod) error {
				p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, replicaset.Kind.GVK)}
				_, err := c.env.Client.Update(ctx, p)
				return err
			})
		})},
	{"operator/edit-by-name", "LAW-2", "LAW-2",
		"keeps its annotation on the pod of its own name, whatever the pod's owner is",
		first(func(c *careless, ctx context.Context, key string) error {
			return c.others(key, func(set replicas.Set, p *corev1.Pod) error {
				if p.Name != set.Name || p.Annotations["managed-by"] == set.Name {
					return nil
				}
				metav1.SetMetaDataAnnotation(&p.ObjectMeta, "managed-by", set.Name)
				_, err := c.env.Client.Update(ctx, p)
				return err
			})
		})},
	{"operator/delete-when-terminating", "LAW-2", "LAW-2",
		"deletes every pod that it selects when it is deleted itself, whatever the pod's owner is",
		first(func(c *careless, ctx context.Context, key string) error {
			return c.others(key, func(set replicas.Set, p *corev1.Pod) error {
				if set.DeletionTimestamp == nil || p.DeletionTimestamp != nil {
					return nil
				}
				return c.env.Client.Delete(ctx, pod.Kind, p.Namespace, p.Name, metav1.DeleteOptions{})
			})
		})},
	{"operator/inherit-by-name", "ADOPT-8", "ADOPT-8",
		"writes its uid over that of an earlier object that is gone, which the collector may have read already",
		first(func(c *careless, ctx context.Context, key string) error {
			return c.others(key, func(set replicas.Set, p *corev1.Pod) error {
				owner := metav1.GetControllerOf(p)
				if owner == nil || owner.Kind != replicaset.Kind.GVK.Kind || owner.Name != set.Name {
					return nil
				}
				p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, replicaset.Kind.GVK)}
				_, err := c.env.Client.Update(ctx, p)
				return err
			})
		})},
}

// others lists the cached pods that the ReplicaSet with this key selects and does not control. It calls the function do
// with a copy of each.
func (c *careless) others(key string, do func(set replicas.Set, p *corev1.Pod) error) error {
	obj, exists, err := c.env.Informer(replicaset.Kind.GVK).GetIndexer().GetByKey(key)
	if err != nil || !exists {
		return err
	}
	set := replicaset.Kind.Read(obj.(runtime.Object))
	pods, err := c.env.Informer(pod.Kind).GetIndexer().ByIndex(cache.NamespaceIndex, set.Namespace)
	if err != nil {
		return err
	}
	for _, obj := range pods {
		p := obj.(*corev1.Pod)
		if metav1.IsControlledBy(p, set) || !set.Matches(p.Labels) {
			continue
		}
		if err := do(set, p.DeepCopy()); err != nil {
			return err
		}
	}
	return nil
}
