package controllers_test

import (
	"fmt"
	goruntime "runtime"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/threelaws/threelaws/controllers"
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
)

// BenchmarkBusyCluster runs every controller of the table in its newest era for five minutes of virtual time. The
// cluster has five nodes, and twenty objects of every reconciled kind. All processes run, and all laws are evaluated.
func BenchmarkBusyCluster(b *testing.B) {
	steps, pods, before := 0, 0, mallocs()
	for b.Loop() {
		c := trial.New(trial.Options{Choices: sim.NewSeed(1)})
		c.World.History.Forget = 1000
		for i := range 5 {
			node(b, c, fmt.Sprintf("node-%d", i+1))
		}
		for i := range 20 {
			for _, obj := range busy(fmt.Sprintf("%02d", i)) {
				store(b, c, obj)
			}
		}
		for _, ctl := range newest() {
			c.Start(ctl.Name, ctl)
		}
		if how := c.Settle(trial.Limits{For: 5 * time.Minute, Steps: 10_000_000}); !how.Settled {
			b.Fatalf("not settled after %d steps", how.Steps)
		}
		if broken := c.Broken(); broken != nil {
			b.Fatal(broken)
		}
		pods = c.Server.Len(c.Server.KindNamed("pod"))
		steps += c.World.Steps()
		c.Stop()
	}
	if want := 20 * (3 + 3 + 2 + 3 + 5 + 2); pods != want {
		b.Fatalf("%d pods, want %d", pods, want)
	}
	b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
	b.ReportMetric(float64(mallocs()-before)/float64(steps), "allocs/step")
	b.ReportMetric(float64(steps)/float64(b.N), "steps/run")
}

// node creates a ready node, without the taint that the server adds to a new one.
func node(b testing.TB, t *trial.Trial, name string) {
	b.Helper()
	store(b, t, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
	if _, err := t.Request(&fakeapi.Request{Verb: fakeapi.Patch, Kind: t.Server.KindNamed("node"), Name: name,
		PatchType: types.MergePatchType, Patch: []byte(`{"spec":{"taints":null}}`)}); err != nil {
		b.Fatal(err)
	}
}

func store(b testing.TB, t *trial.Trial, obj runtime.Object) {
	b.Helper()
	m := obj.(metav1.Object)
	if _, err := t.Request(&fakeapi.Request{Verb: fakeapi.Create, Kind: t.Server.KindOf(obj),
		Namespace: m.GetNamespace(), Name: m.GetName(), Object: obj}); err != nil {
		b.Fatal(err)
	}
}

func mallocs() uint64 {
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	return m.Mallocs
}

// newest lists the controllers of the table in their newest eras, and the kubelet that runs scheduled pods.
func newest() []host.Controller {
	var all []host.Controller
	for _, c := range slices.Backward(controllers.Builtin()) {
		if !slices.ContainsFunc(all, func(d host.Controller) bool { return d.Name == c.Name }) {
			all = append(all, c)
		}
	}
	slices.Reverse(all)
	return all
}

// busy returns one object of every kind. None selects another's pods.
func busy(n string) []runtime.Object {
	two, three, paused := int32(2), int32(3), true
	meta := func(kind string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "default", Name: kind + "-" + n}
	}
	job := podTemplate("job-" + n)
	job.Spec.RestartPolicy = corev1.RestartPolicyNever
	return []runtime.Object{
		replicaSet("rs-"+n, "rs-"+n, 3),
		replicationController("rc-"+n, "rc-"+n, 3),
		&appsv1.Deployment{ObjectMeta: meta("deploy"), Spec: appsv1.DeploymentSpec{Replicas: &three,
			Selector: selects("deploy-" + n), Template: podTemplate("deploy-" + n)}},
		&appsv1.StatefulSet{ObjectMeta: meta("sts"), Spec: appsv1.StatefulSetSpec{Replicas: &two,
			Selector: selects("sts-" + n), ServiceName: "x", Template: podTemplate("sts-" + n)}},
		&appsv1.DaemonSet{ObjectMeta: meta("ds"),
			Spec: appsv1.DaemonSetSpec{Selector: selects("ds-" + n), Template: podTemplate("ds-" + n)}},
		&batchv1.Job{ObjectMeta: meta("job"),
			Spec: batchv1.JobSpec{Parallelism: &two, Completions: &two, Template: job}},
		&batchv1.CronJob{ObjectMeta: meta("cron"), Spec: batchv1.CronJobSpec{Schedule: "* * * * *", Suspend: &paused,
			JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: job}}}},
		&corev1.Service{ObjectMeta: meta("svc"), Spec: corev1.ServiceSpec{Selector: labelled("rc-" + n),
			Ports: []corev1.ServicePort{{Port: 80}}}},
		&policyv1.PodDisruptionBudget{ObjectMeta: meta("pdb"), Spec: policyv1.PodDisruptionBudgetSpec{
			Selector: selects("sts-" + n), MinAvailable: &intstr.IntOrString{IntVal: 1}}},
		&corev1.ResourceQuota{ObjectMeta: meta("quota")},
	}
}
