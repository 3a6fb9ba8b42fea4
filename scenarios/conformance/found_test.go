package conformance

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/controllers"
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// Quiet runs show the behavior of an operator that declares nothing.
func TestFound(t *testing.T) {
	want := `widget, as quiet runs show it:
  works on    example.com/v1 Widget
  watches     ConfigMap, Widget
  creates     ConfigMap with a ControllerRef
  writes      Widget/status
  adopts      objects with the labels example.com/widget=(metadata.name)
  releases    objects whose labels no longer match
  follows     spec.size: 2 -> 3, with 3 dependents in place of 2
  follows     spec.color: green -> greenx
  follows     the removal of spec.color
`
	if d := cmp.Diff(want, prepared(t, sample(widget(true, wrong{}))).String()); d != "" {
		t.Error(d)
	}
}

// undeclared returns a controller of this module without its declarations, and with them.
func undeclared(t *testing.T, name string) (undeclared, whole host.Controller) {
	for _, c := range controllers.Builtin() {
		if c.Name == name && c.Era == "current" {
			return host.Controller{Name: c.Name, Era: c.Era, For: c.For, Routes: c.Routes, New: c.New,
				Workers: c.Workers}, c
		}
	}
	t.Fatalf("there is no %s@current", name)
	return
}

// stored returns the object that the server stores for a manifest.
func stored[T runtime.Object](t *testing.T, manifest string, obj T) T {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(manifest), obj); err != nil {
		t.Fatal(err)
	}
	server := fakeapi.New(fakeapi.Options{})
	any(obj).(metav1.Object).SetNamespace("default")
	resp, _ := server.Do(sim.Epoch,
		&fakeapi.Request{Verb: fakeapi.Create, Kind: server.KindOf(obj), Namespace: "default", Object: obj})
	if resp.Err != nil {
		t.Fatal(resp.Err)
	}
	return resp.Object.(T)
}

// The ReplicaSet controller passes under the profile upstream without its declarations. Quiet runs find the same facts.
func TestReplicaSet(t *testing.T) {
	bare, whole := undeclared(t, "replicaset")
	replicaSet := strings.Replace(deployment, "kind: Deployment", "kind: ReplicaSet", 1)
	given := Subject{Controller: bare, Samples: []string{sampleFile(t, replicaSet)}, Profile: law.Upstream}
	c := prepared(t, given).Controller
	if !slices.Equal(c.Owns, whole.Owns) {
		t.Errorf("it owns %v, and declares %v", c.Owns, whole.Owns)
	}
	if !slices.Equal(c.Contract.Finalizers, whole.Contract.Finalizers) {
		t.Errorf("its finalizers are %v, and it declares %v", c.Contract.Finalizers, whole.Contract.Finalizers)
	}
	for _, n := range []string{"1", "2", "3"} {
		rs := stored(t, strings.Replace(replicaSet, "replicas: 2", "replicas: "+n, 1), &appsv1.ReplicaSet{})
		if got, want := c.Contract.Replicas(rs), whole.Contract.Replicas(rs); got != want {
			t.Errorf("of %s it wants %d, and declares %d", n, got, want)
		}
		if got, want := c.Contract.Selector(rs).String(), whole.Contract.Selector(rs).String(); got != want {
			t.Errorf("it selects %s, and declares %s", got, want)
		}
	}
	given.Schedules = 10
	Test(t, given)
}

// A StatefulSet adopts revisions by labels, but pods also by name. So the plan reports that it adopts, but no
// selector. Revisions do not count as replicas, because their events enqueue no set.
func TestFoundOfStatefulSet(t *testing.T) {
	bare, whole := undeclared(t, "statefulset")
	plan := prepared(t, Subject{Controller: bare, Samples: []string{sampleFile(t, statefulSet)}, With: []string{"kubelet"}})
	shows(t, plan, "  adopts      yes, but its selector is not known\n", "  names       ControllerRevision, Pod\n")
	if got := plan.Controller.Contract.Unwatched; !slices.Equal(got, whole.Contract.Unwatched) || len(got) != 1 {
		t.Errorf("no event wakes it on %v, and it declares %v", got, whole.Contract.Unwatched)
	}
	if n := plan.Controller.Contract.Replicas(stored(t, statefulSet, &appsv1.StatefulSet{})); n != 2 {
		t.Errorf("it wants %d", n)
	}
}

// A Deployment also owns ReplicaSets of older revisions, which are scaled to 0. Its number of replicas is still one.
func TestOlderRevisionsDoNotCount(t *testing.T) {
	bare, _ := undeclared(t, "deployment")
	plan := prepared(t, Subject{Controller: bare, Samples: []string{sampleFile(t, deployment)}, With: []string{"replicaset", "kubelet"}})
	if replicas := plan.Controller.Contract.Replicas; replicas == nil || replicas(stored(t, deployment, &appsv1.Deployment{})) != 1 {
		t.Fatalf("it is not known to want one ReplicaSet:\n%s", plan)
	}
	c := placed(t, plan, "reference-taken-away")
	c.Schedules = 100 // in some schedules, the second Deployment adopts the ReplicaSet in addition to its own
	simtest.Check(t, c)
}

// A controller owns the kinds that it declares, and the kinds that it controls in quiet runs.
func TestFoundBesideDeclared(t *testing.T) {
	c := widget(false, wrong{})
	c.Owns = []schema.GroupVersionKind{secrets}
	if got := prepared(t, sample(c)).Controller.Owns; !slices.Equal(got, []schema.GroupVersionKind{secrets, parts}) {
		t.Errorf("it owns %v", got)
	}
}

// If a controller creates a dependent only once, no case expects that a deleted dependent is created again. If the
// dependent is created again after a restart, the cases expect it, and the profile says so.
func TestCreatedOnce(t *testing.T) {
	for _, x := range []struct {
		of    Subject
		shown string
		skip  bool
	}{
		{subjectOf(t, by(requests)...), "creates once ConfigMap: one that is deleted after the sample has settled is not created again\n", true},
		{sample(widget(false, wrong{recalls: true})),
			"notices     no deletion of a ConfigMap: it is created again after a restart\n", false},
	} {
		plan := prepared(t, x.of)
		shows(t, plan, x.shown)
		for _, name := range []string{"dependent-deleted", "reference-taken-away"} {
			if c := caseOf(plan, name); (c.Skip != "") != x.skip {
				t.Errorf("%s: skipped for %q", name, c.Skip)
			}
		}
	}
}

// repeats creates a Job whenever there is none. The Job is deleted 100 seconds after its end.
func repeats(a *at, owner *thing) error {
	job := a.bare(owner, owner.GetName())
	job.Object["spec"] = map[string]any{"ttlSecondsAfterFinished": int64(100), "template": map[string]any{"spec": map[string]any{
		"restartPolicy": "Never", "containers": []any{map[string]any{"name": "main", "image": "main"}}}}}
	return ignoreAlreadyExists(a.ensure(owner, job))
}

// A Job of another owner may be deleted because its time to live is over.
func TestJobsThatExpire(t *testing.T) {
	s := subjectOf(t, reconciler("expires", gardens, living(repeats), jobs))
	s.With = []string{"job", "kubelet", "ttlafterfinished"}
	finds(t, prepared(t, s), "somebody-elses", "")
}

// Jobs can be copied, although the server generates a different selector for each. Jobs end, because the controllers
// that complete them run too.
func TestJobs(t *testing.T) {
	s := subjectOf(t, reconciler("runs", gardens, living(runs), jobs))
	s.Schedules = 5
	plan := prepared(t, s)
	shows(t, plan, "creates     Job with a ControllerRef", "  beside      job, kubelet, gc\n")
	if strings.Contains(plan.String(), "whether it adopts a Job") {
		t.Errorf("it is shown as\n%s", plan)
	}
	for _, c := range plan.Cases {
		if strings.Contains(c.Skip, "no copy of a Job can be made") {
			t.Errorf("%s is skipped: %s", c.Name, c.Skip)
		}
	}
	world, ended := plan.Cases[0].World(nil), 0
	world.Settled = func(user host.Client) error {
		list, err := user.List(context.Background(), jobs, "", metav1.ListOptions{})
		for _, o := range list {
			if o.(*batchv1.Job).Status.Succeeded == 1 {
				ended++
			}
		}
		return err
	}
	x, err := world.Explore(t.Context(), "jobs", scenarios.ExploreOptions{Schedules: 5, Workers: 1})
	if err != nil || len(x.Failures) > 0 || ended < 5 {
		t.Errorf("%d Jobs ended in 5 schedules: %v, %v", ended, err, x)
	}
}

var autoscalers = schema.GroupVersionKind{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"}

// scalesAlone creates a Deployment with an autoscaler. With resets, it sets the number of replicas again at each reconcile.
func scalesAlone(resets bool, replicas int64) idiom {
	return func(a *at, owner *thing) error {
		hpa := a.bare(owner, owner.GetName())
		hpa.SetGroupVersionKind(autoscalers)
		hpa.Object["spec"] = map[string]any{"minReplicas": int64(2), "maxReplicas": int64(3),
			"scaleTargetRef": map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": owner.GetName()}}
		if err := a.ensure(owner, hpa); err != nil {
			return err
		}
		next := a.bare(owner, owner.GetName())
		labels := map[string]any{"garden": owner.GetName()}
		next.Object["spec"] = map[string]any{"replicas": replicas, "selector": map[string]any{"matchLabels": labels},
			"template": map[string]any{"metadata": map[string]any{"labels": labels}, "spec": map[string]any{
				"containers": []any{map[string]any{"name": "main", "image": "registry.example/main"}}}}}
		return a.upsert(next, func(is *thing) error {
			if resets {
				is.Object["spec"].(map[string]any)["replicas"] = replicas
			}
			return mine(owner, is)
		})
	}
}

// The replicas that an autoscaler sets must stay. If an owner is scaled to 0, its autoscaler does nothing.
func TestAutoscaled(t *testing.T) {
	for _, x := range []struct {
		resets   bool
		replicas int64
		law      string
	}{{false, 2, ""}, {true, 2, "expect"}, {true, 3, "expect"}, {true, 0, "skip"}} {
		s := subjectOf(t, reconciler("scales", gardens, living(scalesAlone(x.resets, x.replicas)), deployments, autoscalers))
		plan := prepared(t, s)
		if x.law != "skip" {
			finds(t, plan, "scale", x.law)
		} else if caseOf(plan, "scale").Skip == "" {
			t.Errorf("it is scaled to %d: scale is tried", x.replicas)
		}
	}
}
