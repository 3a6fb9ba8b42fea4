package controllers_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// world is the world in which a controller is tested, in any era.
type world struct {
	object func(name, app string, n int32) runtime.Object // with a label app for its children; wants n of them
	with   string                                         // a controller of the same eras that it needs
	// size scales object a to n children. It is nil if one child is created each minute.
	size func(c *cluster, n int)
	// rival, if set, creates the second of two overlapping objects. Otherwise object creates it.
	rival func(name, app string, n int32) runtime.Object
	apart string // why two owners cannot overlap
	// nodes is the number of nodes that run pods. With label, an object wants a pod on each labelled node.
	nodes int
	label bool
}

// eraWorlds has a world for every controller with several eras. TestEras fails if one is missing.
var eraWorlds = map[string]world{
	"replicaset": {
		object: func(name, app string, n int32) runtime.Object { return replicaSet(name, app, n) },
		with:   "replication", size: replicas("ReplicaSet"),
		rival: func(name, app string, n int32) runtime.Object { return replicationController(name, app, n) },
	},
	"replication": {
		object: func(name, app string, n int32) runtime.Object { return replicationController(name, app, n) },
		with:   "replicaset", size: replicas("ReplicationController"),
		rival: func(name, app string, n int32) runtime.Object { return replicaSet(name, app, n) },
	},
	"deployment": {
		object: func(name, app string, n int32) runtime.Object {
			never := int32(math.MaxInt32) // the deadline's requeue after ten minutes would outlast the expectations
			return &appsv1.Deployment{ObjectMeta: named(name), Spec: appsv1.DeploymentSpec{Replicas: &n,
				Selector: selects(app), Template: podTemplate(app), ProgressDeadlineSeconds: &never}}
		},
		with: "replicaset", size: replicas("Deployment"), nodes: 1,
	},
	"statefulset": {
		object: func(name, app string, n int32) runtime.Object {
			return &appsv1.StatefulSet{ObjectMeta: named(name), Spec: appsv1.StatefulSetSpec{Replicas: &n,
				Selector: selects(app), ServiceName: name, Template: podTemplate(app),
				// Pods from before revisions have none; a rolling update would replace them.
				UpdateStrategy: appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType}}}
		},
		size: replicas("StatefulSet"), nodes: 1,
		apart: "names decide whose a pod is",
	},
	"daemonset": {
		object: func(name, app string, _ int32) runtime.Object {
			t := podTemplate(app)
			t.Spec.NodeSelector = map[string]string{"of-" + name: "yes"}
			return &appsv1.DaemonSet{ObjectMeta: named(name),
				Spec: appsv1.DaemonSetSpec{Selector: selects(app), Template: t,
					UpdateStrategy: appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}}}
		},
		size: func(c *cluster, n int) { c.label("a", n) }, nodes: 4, label: true,
	},
	"job": {
		object: func(name, app string, n int32) runtime.Object {
			t := podTemplate(app)
			t.Spec.RestartPolicy = corev1.RestartPolicyNever
			completions, manual := int32(9), true
			return &batchv1.Job{ObjectMeta: named(name), Spec: batchv1.JobSpec{Parallelism: &n,
				Completions: &completions, ManualSelector: &manual, Selector: selects(app), Template: t}}
		},
		size: func(c *cluster, n int) { c.patch("Job", "a", fmt.Sprintf(`{"spec":{"parallelism":%d}}`, n)) },
	},
	"cronjob": {
		object: func(name, app string, _ int32) runtime.Object {
			t := podTemplate(app)
			t.Spec.RestartPolicy = corev1.RestartPolicyNever
			return &batchv1.CronJob{ObjectMeta: named(name),
				Spec: batchv1.CronJobSpec{Schedule: "* * * * *",
					JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: t}}}}
		},
		apart: "a CronJob selects nothing",
	},
}

func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "default", Name: name}
}

func selects(app string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: labelled(app)}
}

// replicas returns a function that scales object a of a kind.
func replicas(kind string) func(*cluster, int) {
	return func(c *cluster, n int) { c.patch(kind, "a", fmt.Sprintf(`{"spec":{"replicas":%d}}`, n)) }
}

// label labels the first n nodes for a DaemonSet, and no others.
func (c *cluster) label(set string, n int) {
	for i := range len(c.objects("node")) {
		value := `null`
		if i < n {
			value = `"yes"`
		}
		c.patch("Node", fmt.Sprint("node-", i), fmt.Sprintf(`{"metadata":{"labels":{"of-%s":%s}}}`, set, value))
	}
}

// resync imitates the resyncs of informers every few hours: each ReplicaSet is reconciled again, after its
// expectations have expired.
func (c *cluster) resync() {
	c.t.Helper()
	c.World.Clock.Advance(6 * time.Minute)
	for _, rs := range c.objects("replicaset") {
		name, _, _ := strings.Cut(rs, " <")
		c.patch("ReplicaSet", name, `{"metadata":{"annotations":{"looked":"again"}}}`)
	}
}

// answering maps each pod that is not terminating to its controller, or to that controller's controller, or to "".
func (c *cluster) answering() map[string]string {
	above := map[string]string{}
	for _, rs := range c.objects("replicaset") {
		if name, owner, owned := strings.Cut(rs, " <"); owned {
			above[name] = owner
		}
	}
	of := map[string]string{}
	for _, pod := range c.objects("pod") {
		if strings.HasSuffix(pod, " going") {
			continue
		}
		name, owner, _ := strings.Cut(pod, " <")
		if above[owner] != "" {
			owner = above[owner]
		}
		of[name] = owner
	}
	return of
}

// families counts the pods that are not terminating by their result of answering.
func (c *cluster) families() map[string]int {
	n := map[string]int{}
	for _, owner := range c.answering() {
		n[owner]++
	}
	return n
}

// podOf returns the first pod of an owner that is not terminating.
func (c *cluster) podOf(owner string) string {
	c.t.Helper()
	of := c.answering()
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if of[name] == owner {
			return name
		}
	}
	c.t.Fatalf("%s has no pod; last:\n%s", owner, c.tail(60))
	return ""
}

// sets counts the ReplicaSets, and those that want pods.
func (c *cluster) sets() (all, used int) {
	c.Server.Each(c.Server.KindNamed("replicaset"), func(obj runtime.Object) bool {
		if all++; *obj.(*appsv1.ReplicaSet).Spec.Replicas > 0 {
			used++
		}
		return true
	})
	return all, used
}

// size returns the number of pods of all families.
func size(families map[string]int) (n int) {
	for _, pods := range families {
		n += pods
	}
	return n
}

// unowned counts children without an owner.
func (c *cluster) unowned() (n int) {
	for _, kind := range []string{"pod", "replicaset"} {
		for _, name := range c.objects(kind) {
			if !strings.Contains(name, " <") {
				n++
			}
		}
	}
	return n
}
