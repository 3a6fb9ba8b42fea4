package fakeapi

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

var coreKinds = []*row{namespaces, nodes, configMaps, pods, replicationControllers}

var namespaces = goType[corev1.Namespace, corev1.NamespaceList](&row{
	GVK: corev1.SchemeGroupVersion.WithKind("Namespace"), Resource: "namespaces", Singular: "namespace", ShortNames: []string{"ns"},
	Default: on(defaultNamespace), Status: true, ReturnDeleted: true,
	strategy: strategy{
		name:           apivalidation.ValidateNamespaceName,
		prepareCreate:  on(prepareNamespace),
		canonicalize:   on(defaultNamespace),
		main:           update{prepare: over(keepNamespaceStatus), again: []metaCheck{onCreate, onUpdate}},
		status:         update{prepare: over(keepNamespaceSpec), again: []metaCheck{onUpdate}},
		other:          map[string]*update{"finalize": {prepare: over(keepNamespaceStatusOnly), again: []metaCheck{onUpdate}}},
		terminate:      terminateNamespace,
		held:           func(obj runtime.Object) bool { return len(obj.(*corev1.Namespace).Spec.Finalizers) > 0 },
		selectableKeys: []string{"status.phase", "name"},
		selectable: func(obj runtime.Object, set fields.Set) {
			ns := obj.(*corev1.Namespace)
			set["status.phase"], set["name"] = string(ns.Status.Phase), ns.Name
		},
	},
})

var nodes = goType[corev1.Node, corev1.NodeList](&row{
	GVK: corev1.SchemeGroupVersion.WithKind("Node"), Resource: "nodes", Singular: "node", ShortNames: []string{"no"},
	Default: on(defaultNode), Status: true,
	strategy: strategy{
		name:   apivalidation.NameIsDNSSubdomain,
		prefix: "minions",
		admit:  taintNewNode,
		main: update{prepare: over(func(n, old *corev1.Node) {
			n.Status = old.Status
		}), again: []metaCheck{onCreate, onUpdate}},
		status:         update{prepare: over(func(n, old *corev1.Node) { n.Spec = old.Spec }), again: []metaCheck{onCreate, onUpdate}},
		selectableKeys: []string{"spec.unschedulable"},
		selectable: func(obj runtime.Object, set fields.Set) {
			set["spec.unschedulable"] = strconv.FormatBool(obj.(*corev1.Node).Spec.Unschedulable)
		},
	},
})

var configMaps = goType[corev1.ConfigMap, corev1.ConfigMapList](&row{
	GVK: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Resource: "configmaps", Singular: "configmap", ShortNames: []string{"cm"},
	Namespaced: true,
	strategy: strategy{
		name:           apivalidation.NameIsDNSSubdomain,
		validateCreate: check(validateConfigMap),
		main:           update{validate: compare(validateConfigMapUpdate), again: []metaCheck{onUpdate, onCreate}},
	},
})

var replicationControllers = goType[corev1.ReplicationController, corev1.ReplicationControllerList](&row{
	GVK:      corev1.SchemeGroupVersion.WithKind("ReplicationController"),
	Resource: "replicationcontrollers", Singular: "replicationcontroller", ShortNames: []string{"rc"}, Categories: []string{"all"},
	Namespaced: true, Status: true, OrphanByDefault: true, Default: on(defaultReplicationController),
	strategy: strategy{
		name:   apivalidation.NameIsDNSSubdomain,
		prefix: "controllers",
		prepareCreate: on(func(rc *corev1.ReplicationController) {
			rc.Status, rc.Generation = corev1.ReplicationControllerStatus{}, 1
		}),
		validateCreate: check(validateReplicationController),
		warnCreate:     func(obj runtime.Object) []string { return warnPodPrefix(metaOf(obj)) },
		main: update{
			prepare: over(func(rc, old *corev1.ReplicationController) {
				rc.Status = old.Status
				if !same(&rc.Spec, &old.Spec) {
					rc.Generation = old.Generation + 1
				}
			}),
			validate: compare(validateReplicationControllerUpdate), again: []metaCheck{onUpdate}, keeps: true,
		},
		status: update{
			prepare:  over(func(rc, old *corev1.ReplicationController) { rc.Spec = old.Spec }),
			validate: compare(validateReplicationControllerStatus), again: []metaCheck{onUpdate}, keeps: true,
		},
		scale: &scaling{
			read: func(obj runtime.Object) (int32, int32, string) {
				rc := obj.(*corev1.ReplicationController)
				return *rc.Spec.Replicas, rc.Status.Replicas, labels.Set(rc.Spec.Selector).AsSelector().String()
			},
			write: func(obj runtime.Object, want int32) { obj.(*corev1.ReplicationController).Spec.Replicas = &want },
		},
		selectableKeys: []string{"status.replicas"},
		selectable: func(obj runtime.Object, set fields.Set) {
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
