package registry

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/same"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var coreKinds = []*Kind{namespaces, nodes, configMaps, pods, replicationControllers}

var namespaces = GoType[corev1.Namespace, corev1.NamespaceList](&Kind{
	GVK: corev1.SchemeGroupVersion.WithKind("Namespace"), Resource: "namespaces", Singular: "namespace", ShortNames: []string{"ns"},
	Default: On(defaultNamespace), Status: true, ReturnDeleted: true,
	strategy: strategy{
		NameRule:       apivalidation.ValidateNamespaceName,
		PrepareCreate:  On(prepareNamespace),
		Canonicalize:   On(defaultNamespace),
		Main:           Update{Prepare: Over(keepNamespaceStatus), again: []metaCheck{onCreate, onUpdate}},
		ForStatus:      Update{Prepare: Over(keepNamespaceSpec), again: []metaCheck{onUpdate}},
		other:          map[string]*Update{"finalize": {Prepare: Over(keepNamespaceStatusOnly), again: []metaCheck{onUpdate}}},
		Terminate:      terminateNamespace,
		Held:           func(obj runtime.Object) bool { return len(obj.(*corev1.Namespace).Spec.Finalizers) > 0 },
		SelectableKeys: []string{"status.phase", "name"},
		Selectable: func(obj runtime.Object, set fields.Set) {
			ns := obj.(*corev1.Namespace)
			set["status.phase"], set["name"] = string(ns.Status.Phase), ns.Name
		},
	},
})

var nodes = GoType[corev1.Node, corev1.NodeList](&Kind{
	GVK: corev1.SchemeGroupVersion.WithKind("Node"), Resource: "nodes", Singular: "node", ShortNames: []string{"no"},
	Default: On(defaultNode), Status: true,
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain,
		Prefix:   "minions",
		Admit:    taintNewNode,
		Main: Update{Prepare: Over(func(n, old *corev1.Node) {
			n.Status = old.Status
		}), again: []metaCheck{onCreate, onUpdate}},
		ForStatus:      Update{Prepare: Over(func(n, old *corev1.Node) { n.Spec = old.Spec }), again: []metaCheck{onCreate, onUpdate}},
		SelectableKeys: []string{"spec.unschedulable"},
		Selectable: func(obj runtime.Object, set fields.Set) {
			set["spec.unschedulable"] = strconv.FormatBool(obj.(*corev1.Node).Spec.Unschedulable)
		},
	},
})

var configMaps = GoType[corev1.ConfigMap, corev1.ConfigMapList](&Kind{
	GVK: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Resource: "configmaps", Singular: "configmap", ShortNames: []string{"cm"},
	Namespaced: true,
	strategy: strategy{
		NameRule:       apivalidation.NameIsDNSSubdomain,
		ValidateCreate: check(validation.ConfigMap),
		Main:           Update{Validate: Compare(validation.ConfigMapUpdate), again: []metaCheck{onUpdate, onCreate}},
	},
})

var replicationControllers = GoType[corev1.ReplicationController, corev1.ReplicationControllerList](&Kind{
	GVK:      corev1.SchemeGroupVersion.WithKind("ReplicationController"),
	Resource: "replicationcontrollers", Singular: "replicationcontroller", ShortNames: []string{"rc"}, Categories: []string{"all"},
	Namespaced: true, Status: true, OrphanByDefault: true, Default: On(defaultReplicationController),
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain,
		Prefix:   "controllers",
		PrepareCreate: On(func(rc *corev1.ReplicationController) {
			rc.Status, rc.Generation = corev1.ReplicationControllerStatus{}, 1
		}),
		ValidateCreate: check(validation.ReplicationController),
		WarnCreate:     func(obj runtime.Object) []string { return validation.WarnPodPrefix(metadata.Of(obj)) },
		Main: Update{
			Prepare: Over(func(rc, old *corev1.ReplicationController) {
				rc.Status = old.Status
				if !same.Value(&rc.Spec, &old.Spec) {
					rc.Generation = old.Generation + 1
				}
			}),
			Validate: Compare(validation.ReplicationControllerUpdate), again: []metaCheck{onUpdate}, Keeps: true,
		},
		ForStatus: Update{
			Prepare:  Over(func(rc, old *corev1.ReplicationController) { rc.Spec = old.Spec }),
			Validate: Compare(validation.ReplicationControllerStatus), again: []metaCheck{onUpdate}, Keeps: true,
		},
		Scale: &Scaling{
			Read: func(obj runtime.Object) (int32, int32, string) {
				rc := obj.(*corev1.ReplicationController)
				return *rc.Spec.Replicas, rc.Status.Replicas, labels.Set(rc.Spec.Selector).AsSelector().String()
			},
			Write: func(obj runtime.Object, want int32) { obj.(*corev1.ReplicationController).Spec.Replicas = &want },
		},
		SelectableKeys: []string{"status.replicas"},
		Selectable: func(obj runtime.Object, set fields.Set) {
			set["status.replicas"] = strconv.Itoa(int(obj.(*corev1.ReplicationController).Status.Replicas))
		},
	},
})

func defaultReplicationController(rc *corev1.ReplicationController) {
	if rc.Spec.Replicas == nil {
		rc.Spec.Replicas = new(int32)
		*rc.Spec.Replicas = 1
	}
	t := rc.Spec.Template
	if t == nil {
		return
	}
	defaultPodSpec(&t.Spec)
	if t.Labels == nil {
		return
	}
	if len(rc.Spec.Selector) == 0 {
		rc.Spec.Selector = copyMap(t.Labels)
	}
	if len(rc.Labels) == 0 {
		rc.Labels = copyMap(t.Labels)
	}
}

func copyMap(m map[string]string) map[string]string {
	c := make(map[string]string, len(m))
	for k, v := range m {
		c[k] = v
	}
	return c
}

func defaultNode(n *corev1.Node) {
	if n.Status.Allocatable == nil && n.Status.Capacity != nil {
		n.Status.Allocatable = n.Status.Capacity.DeepCopy()
	}
}

// taintNewNode is what the TaintNodesByCondition plugin does: nothing is
// scheduled to a node before its kubelet says that it is ready.
func taintNewNode(obj, old runtime.Object) error {
	n := obj.(*corev1.Node)
	if old != nil {
		return nil
	}
	for _, t := range n.Spec.Taints {
		if t.Key == corev1.TaintNodeNotReady && t.Effect == corev1.TaintEffectNoSchedule {
			return nil
		}
	}
	n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule})
	return nil
}
