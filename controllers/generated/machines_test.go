package generated_test

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/controllers/internal/podgc"
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/host"

	corev1 "k8s.io/api/core/v1"
)

// podCollectors are worlds of the collector of pods: nodes that are out of service, or gone,
// or come back, and more pods that have ended than may stay.
var podCollectors = subject{
	name:  "podgc",
	apart: true, most: 5 * time.Minute,
	begin: (*world).machines, acts: machineActs,
	made: func(w *world) host.Controller {
		return podgc.New(podgc.Options{Threshold: one(w, 1, 2, 3, 0, -1)})
	},
}

// claimKeepers are worlds of the controller that keeps claims which pods use.
var claimKeepers = subject{
	name:  "persistentvolumeclaim-protection",
	apart: true, most: 5 * time.Minute,
	begin: func(w *world) {
		w.machines()
		for range 1 + w.n(3) {
			w.claim()
		}
	},
	acts: append([]act{
		{12, "a claim", (*world).claim},
		{14, "a claim goes", func(w *world) {
			if all := w.there("PersistentVolumeClaim"); len(all) > 0 {
				w.drop(one(w, all...), "", nil)
			}
		}},
		{5, "a claim's finalizers", func(w *world) {
			if all := w.there("PersistentVolumeClaim"); len(all) > 0 {
				w.merge(one(w, all...), "", fields{"metadata": fields{"finalizers": one(w, nil,
					[]string{"a.b/c", "kubernetes.io/pvc-protection"}, []string{"kubernetes.io/pvc-protection"})}})
			}
		}},
	}, machineActs...),
}

var machineActs = []act{
	{14, "a pod", (*world).load},
	{12, "a pod's status", (*world).loadStatus},
	{7, "a pod is deleted", func(w *world) {
		if all := w.there("Pod"); len(all) > 0 {
			w.drop(one(w, all...), "", one(w, nil, nil, new(int64)))
		}
	}},
	{3, "a pod is replaced", func(w *world) {
		if all := w.there("Pod"); len(all) > 0 {
			at := one(w, all...)
			w.drop(at, "", new(int64))
			w.loadAt(at)
		}
	}},
	{5, "a rush", (*world).rush},
	{3, "a node is out of service", (*world).outOfService},
	{3, "a pod is changed", func(w *world) {
		if all := w.there("Pod"); len(all) > 0 {
			w.merge(one(w, all...), "", one(w, fields{"metadata": fields{"finalizers": one(w, nil, []string{"a.b/c"})}},
				fields{"metadata": fields{"labels": fields{"n": fmt.Sprint(w.n(9))}}},
				fields{"spec": fields{"schedulingGates": nil}}))
		}
	}},
	{3, "a pod is put on a node", func(w *world) {
		if all := w.there("Pod"); len(all) > 0 {
			at := one(w, all...)
			w.ask(at, fakeapi.Request{Verb: fakeapi.Create, Subresource: "binding", Object: &corev1.Binding{
				ObjectMeta: metav1.ObjectMeta{Name: at.name, Namespace: at.namespace},
				Target:     corev1.ObjectReference{Kind: "Node", Name: one(w, "n0", "n1", "n2")}}})
		}
	}},
	{4, "a node", func(w *world) { w.machine(w.n(4)) }},
	{5, "a node goes", func(w *world) { w.drop(place{"Node", "", fmt.Sprintf("n%d", w.n(4))}, "", nil) }},
	{10, "a node is changed", (*world).remachine},
	{8, "time", func(w *world) {
		w.settle(one(w, time.Second, 19*time.Second, 20*time.Second, 21*time.Second, 41*time.Second, time.Minute))
	}},
}

// machines are nodes, and pods on them.
func (w *world) machines() {
	for i := range 1 + w.n(3) {
		w.machine(i)
	}
	for range w.n(7) {
		w.load()
	}
}

func (w *world) machine(i int) {
	at := place{"Node", "", fmt.Sprintf("n%d", i)}
	w.make(at, "metadata: {labels: {%s}}\nspec: {%s}",
		one(w, "disk: ssd", "disk: hdd", ""), one(w, "", "", "unschedulable: true"))
	if !w.in(4) {
		w.merge(at, "", fields{"spec": fields{"taints": w.taints()}})
		w.merge(at, "status", fields{"status": fields{"allocatable": one(w, nil, nil,
			fields{"pods": fmt.Sprint(w.n(4))}),
			"conditions": w.readiness()}})
	}
}

func (w *world) taints() []fields {
	return one(w, nil, nil, nil, []fields{{"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"}},
		[]fields{{"key": "node.kubernetes.io/out-of-service", "value": "x", "effect": "NoSchedule"}},
		[]fields{{"key": "example.com/no", "value": "x", "effect": "NoSchedule"}},
		[]fields{{"key": "example.com/rather", "value": "x", "effect": "PreferNoSchedule"}})
}

func (w *world) readiness() []fields {
	return one(w, nil, []fields{{"type": "Ready", "status": "True"}}, []fields{{"type": "Ready", "status": "True"}},
		[]fields{{"type": "Ready", "status": "False"}},
		[]fields{{"type": "DiskPressure", "status": "True"}, {"type": "Ready", "status": "Unknown"}})
}

// remachine changes a node.
func (w *world) remachine() {
	at := place{"Node", "", fmt.Sprintf("n%d", w.n(3))}
	switch w.n(5) {
	case 0:
		w.merge(at, "", fields{"spec": fields{"taints": w.taints()}})
	case 1:
		w.merge(at, "", fields{"spec": fields{"unschedulable": some(w, true, false)}})
	case 2:
		w.merge(at, "", fields{"metadata": fields{"labels": fields{"disk": some(w, "ssd", "hdd")}}})
	case 3:
		w.merge(at, "status", fields{"status": fields{"conditions": w.readiness()}})
	default:
		w.merge(at, "status", fields{"status": fields{"allocatable": fields{"pods": fmt.Sprint(w.n(5))}}})
	}
}

func (w *world) load() {
	w.loadAt(place{"Pod", one(w, "default", "default", "kube-system"), fmt.Sprintf("p%d", w.n(7))})
}

// loadAt is a pod, of one sort or another.
func (w *world) loadAt(at place) {
	spec := []string{"containers: [{name: c, image: i}, {name: d, image: j}]"}
	more := func(n int, list ...string) {
		if w.in(n) {
			spec = append(spec, one(w, list...))
		}
	}
	more(2, "nodeName: n0", "nodeName: n1", "nodeName: n1", "nodeName: n9")
	more(3, "nodeSelector: {disk: ssd}", "nodeSelector: {disk: none}", "schedulerName: other",
		"schedulingGates: [{name: wait}]")
	more(3, "tolerations: [{operator: Exists}]", "tolerations: [{key: example.com/no, operator: Equal, value: x}]",
		"tolerations: [{key: example.com/no, value: y}]")
	more(2, "restartPolicy: Never", "restartPolicy: OnFailure", "restartPolicy: Always")
	more(3, "terminationGracePeriodSeconds: 0", "terminationGracePeriodSeconds: 5")
	more(2, "volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]",
		"volumes: [{name: e, emptyDir: {}}, {name: v, persistentVolumeClaim: {claimName: more}}]",
		"volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], "+
			"resources: {requests: {storage: 1Gi}}}}}}]")
	w.make(at, "metadata: {annotations: {%s}}\nspec:\n  %s", one(w, "", "", "threelaws.example/exit-code: '1'",
		"threelaws.example/exit-code: '0'", "threelaws.example/exit-code: x"), strings.Join(spec, "\n  "))
	if w.in(3) {
		w.statusOf(at)
	}
}

func (w *world) loadStatus() {
	if all := w.there("Pod"); len(all) > 0 {
		w.statusOf(one(w, all...))
	}
}

func (w *world) statusOf(at place) {
	status := fields{"phase": one(w, "Running", "Running", "Succeeded", "Failed", "Failed", "Pending", "Unknown")}
	if w.in(4) || status["phase"] == "Failed" && w.in(2) {
		status["reason"] = "Evicted"
	}
	if w.in(3) {
		status["conditions"] = []fields{{"type": one(w, "Ready", "DisruptionTarget", "DisruptionTarget"),
			"status": one(w, "True", "False"), "lastTransitionTime": w.ago(time.Minute)}}
	}
	w.merge(at, "status", fields{"status": status})
}

// rush has pods come and go while the controller is at work, and does not see it.
func (w *world) rush() {
	for range 1 + w.n(3) {
		w.load()
	}
	w.step(w.n(8))
	k := w.Server.KindNamed("Pod")
	_ = w.Do("hold Pod", func() error { w.process().Hold(k); return nil })
	for range 1 + w.n(3) {
		if all := w.there("Pod"); len(all) > 0 {
			at := one(w, all...)
			w.drop(at, "", one(w, nil, new(int64), new(int64)))
			if w.in(2) {
				w.loadAt(at)
			}
		}
		w.step(w.n(3))
	}
	w.settle(one(w, 0, time.Second))
	_ = w.Do("release", func() error { w.process().Release(k); return nil })
}

// outOfService has a node be declared out of service, and what was on it deleted.
func (w *world) outOfService() {
	name := fmt.Sprintf("n%d", w.n(2))
	at := place{"Node", "", name}
	w.merge(at, "", fields{"spec": fields{"taints": []fields{
		{"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"}}}})
	w.merge(at, "status", fields{"status": fields{"conditions": []fields{{"type": "Ready", "status": "False"}}}})
	for _, p := range objects[*corev1.Pod](w, "Pod") {
		if p.Spec.NodeName == name && !w.in(4) {
			w.drop(place{"Pod", p.Namespace, p.Name}, "", nil)
		}
	}
}

// claim is a claim of storage: of its own, or one that came with a pod.
func (w *world) claim() {
	at := place{"PersistentVolumeClaim", one(w, "default", "default", "kube-system"), one(w, "data", "data", "more")}
	var refs []metav1.OwnerReference
	if all := w.there("Pod"); len(all) > 0 && w.in(2) {
		pod := one(w, all...)
		yes := true
		at.namespace, at.name = pod.namespace, pod.name+"-v"
		refs = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.name, UID: w.at(pod).GetUID(),
			Controller: some(w, yes, yes)}}
		if w.in(5) {
			refs[0].UID = "0f0f0f0f-0000-4000-8000-000000000000"
		}
	}
	w.make(at, `metadata: {ownerReferences: %s, finalizers: [%s]}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}`, encode(refs), one(w, "", "", "a.b/c"))
}
