package conformance

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

var (
	deployments = appsv1.SchemeGroupVersion.WithKind("Deployment")
	cronJobs    = batchv1.SchemeGroupVersion.WithKind("CronJob")
	services    = corev1.SchemeGroupVersion.WithKind("Service")
	podKind     = corev1.SchemeGroupVersion.WithKind("Pod")
)

// rightStatus contains right operators that differ in what they write about their owners, and in what they wait for.
var rightStatus = []right{
	{"conditions with observedGeneration", by(observes), ""},
	{"status of the dependents", []host.Controller{reconciler("sums", gardens, living(sums), works),
		reconciler("work", works, living(finishes))}, ""},
	{"a default is written once", by(defaults), gardenOf("{size: 2}")},
	{"two phases", []host.Controller{reconciler("phases", gardens, living(phases), works)}, ""},
	{"omits empty fields", by(rewrites()), gardenOf("{size: 2, color: green, sealed: false}")},
	{"a value that only rises", []host.Controller{reconciler("rises", gardens, living(onlyRises), works)}, ""},
	{"only grows, and reports that", by(growsOnly), ""},
	{"a Deployment for each revision", []host.Controller{reconciler("revisions", gardens, living(scalesOldDown), deployments)}, ""},
	{"paused by annotation", by(pauses), ""},
	{"polls", by(polls), ""},
	{"counts its attempts", by(countsAttempts), ""},
	{"reports the size of a pool", by(reportsPool), ""},
	{"a bad edit is tried again", by(awaits), ""},
	{"a share of few values", by(shards), ""},
	{"a name that is taken is reported", []host.Controller{reportsTaken()}, ""},
	{"records Events", by(recordsEvents), ""},
	{"waits for a Secret", []host.Controller{needsSecret("secret", copiesColor)}, withSecret},
	{"waits for a Secret that is not there", []host.Controller{needsSecret("secret", copiesColor)},
		strings.Split(withSecret, "---")[0]},
	{"a quota refuses", by(refused), gardenOf("{size: 2, color: green}") + `---
apiVersion: v1
kind: ResourceQuota
metadata: {name: few, namespace: default}
spec: {hard: {count/configmaps: "3"}}
`},
	{"a port that only one owner can have", []host.Controller{reconciler("exposes", gardens, living(exposes), services)},
		gardenOf("{port: 30080}")},
	{"a CronJob", []host.Controller{reconciler("schedules", gardens, living(schedules), cronJobs)}, ""},
	{"a successor that must be ready", []host.Controller{reconciler("succeeds", gardens, living(succeeds), parts, works)}, ""},
	{"a Deployment that must be ready", []host.Controller{reconciler("moves", gardens, living(moves), parts, deployments)}, ""},
	{"a Secret that stays", []host.Controller{reconciler("stays", gardens, living(staysSecret), secrets, parts)}, ""},
	{"a Deployment and a Service", []host.Controller{reconciler("serves", gardens, living(serves), deployments, services)}, ""},
	{"a password made once", []host.Controller{reconciler("password", gardens, living(makesPassword), secrets)}, ""},
}

// observes reports in a condition whether all dependents exist, and for which generation of the owner.
func observes(a *at, owner *thing) error {
	if err := adoptsByName(a, owner); err != nil {
		return err
	}
	status := "False"
	if len(a.own(owner)) == len(wanted(owner)) {
		status = "True"
	}
	return a.ready(owner, status, "Counted")
}

// ready sets the condition Ready. Its transition time changes only with its status.
func (a *at) ready(owner *thing, status, reason string) error {
	next := map[string]any{"type": "Ready", "status": status, "reason": reason, "observedGeneration": owner.GetGeneration(),
		"lastTransitionTime": a.env.Now().UTC().Format(time.RFC3339)}
	was, _, _ := unstructured.NestedSlice(owner.Object, "status", "conditions")
	for _, c := range was {
		if c := c.(map[string]any); c["status"] == status {
			next["lastTransitionTime"] = c["lastTransitionTime"]
		}
	}
	return a.reports(owner, "conditions", []any{next})
}

// sums creates Works and reports how many of them are ready.
func sums(a *at, owner *thing) error {
	for _, name := range wanted(owner) {
		err := a.upsert(a.bare(owner, name), func(is *thing) error { return a.controls(owner, is) })
		if err != nil {
			return err
		}
	}
	if err := a.prune(owner); err != nil {
		return err
	}
	ready := int64(0)
	for _, w := range a.own(owner) {
		if stringAt(w, "status", "phase") == "Ready" {
			ready++
		}
	}
	return a.reports(owner, "ready", ready)
}

func finishes(a *at, work *thing) error { return a.reports(work, "phase", "Ready") }

// defaults writes the default of a field into the owner's spec, and continues when the field is set.
func defaults(a *at, owner *thing) error {
	if stringAt(owner, "spec", "color") != "" {
		return adoptsByName(a, owner)
	}
	if err := unstructured.SetNestedField(owner.Object, "green", "spec", "color"); err != nil {
		return err
	}
	return a.update(owner) // its event requeues the key
}

// phases creates a Work and then sets its status, which a create request cannot set.
func phases(a *at, owner *thing) error {
	w := a.cached(owner.GetName() + "-work")
	switch {
	case w == nil:
		return a.create(a.bare(owner, owner.GetName()+"-work"))
	case !metav1.IsControlledBy(w, owner):
		return taken(w)
	case stringAt(w, "status", "phase") != "" || w.GetDeletionTimestamp() != nil:
		return nil
	}
	return ignoreNotFound(a.patch(w, "status", types.MergePatchType, map[string]any{ // the deletion event requeues it
		"metadata": map[string]any{"resourceVersion": w.GetResourceVersion()},
		"status":   map[string]any{"phase": "Planned"}}, metav1.PatchOptions{}))
}

// onlyRises gives the owner's size to its dependent, but never reduces the size of the dependent. A condition reports this.
func onlyRises(a *at, owner *thing) error {
	size := intAt(owner, "spec", "size")
	sized := func(size int64) any {
		if size == 0 {
			return map[string]any{"unlimited": true}
		}
		return map[string]any{"size": size}
	}
	next := a.bare(owner, owner.GetName())
	next.Object["spec"] = sized(size)
	err := a.upsert(next, func(is *thing) error {
		is.Object["spec"] = sized(max(size, intAt(is, "spec", "size")))
		return mine(owner, is)
	})
	if err != nil {
		return err
	}
	condition := map[string]any{"type": "Applied", "status": "True", "reason": "Applied"}
	if is := a.cached(owner.GetName()); is != nil && intAt(is, "spec", "size") > size {
		condition = map[string]any{"type": "Applied", "status": "False", "reason": "CannotShrink"}
	}
	return a.reports(owner, "conditions", []any{condition})
}

// growsOnly never deletes a dependent. If there are more than the owner wants, a condition says so.
func growsOnly(a *at, owner *thing) error {
	for _, name := range wanted(owner) {
		if err := a.ensure(owner, a.dependent(owner, name)); err != nil {
			return err
		}
	}
	condition := map[string]any{"type": "Sized", "status": "True", "reason": "Sized"}
	if len(a.own(owner)) > len(wanted(owner)) {
		condition = map[string]any{"type": "Sized", "status": "False", "reason": "CannotShrink"}
	}
	return a.reports(owner, "conditions", []any{condition})
}

// scalesOldDown creates a Deployment for each color of the owner, and scales those of former colors to zero.
func scalesOldDown(a *at, owner *thing) error {
	current := a.deployment(owner, owner.GetName()+"-"+stringAt(owner, "spec", "color"))
	for _, d := range a.own(owner) {
		if d.GetName() == current.GetName() || intAt(d, "spec", "replicas") == 0 {
			continue
		}
		d.Object["spec"].(map[string]any)["replicas"] = int64(0)
		if err := a.update(d); err != nil {
			return err
		}
	}
	return a.upsert(current, func(is *thing) error {
		is.Object["spec"].(map[string]any)["replicas"] = int64(1)
		return mine(owner, is)
	})
}

// pauses does nothing as long as the owner has an annotation.
func pauses(a *at, owner *thing) error {
	if owner.GetAnnotations()["garden.example.com/paused"] == "true" {
		return nil
	}
	return adoptsByName(a, owner)
}

// polls corrects its dependents at each event, and every ten minutes.
func polls(a *at, owner *thing) error {
	if err := corrects(a, owner); err != nil {
		return err
	}
	a.env.Queue.AddAfter(key(owner), 10*time.Minute)
	return nil
}

// countsAttempts polls. It counts its attempts to reach a server that does not answer.
func countsAttempts(a *at, owner *thing) error {
	if err := polls(a, owner); err != nil {
		return err
	}
	if since := int64(a.env.Now().Sub(sim.Epoch) / (10 * time.Minute)); since > intAt(owner, "status", "attempts") {
		return a.reports(owner, "attempts", since)
	}
	return nil
}

// reportsPool reports how many objects there are, whoever owns them.
func reportsPool(a *at, owner *thing) error {
	if err := corrects(a, owner); err != nil {
		return err
	}
	return a.reports(owner, "poolSize", int64(len(a.seen(a.kind))))
}

// awaits retries as long as its owner has a wrong value.
func awaits(a *at, owner *thing) error {
	if color := stringAt(owner, "spec", "color"); color != "green" {
		return fmt.Errorf("there is no color %s", color)
	}
	return applies(a, owner)
}

// shards assigns each owner to the shard with the fewest owners in the cache. Two owners may have the same shard.
func shards(a *at, owner *thing) error {
	if stringAt(owner, "status", "shard") != "" {
		return nil
	}
	n := map[string]int{}
	for _, o := range a.seen(a.of) {
		n[stringAt(o, "status", "shard")]++
	}
	least := "shard-1"
	for _, shard := range []string{"shard-2", "shard-3"} {
		if n[shard] < n[least] {
			least = shard
		}
	}
	return a.reports(owner, "shard", least)
}

// reportsTaken creates one ConfigMap with its owner's name. If an object of another owner has the name, it reports this
// and does not change the object.
func reportsTaken() host.Controller {
	c := reconciler("fixed-name", gardens, living(func(a *at, owner *thing) error {
		d := a.cached(owner.GetName())
		switch {
		case d == nil:
			return ignoreAlreadyExists(a.create(a.dependent(owner, owner.GetName()))) // the cache does not have it yet
		case !metav1.IsControlledBy(d, owner):
			return a.reports(owner, "phase", "NameTaken")
		}
		return a.reports(owner, "phase", "Ready")
	}), parts)
	c.Routes = append(c.Routes, host.Route{Kind: parts, Do: func(_ host.View, e host.Event, out *host.Effect) {
		out.Keys = append(out.Keys, key(newest(e)))
	}})
	return c
}

// recordsEvents records each reconcile in an Event.
func recordsEvents(a *at, owner *thing) error {
	err := adoptsByName(a, owner)
	reason := "Synced"
	if err != nil {
		reason = "Failed"
	}
	e := object(corev1.SchemeGroupVersion.WithKind("Event"), owner.GetNamespace(),
		fmt.Sprintf("%s.%x", owner.GetName(), a.env.Now().UnixNano()))
	e.Object["reason"], e.Object["type"], e.Object["count"] = reason, "Normal", int64(1)
	e.Object["involvedObject"] = map[string]any{"apiVersion": owner.GetAPIVersion(), "kind": owner.GetKind(),
		"namespace": owner.GetNamespace(), "name": owner.GetName(), "uid": string(owner.GetUID())}
	_ = a.create(e) // Events are best effort
	return err
}

// specHash is an annotation with a hash of the object as it was sent. The server adds defaults to the object.
const specHash = "garden.example.com/spec-hash"

// serves creates a Deployment and a Service, and reports how many Pods are ready.
func serves(a *at, owner *thing) error {
	size := intAt(owner, "spec", "size")
	pods := map[string]any{"garden": owner.GetName()}
	d, s := a.bare(owner, owner.GetName()), a.bare(owner, owner.GetName())
	d.Object["spec"] = map[string]any{"replicas": size, "selector": map[string]any{"matchLabels": pods},
		"template": map[string]any{"metadata": map[string]any{"labels": pods}, "spec": map[string]any{"containers": []any{
			map[string]any{"name": "main", "image": "registry.example/" + stringAt(owner, "spec", "color")}}}}}
	s.SetGroupVersionKind(services)
	s.Object["spec"] = map[string]any{"selector": pods, "ports": []any{map[string]any{"port": int64(80)}}}
	for _, next := range []*thing{d, s} {
		next.SetAnnotations(map[string]string{specHash: hashOf(next)})
		err := a.upsert(next, func(is *thing) error {
			if is.GetDeletionTimestamp() == nil && is.GetAnnotations()[specHash] != next.GetAnnotations()[specHash] {
				is.Object["spec"].(map[string]any)["replicas"] = size
				is.Object["spec"].(map[string]any)["template"] = next.Object["spec"].(map[string]any)["template"]
				is.SetAnnotations(next.GetAnnotations())
			}
			return mine(owner, is)
		})
		if err != nil {
			return err
		}
	}
	ready := int64(0)
	if is := a.cached(d.GetName()); is != nil && metav1.IsControlledBy(is, owner) {
		ready = intAt(is, "status", "readyReplicas")
	}
	return a.reports(owner, "ready", ready)
}

// The Deployment controller runs beside an operator with Deployments, and sets the annotation
// deployment.kubernetes.io/revision. An operator that replaces all annotations fights with it.
func TestFightWithDeploymentController(t *testing.T) {
	erases := func(a *at, owner *thing) error {
		d := a.cachedAt(deployments, key(owner))
		if d == nil || len(d.GetAnnotations()) == 1 {
			return serves(a, owner)
		}
		d = d.DeepCopy()
		d.SetAnnotations(map[string]string{specHash: d.GetAnnotations()[specHash]})
		return a.update(d)
	}
	s := subjectOf(t, reconciler("erases", gardens, living(erases), deployments, services))
	got := verdicts(t, prepared(t, s), "one-owner")["never-fight"]
	if !strings.HasPrefix(got, "violated") {
		t.Errorf("never-fight gets %q", got)
	}
}

// refused reports that a quota refused a dependent, and retries after one minute.
func refused(a *at, owner *thing) error {
	status, reason := "True", "Created"
	for _, name := range wanted(owner) {
		err := a.ensure(owner, a.dependent(owner, name))
		if apierrors.IsForbidden(err) {
			a.env.Queue.AddAfter(key(owner), time.Minute)
			status, reason = "False", "QuotaExceeded"
		} else if ignoreAlreadyExists(err) != nil {
			return err
		}
	}
	if err := a.prune(owner); err != nil {
		return err
	}
	return a.ready(owner, status, reason)
}

// The server allocates the addresses of a Service. The operator does not choose them.
func TestAllocatedAddressesAreNotChosen(t *testing.T) {
	plan := prepared(t, subjectOf(t, reconciler("serves", gardens, living(serves), deployments, services)))
	shows(t, plan, "creates     Service with a ControllerRef\n")
	if strings.Contains(plan.String(), "chooses") {
		t.Errorf("the operator chooses what the server allocates:\n%s", plan)
	}
}

// An operator that lists objects in its status does not choose their names, even if these differ for each owner.
func TestListedObjectsAreNotChosen(t *testing.T) {
	plan := prepared(t, subjectOf(t, by(listsParts)...))
	shows(t, plan, "writes      Garden/status\n")
	if strings.Contains(plan.String(), "chooses") {
		t.Errorf("the operator chooses what it lists:\n%s", plan)
	}
}

// listsParts creates a dependent that is named for the UID of its owner, and lists it in the status.
func listsParts(a *at, owner *thing) error {
	d := a.dependent(owner, "part-"+string(owner.GetUID()))
	if err := a.ensure(owner, d); err != nil {
		return err
	}
	return a.reports(owner, "parts", []any{d.GetName()})
}

// opens creates a Deployment whose Pods have a readiness gate, and sets a condition of this type on each Pod.
func opens(gate, condition string) idiom {
	return func(a *at, owner *thing) error {
		pods := map[string]any{ownerLabel: owner.GetName()}
		d := a.bare(owner, owner.GetName())
		d.Object["spec"] = map[string]any{"replicas": intAt(owner, "spec", "size"), "selector": map[string]any{"matchLabels": pods},
			"template": map[string]any{"metadata": map[string]any{"labels": pods}, "spec": map[string]any{
				"readinessGates": []any{map[string]any{"conditionType": gate}},
				"containers":     []any{map[string]any{"name": "main", "image": "registry.example/main"}}}}}
		if a.cached(d.GetName()) == nil {
			if err := ignoreAlreadyExists(a.create(d)); err != nil {
				return err
			}
		}
		for _, p := range a.seen(podKind) {
			conditions, _, _ := unstructured.NestedSlice(p.Object, "status", "conditions")
			if p.GetLabels()[ownerLabel] != owner.GetName() || slices.ContainsFunc(conditions, func(c any) bool {
				return c.(map[string]any)["type"] == condition
			}) {
				continue
			}
			set := map[string]any{"status": map[string]any{"conditions": []any{map[string]any{"type": condition, "status": "True"}}}}
			err := a.patch(p, "status", types.StrategicMergePatchType, set, metav1.PatchOptions{})
			if ignoreNotFound(err) != nil {
				return err
			}
		}
		return nil
	}
}

// An operator may set the conditions that the readiness gates of a Pod name. Other conditions belong to the kubelet.
func TestReadinessGates(t *testing.T) {
	const gate = "garden.example.com/open"
	for condition, want := range map[string]string{gate: "held:", "garden.example.com/other": "violated: in one-owner"} {
		s := subjectOf(t, reconciler("opens", gardens, living(opens(gate, condition)), deployments, podKind))
		if got := verdicts(t, prepared(t, s), "one-owner")["dont-interfere"]; got != want {
			t.Errorf("%s: dont-interfere is %q, want %q", condition, got, want)
		}
	}
}

// succeeds creates a ConfigMap for a green owner, and a Work for others. It deletes the ConfigMap when the Work is done.
func succeeds(a *at, owner *thing) error {
	if stringAt(owner, "spec", "color") == "green" {
		return a.ensure(owner, a.bare(owner, owner.GetName()))
	}
	work := a.bare(owner, owner.GetName())
	work.SetGroupVersionKind(works)
	if err := a.ensure(owner, work); err != nil {
		return err
	}
	if was := a.cachedAt(works, key(work)); was == nil || stringAt(was, "status", "phase") != "Done" {
		return nil
	}
	return a.removeAll(a.own(owner))
}

// moves creates a ConfigMap for a green owner, and a Deployment for others. It deletes the ConfigMap when the Deployment is
// ready.
func moves(a *at, owner *thing) error {
	if stringAt(owner, "spec", "color") == "green" {
		return a.ensure(owner, a.bare(owner, owner.GetName()))
	}
	d := a.deployment(owner, owner.GetName())
	if err := a.ensure(owner, d); err != nil {
		return err
	}
	if is := a.cachedAt(deployments, key(d)); is == nil || intAt(is, "status", "readyReplicas") == 0 {
		return nil
	}
	return a.removeAll(a.own(owner))
}

// deployment returns a Deployment of an owner with one replica.
func (a *at) deployment(owner *thing, name string) *thing {
	d, pods := a.bare(owner, name), map[string]any{"garden": name}
	d.SetGroupVersionKind(deployments)
	d.Object["spec"] = map[string]any{"replicas": int64(1), "selector": map[string]any{"matchLabels": pods},
		"template": map[string]any{"metadata": map[string]any{"labels": pods}, "spec": map[string]any{"containers": []any{
			map[string]any{"name": "main", "image": "registry.example/main"}}}}}
	return d
}

// staysSecret creates a Secret for a green owner, and a ConfigMap for others. It keeps the Secret.
func staysSecret(a *at, owner *thing) error {
	next := a.bare(owner, owner.GetName())
	if stringAt(owner, "spec", "color") != "green" {
		next.SetGroupVersionKind(parts)
	}
	return a.ensure(owner, next)
}

// exposes creates a Service with the port of the owner's spec. The server refuses a port that another Service has.
func exposes(a *at, owner *thing) error {
	next := a.bare(owner, owner.GetName())
	next.Object["spec"] = map[string]any{"type": "NodePort", "ports": []any{
		map[string]any{"port": int64(80), "nodePort": intAt(owner, "spec", "port")}}}
	return a.upsert(next, func(is *thing) error {
		if err := mine(owner, is); err != nil {
			return err
		}
		port := is.Object["spec"].(map[string]any)["ports"].([]any)[0].(map[string]any)
		port["nodePort"] = intAt(owner, "spec", "port")
		return nil
	})
}

// schedules creates a CronJob that starts a Job once a year.
func schedules(a *at, owner *thing) error {
	next := a.bare(owner, owner.GetName())
	next.Object["spec"] = map[string]any{"schedule": "0 3 1 1 *", "jobTemplate": map[string]any{"spec": map[string]any{
		"template": map[string]any{"spec": map[string]any{"restartPolicy": "Never", "containers": []any{
			map[string]any{"name": "main", "image": "registry.example/main"}}}}}}}
	return a.ensure(owner, next)
}
