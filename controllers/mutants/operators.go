package mutants

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/controllers/internal/replicas"
	"github.com/threelaws/threelaws/controllers/internal/replicaset"
)

// operatorMutants do to pods what operators were seen to do to objects that they
// did not own: they find by name or by label, and do not ask whose it is.
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
		"keeps its annotation on the pod of its own name, whoever owns that",
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
	{"operator/delete-when-going", "LAW-2", "LAW-2",
		"deletes every pod that it selects when it is deleted itself, whoever owns that",
		first(func(c *careless, ctx context.Context, key string) error {
			return c.others(key, func(set replicas.Set, p *corev1.Pod) error {
				if set.DeletionTimestamp == nil || p.DeletionTimestamp != nil {
					return nil
				}
				return c.env.Client.Delete(ctx, pod.Kind, p.Namespace, p.Name, metav1.DeleteOptions{})
			})
		})},
	{"operator/inherit-by-name", "ADOPT-8", "ADOPT-8",
		"writes its uid over that of a namesake that is gone, which the collector may have read already",
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

// others calls do for copies of the cached pods that a cached set selects and does not
// control.
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
