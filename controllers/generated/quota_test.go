package generated_test

import (
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// quotas are worlds of the quota controller: quotas of every sort of name, some of them of one
// scope, and what they count, coming, changing and going.
var quotas = subject{
	name: "resourcequota", generations: []string{""}, kind: "ResourceQuota", seeds: 160,
	apart: true, most: 10 * time.Minute,
	begin: func(w *world) {
		if w.in(2) {
			w.define(definitions[0])
		}
		for range 1 + w.n(2) {
			w.quota()
		}
		for range w.n(6) {
			w.charged()
		}
	},
	acts: []act{
		{6, "a quota", (*world).quota},
		{8, "a quota is changed", func(w *world) {
			if all := w.there("ResourceQuota"); len(all) > 0 {
				w.merge(one(w, all...), "", one(w,
					fields{"spec": fields{"hard": fields{w.quotaName(): fmt.Sprint(w.n(9))}}},
					fields{"spec": fields{"hard": fields{w.quotaName(): nil}}},
					fields{"metadata": fields{"labels": fields{"n": fmt.Sprint(w.n(9))}}}))
			}
		}},
		{5, "a quota's status", func(w *world) {
			if all := w.there("ResourceQuota"); len(all) > 0 {
				w.merge(one(w, all...), "status", fields{"status": one(w, fields{"used": fields{w.quotaName(): "3"}},
					fields{"used": nil}, fields{"hard": nil}, fields{"hard": fields{"pods": "77"}})})
			}
		}},
		{2, "a quota goes", func(w *world) {
			if all := w.there("ResourceQuota"); len(all) > 0 {
				w.drop(one(w, all...), "", nil)
			}
		}},
		{16, "an object", (*world).charged},
		{6, "a pod goes", func(w *world) {
			if all := w.there("Pod"); len(all) > 0 {
				w.drop(one(w, all...), "", nil)
			}
		}},
		{8, "an object goes", func(w *world) {
			if all := w.there(chargedKinds...); len(all) > 0 {
				w.drop(one(w, all...), metav1.DeletePropagationBackground, one(w, nil, nil, new(int64)))
			}
		}},
		{8, "a pod's status", func(w *world) {
			if all := w.there("Pod"); len(all) > 0 {
				w.merge(one(w, all...), "status", fields{"status": fields{
					"phase": one(w, "Running", "Succeeded", "Failed", "Pending")}})
			}
		}},
		{3, "a label", func(w *world) {
			if all := w.there(chargedKinds...); len(all) > 0 {
				w.merge(one(w, all...), "", fields{"metadata": fields{"labels": fields{"n": fmt.Sprint(w.n(9))}}})
			}
		}},
		{3, "a definition", func(w *world) { w.define(definitions[0]) }},
		{3, "a definition less", func(w *world) {
			w.drop(place{"CustomResourceDefinition", "", definitions[0].name}, "", nil)
		}},
		{6, "time", func(w *world) {
			w.settle(one(w, time.Second, 15*time.Second, 29*time.Second, 31*time.Second, time.Minute, 5*time.Minute))
		}},
	},
}

var chargedKinds = []string{"Pod", "ConfigMap", "Secret", "Service", "PersistentVolumeClaim", "ReplicaSet", "Widget",
	"Event", "ResourceQuota"}

func (w *world) quotaName() string {
	return one(w, "pods", "pods", "requests.cpu", "cpu", "limits.memory", "configmaps", "secrets", "services",
		"services.nodeports", "persistentvolumeclaims", "requests.storage", "count/replicasets.apps",
		"count/widgets.example.com", "count/widgets.example.com",
		"count/pods", "resourcequotas", "count/namespaces", "count/events", "requests.example.com/gpu")
}

func (w *world) quota() {
	var hard []string
	seen := map[string]bool{}
	for range 1 + w.n(4) {
		if name := w.quotaName(); !seen[name] {
			seen[name] = true
			hard = append(hard, fmt.Sprintf("%s: %q", name, fmt.Sprint(20+w.n(20))))
		}
	}
	scope := ""
	if w.in(10) {
		hard = nil
	}
	if w.in(3) {
		hard = []string{`pods: "20"`}
		scope = one(w, "scopes: [Terminating]", "scopes: [NotTerminating]", "scopes: [BestEffort]",
			"scopes: [NotBestEffort]",
			"scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: Exists}]}")
	}
	w.make(place{"ResourceQuota", one(w, "default", "default", "kube-system"), one(w, "q", "r", "s")},
		"spec:\n  hard: {%s}\n  %s", strings.Join(hard, ", "), scope)
}

// charged is an object that a quota may count.
func (w *world) charged() {
	at := place{one(w, append([]string{"Pod", "Pod", "Pod"}, chargedKinds...)...),
		one(w, "default", "default", "kube-system"), fmt.Sprintf("o%d", w.n(6))}
	switch at.kind {
	case "Pod":
		w.make(at, `spec:
  nodeName: %q
  containers: [{name: c, image: i, resources: {%s}}]
  %s
  %s`, one(w, "", "n1"), one(w, "", "requests: {cpu: 100m}", "requests: {cpu: 1, memory: 1Gi}, limits: {memory: 2Gi}",
			"requests: {example.com/gpu: 1}, limits: {example.com/gpu: 1}"),
			one(w, "", "activeDeadlineSeconds: 1000"), one(w, "", "terminationGracePeriodSeconds: 5"))
	case "Service":
		w.make(at, "spec: {%s, ports: [{port: 80}]}", one(w, "type: NodePort", "type: ClusterIP", "type: LoadBalancer"))
	case "PersistentVolumeClaim":
		w.make(at, "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: %dGi}}}", 1+w.n(3))
	case "Event":
		w.make(at, "involvedObject: {kind: Pod, name: x, namespace: %s}", at.namespace)
	case "ResourceQuota":
		w.quota()
	default:
		w.make(at, "%s", bare(at.kind))
	}
}

// ttls are worlds of the controller that deletes Jobs some time after they have ended.
var ttls = subject{
	name: "ttl-after-finished", generations: []string{""}, seeds: 60,
	apart: true, most: 10 * time.Minute,
	begin: func(w *world) {
		for range 1 + w.n(3) {
			w.brief()
		}
	},
	acts: []act{
		{6, "a Job", (*world).brief},
		{14, "a Job ends", (*world).jobEnds},
		{6, "a Job's time", func(w *world) {
			edit(w, "Job", "", nil, func(j *batchv1.Job) {
				j.Spec.TTLSecondsAfterFinished = some(w, int32(0), 5,
					60, 100)
			})
		}},
		{4, "a Job's condition", func(w *world) {
			edit(w, "Job", "status", nil, func(j *batchv1.Job) {
				j.Status.Conditions = append([]batchv1.JobCondition{{Type: one(w, batchv1.JobSuspended,
					batchv1.JobFailed),
					Status: corev1.ConditionFalse, LastTransitionTime: w.around()}}, j.Status.Conditions...)
			})
		}},
		{4, "a Job is deleted", func(w *world) {
			if all := w.there("Job"); len(all) > 0 {
				w.merge(one(w, all...), "", fields{"metadata": fields{"finalizers": one(w, nil, []string{"a.b/c"})}})
				at := one(w, all...)
				w.drop(at, metav1.DeletePropagationBackground, nil)
				if w.in(2) {
					w.briefAt(at)
				}
			}
		}},
		{8, "time", func(w *world) { w.settle(one(w, time.Second, 5*time.Second, time.Minute, 2*time.Minute)) }},
	},
}

func (w *world) brief() { w.briefAt(place{"Job", "default", one(w, "a", "b", "c", "d")}) }

func (w *world) briefAt(at place) {
	w.make(at, `spec: {%s template: {metadata: {labels: {x: y}}, spec: {restartPolicy: Never,
  containers: [{name: c, image: i}]}}}`, one(w, "", "ttlSecondsAfterFinished: 0,", "ttlSecondsAfterFinished: 5,",
		"ttlSecondsAfterFinished: 5,", "ttlSecondsAfterFinished: 90,"))
}
