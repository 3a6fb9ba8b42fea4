package generated_test

import (
	"fmt"
	"strings"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/fakeapi"
)

// budgets are worlds of the disruption controller: budgets by number and share, of pods with
// controllers of every kind that has a scale, or none, or one that is gone; pods that are
// said to be evicted, and that stay.
var budgets = subject{
	name: "disruption", generations: []string{""}, kind: "PodDisruptionBudget", seeds: 300,
	apart: true,
	begin: func(w *world) {
		if !w.in(4) {
			w.defineScaled(w.in(3))
		}
		for range 1 + w.n(4) {
			w.scaled()
		}
		for range 1 + w.n(5) {
			w.guarded()
		}
		for range 1 + w.n(2) {
			w.budget()
		}
	},
	acts: []act{
		{8, "a budget", (*world).budget},
		{6, "a budget is changed", (*world).budgetChanged},
		{2, "a budget goes", func(w *world) {
			if all := w.there("PodDisruptionBudget"); len(all) > 0 {
				w.drop(one(w, all...), "", nil)
			}
		}},
		{10, "a pod", (*world).guarded},
		{14, "a pod's status", (*world).guardedStatus},
		{4, "a pod's labels", func(w *world) {
			if all := w.there("Pod"); len(all) > 0 {
				w.merge(one(w, all...), "", fields{"metadata": one(w,
					fields{"labels": fields{"app": some(w, "a", "b")}}, fields{"labels": fields{"tier": some(w, "x")}},
					fields{"finalizers": one(w, nil, []string{"a.b/c"})},
					fields{"ownerReferences": w.controllerReference()})})
			}
		}},
		{4, "a pod goes", func(w *world) {
			if all := w.there("Pod"); len(all) > 0 {
				w.drop(one(w, all...), "", one(w, nil, new(int64)))
			}
		}},
		{8, "an eviction", (*world).evict},
		{5, "a budget's status", (*world).budgetStatus},
		{3, "a controller", (*world).scaled},
		{6, "a controller is scaled", func(w *world) {
			if all := w.there(scaledKinds...); len(all) > 0 {
				w.merge(one(w, all...), "", fields{"spec": fields{"replicas": w.n(5)}})
			}
		}},
		{2, "a controller goes", func(w *world) {
			if all := w.there(scaledKinds...); len(all) > 0 {
				w.drop(one(w, all...), metav1.DeletePropagationBackground, nil)
			}
		}},
		{1, "a definition goes", func(w *world) {
			w.drop(place{"CustomResourceDefinition", "", "fleets.example.com"}, "", nil)
		}},
		{6, "time", func(w *world) {
			w.settle(one(w, time.Second, time.Minute, 2*time.Minute, 119*time.Second, 121*time.Second))
		}},
	},
}

var scaledKinds = []string{"ReplicationController", "ReplicaSet", "Deployment", "StatefulSet", "Fleet", "ConfigMap"}

// defineScaled defines a kind with a scale, or without one.
func (w *world) defineScaled(without bool) {
	scale := "subresources: {scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}},"
	if without {
		scale = ""
	}
	w.make(place{"CustomResourceDefinition", "", "fleets.example.com"}, `
spec:
  group: example.com
  scope: Namespaced
  names: {plural: fleets, singular: fleet, kind: Fleet, listKind: FleetList}
  versions:
  - {name: v1, served: true, storage: true, %s
     schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`, scale)
}

// scaled is a controller of pods, or what passes for one.
func (w *world) scaled() {
	at := place{one(w, scaledKinds...), "default", one(w, "x", "y")}
	meta := "metadata: {}"
	if at.kind == "ReplicaSet" && w.in(2) {
		w.make(place{"Deployment", "default", "x"}, "spec: {replicas: %d, selector: {matchLabels: {app: a}}, "+
			"template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: i}]}}}", 1+w.n(4))
	}
	if d := w.at(place{"Deployment", "default", "x"}); d != nil && at.kind == "ReplicaSet" {
		yes := true
		meta = fmt.Sprintf("metadata: {ownerReferences: %s}", encode([]metav1.OwnerReference{{APIVersion: "apps/v1",
			Kind: one(w, "Deployment", "Deployment", "Fleet"), Name: "x", UID: d.GetUID(), Controller: &yes}}))
	}
	replicas := one(w, "", "replicas: 1, ", "replicas: 3, ", "replicas: 10, ")
	pods := "template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: i}]}}"
	switch at.kind {
	case "ConfigMap":
		w.make(at, "%s", meta)
	case "Fleet":
		w.make(at, "%s\nspec: {%s}", meta, strings.TrimSuffix(replicas, ", "))
	case "ReplicationController":
		w.make(at, "%s\nspec: {%sselector: {app: a}, %s}", meta, replicas, pods)
	default:
		w.make(at, "%s\nspec: {%sselector: {matchLabels: {app: a}}, %s}", meta, replicas, pods)
	}
}

// controllerReference refers to a controller that is there, or to one that is not, or to
// one by what it is not.
func (w *world) controllerReference() []metav1.OwnerReference {
	all := w.there(scaledKinds...)
	if len(all) == 0 || w.in(5) {
		return nil
	}
	at := one(w, all...)
	k := w.Server.KindNamed(at.kind)
	yes := true
	r := metav1.OwnerReference{APIVersion: k.GVK.GroupVersion().String(), Kind: at.kind, Name: at.name,
		UID: w.at(at).GetUID(), Controller: &yes}
	switch w.n(14) {
	case 0:
		r.Name = one(w, "x", "gone")
	case 1:
		r.UID = "0f0f0f0f-0000-4000-8000-000000000000"
	case 5:
		r.APIVersion, r.Kind = "extensions/v1beta1", "ReplicaSet"
		if rs := w.at(place{"ReplicaSet", "default", "x"}); rs != nil {
			r.Name, r.UID = "x", rs.GetUID()
		}
	case 2:
		r.APIVersion = one(w, "extensions/v1beta1", "apps/v1beta2", "a/b/c")
	case 3:
		r.Kind = one(w, "ReplicaSet", "StatefulSet", "Ghost", "ReplicationController", "Fleet")
	case 4:
		r.Controller = nil
	}
	return []metav1.OwnerReference{r}
}

func (w *world) budget() {
	w.make(place{"PodDisruptionBudget", "default", one(w, "p", "q", "r")}, "spec: {%s %s}",
		one(w, "selector: {matchLabels: {app: a}},", "selector: {matchLabels: {app: a}},", "selector: {},", "",
			"selector: {matchExpressions: [{key: app, operator: In, values: [a, b]}]},",
			"selector: {matchLabels: {app: a}, matchExpressions: [{key: tier, operator: Exists}]},"),
		one(w, "minAvailable: 1", "minAvailable: 2", "minAvailable: 50%", "minAvailable: 100%", "maxUnavailable: 1",
			"maxUnavailable: 0", "maxUnavailable: 34%", "maxUnavailable: 5", "minAvailable: 0", ""))
}

func (w *world) budgetChanged() {
	if all := w.there("PodDisruptionBudget"); len(all) > 0 {
		w.merge(one(w, all...), "", one(w,
			fields{"spec": fields{"minAvailable": one[any](w, 1, 3, "20%"), "maxUnavailable": nil}},
			fields{"spec": fields{"maxUnavailable": one[any](w, 1, 3, "20%"), "minAvailable": nil}},
			fields{"spec": fields{"selector": fields{"matchLabels": fields{"app": one(w, "a", "b")}}}},
			fields{"metadata": fields{"labels": fields{"n": fmt.Sprint(w.n(9))}}}))
	}
}

// guarded is a pod that a budget may select.
func (w *world) guarded() {
	at := place{"Pod", "default", fmt.Sprintf("p%d", w.n(7))}
	w.make(at, "metadata: {labels: {%s}, ownerReferences: %s}\nspec: {nodeName: n1, containers: [{name: c, image: i}]}",
		one(w, "app: a", "app: a", "app: a, tier: x", "app: b", ""), encode(w.controllerReference()))
	if w.in(2) {
		w.merge(at, "status", fields{"status": fields{"phase": "Running",
			"conditions": []fields{{"type": "Ready", "status": "True"}}}})
	}
}

func (w *world) guardedStatus() {
	all := w.there("Pod")
	if len(all) == 0 {
		return
	}
	list := []fields{{"type": one(w, "Ready", "Ready", "Odd"), "status": one(w, "True", "True", "False")}}
	if w.in(2) {
		c := fields{"type": "DisruptionTarget", "status": one(w, "True", "True", "True", "False"), "reason": one(w,
			"EvictionByEvictionAPI", "TerminationByKubelet", "DeletionByPodGC"), "message": "m",
			"lastTransitionTime": one(w, w.ago(0), w.ago(0), w.ago(time.Minute), w.ago(time.Hour))}
		list = append(list, c)
	}
	w.merge(one(w, all...), "status", fields{"status": fields{"phase": one(w, "Running", "Running", "Running", "Failed",
		"Succeeded"), "conditions": list}})
}

func (w *world) evict() {
	if all := w.there("Pod"); len(all) > 0 {
		at := one(w, all...)
		w.ask(at, fakeapi.Request{Verb: fakeapi.Create, Subresource: "eviction", Object: &policyv1.Eviction{
			ObjectMeta: metav1.ObjectMeta{Namespace: at.namespace, Name: at.name}}})
	}
}

// budgetStatus writes into a budget's status what an eviction would, or a stranger.
func (w *world) budgetStatus() {
	all, pods := w.there("PodDisruptionBudget"), w.there("Pod")
	if len(all) == 0 || len(pods) == 0 {
		return
	}
	status := fields{}
	switch w.n(4) {
	case 0:
		status = one(w, fields{"disruptionsAllowed": w.n(3)}, fields{"currentHealthy": w.n(3)},
			fields{"expectedPods": w.n(3)}, fields{"desiredHealthy": w.n(3)}, fields{"observedGeneration": w.n(3)},
			fields{"conditions": nil}, fields{"conditions": []fields{{"type": "DisruptionAllowed", "message": "",
				"status": one(w, "True", "False"), "reason": one(w, "SufficientPods", "InsufficientPods"),
				"lastTransitionTime": w.ago(time.Minute)}}})
	default:
		status["disruptedPods"] = fields{one(w, pods...).name: one(w, w.ago(0), w.ago(0), w.ago(time.Minute),
			w.ago(3*time.Minute)), one(w, pods...).name: w.ago(30 * time.Second)}
	}
	w.merge(one(w, all...), "status", fields{"status": status})
}
