package conformance

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim/host"
)

var (
	jobs      = batchv1.SchemeGroupVersion.WithKind("Job")
	revisions = appsv1.SchemeGroupVersion.WithKind("ControllerRevision")
)

// rightNames contains right operators with different ways to name and replace dependents.
var rightNames = []right{
	{"named by a field", by(namedByField), ""},
	{"created once", by(requests), ""},
	{"blue and green", by(switches), ""},
	{"immutable dependents are replaced", by(replaces), ""},
	{"a Job for each spec", []host.Controller{reconciler("runs", gardens, living(runs), jobs)}, ""},
	{"a Job before the rest", []host.Controller{reconciler("prepares", gardens, living(prepares), jobs, parts)}, ""},
	{"revisions up to a limit", []host.Controller{reconciler("revises", gardens, living(revises), revisions)}, ""},
	{"a Secret that the owner names", []host.Controller{retainsPassword(secrets)}, namesSecret},
	{"an object for all owners", by(monitors), ""},
	{"an object for all owners that each names", by(monitors), gardenOf("{size: 2, uses: default-monitoring}")},
	{"one owner at a time", []host.Controller{wakesAll("active", living(oldestIsActive), gardens, parts)}, ""},
	{"first come, first served", []host.Controller{wakesAll("first", finalized(firstServed, releases), parts)}, gardenOf("{size: 2, color: green}")},
	{"a name in all namespaces, first come", []host.Controller{reconciler("claims", gardens,
		finalized(claimsPlotOfName, removesLabelled(plots)), plots)}, ""},
	{"an error for a name that another owner has", by(exportsOwn), gardenOf("{size: 2, color: green}")},
	{"counted by a label", by(countsByLabel), ""},
	{"generated names and expectations", []host.Controller{remembering("generates", generates(true), parts)}, ""},
}

// namedByField creates its dependent with the name in its owner's spec, like k8s.io/sample-controller. Two owners with
// the same name in their specs want the same object.
func namedByField(a *at, owner *thing) error {
	name := stringAt(owner, "spec", "color")
	if name == "" {
		return nil
	}
	return a.ensure(owner, a.dependent(owner, name))
}

// requests creates one dependent for each color of its owner, and records the color in the status. It never recreates
// them.
func requests(a *at, owner *thing) error {
	color := stringAt(owner, "spec", "color")
	if stringAt(owner, "status", "requested") == color {
		return nil
	}
	if err := a.ensure(owner, a.dependent(owner, owner.GetName()+"-"+color)); err != nil {
		return err
	}
	return a.reports(owner, "requested", color)
}

func hashOf(owner *thing) string {
	h := fnv.New32a()
	fmt.Fprint(h, owner.Object["spec"])
	return strconv.FormatUint(uint64(h.Sum32()), 36)
}

// switches creates a dependent for a new spec and reports it as active. Then it deletes the previous one.
func switches(a *at, owner *thing) error {
	next := a.dependent(owner, owner.GetName()+"-"+hashOf(owner))
	switch d := a.cached(next.GetName()); {
	case d == nil:
		return a.create(next) // its event requeues the key
	case !metav1.IsControlledBy(d, owner):
		return taken(d)
	case d.GetDeletionTimestamp() != nil:
		return nil
	case stringAt(owner, "status", "active") != next.GetName():
		return a.reports(owner, "active", next.GetName())
	}
	return a.pruneBut(owner, next.GetName())
}

// replaces deletes an immutable dependent that is outdated, and recreates it when it no longer exists.
func replaces(a *at, owner *thing) error {
	for _, name := range wanted(owner) {
		next := a.dependent(owner, name)
		next.Object["immutable"] = true
		var err error
		switch d := a.cached(name); {
		case d == nil:
			err = a.create(next)
		case !metav1.IsControlledBy(d, owner):
			return taken(d)
		case d.GetDeletionTimestamp() == nil && !alike(d, next):
			err = a.remove(d)
		}
		if err != nil {
			return err
		}
	}
	return a.prune(owner)
}

// runs creates a Job for each generation of its owner. It deletes earlier Jobs and their Pods. The default policy for
// Jobs would orphan the Pods.
func runs(a *at, owner *thing) error {
	background := metav1.DeletePropagationBackground
	for _, old := range a.own(owner) {
		uid := old.GetUID()
		if n, _ := strconv.ParseInt(old.GetLabels()["generation"], 10, 64); n >= owner.GetGeneration() ||
			old.GetDeletionTimestamp() != nil {
			continue
		}
		err := a.env.Client.Delete(a, a.kind, old.GetNamespace(), old.GetName(),
			metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: &background})
		if ignoreNotFound(err) != nil {
			return err
		}
	}
	job := a.bare(owner, fmt.Sprintf("%s-%d", owner.GetName(), owner.GetGeneration()))
	job.SetLabels(map[string]string{"generation": fmt.Sprint(owner.GetGeneration())})
	job.Object["spec"] = map[string]any{"template": map[string]any{"spec": map[string]any{"restartPolicy": "Never",
		"containers": []any{map[string]any{"name": "main", "image": "main"}}}}}
	return ignoreAlreadyExists(a.ensure(owner, job))
}

// prepares runs a Job, and creates a ConfigMap when the Job has succeeded.
func prepares(a *at, owner *thing) error {
	job := a.bare(owner, owner.GetName())
	job.Object["spec"] = map[string]any{"template": map[string]any{"spec": map[string]any{"restartPolicy": "Never",
		"containers": []any{map[string]any{"name": "main", "image": "main"}}}}}
	if err := a.ensure(owner, job); err != nil {
		return err
	}
	if is := a.cached(owner.GetName()); is == nil || intAt(is, "status", "succeeded") == 0 {
		return nil
	}
	a.kind = parts
	return a.fills(owner, a.dependent(owner, owner.GetName()))
}

// revises keeps a ControllerRevision for each of the last two specs of its owner. If there already is one for the
// current spec, it becomes the newest.
func revises(a *at, owner *thing) error {
	all := a.own(owner)
	number := func(r *thing) int64 { return intAt(r, "revision") }
	slices.SortFunc(all, func(x, y *thing) int { return int(number(x) - number(y)) })
	last := int64(0)
	if len(all) > 0 {
		last = number(all[len(all)-1])
	}
	next := a.bare(owner, owner.GetName()+"-"+hashOf(owner))
	next.Object["data"] = map[string]any{"spec": owner.Object["spec"]}
	switch d := a.cached(next.GetName()); {
	case d == nil:
		next.Object["revision"] = last + 1
		return a.create(next)
	case !metav1.IsControlledBy(d, owner):
		return taken(d)
	case number(d) != last:
		d.Object["revision"] = last + 1
		return a.update(d)
	}
	for _, old := range all[:max(len(all)-2, 0)] {
		if old.GetDeletionTimestamp() == nil {
			if err := a.remove(old); err != nil {
				return err
			}
		}
	}
	return nil
}

// countsByLabel reads the dependents with its owner's label from the server, and then creates or deletes one. A dependent
// without the label stays until its owner is deleted.
func countsByLabel(a *at, owner *thing) error {
	list, err := a.list(a.kind, owner.GetNamespace(), ownerLabel+"="+owner.GetName())
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(d *thing) bool {
		return d.GetDeletionTimestamp() != nil || !metav1.IsControlledBy(d, owner)
	})
	switch size := int(intAt(owner, "spec", "size")); {
	case len(list) < size:
		d := a.dependent(owner, "")
		d.SetGenerateName(owner.GetName() + "-")
		d.SetLabels(map[string]string{ownerLabel: owner.GetName()})
		err = a.create(d)
	case len(list) > size && size >= 0:
		err = a.remove(list[len(list)-1])
	default:
		return nil
	}
	a.env.Queue.AddAfter(key(owner), time.Millisecond)
	return err
}

// generates lets the server generate the names of its dependents. It remembers a created dependent until its cache
// contains it, for at most five minutes. Without remembers it is ray-project/kuberay#715: it creates more than the
// owner wants, and deletes them later.
func generates(remembers bool) func(*host.Env) idiom {
	return func(env *host.Env) idiom {
		made := map[string]map[string]time.Time{} // by the owner's UID and the dependent's name
		return func(a *at, owner *thing) error {
			uid := string(owner.GetUID())
			if made[uid] == nil {
				made[uid] = map[string]time.Time{}
			}
			own := slices.DeleteFunc(a.own(owner), func(d *thing) bool { return d.GetDeletionTimestamp() != nil })
			for _, d := range own {
				delete(made[uid], d.GetName())
			}
			for name, since := range made[uid] {
				if env.Now().Sub(since) >= 5*time.Minute {
					delete(made[uid], name)
				}
			}
			if remembers && len(made[uid]) > 0 {
				env.Queue.AddAfter(key(owner), 5*time.Minute)
				return nil
			}
			size := int(max(intAt(owner, "spec", "size"), 0))
			if len(own) > size {
				slices.Reverse(own) // the last one first
				return a.removeAll(own[:len(own)-size])
			}
			for range size - len(own) {
				d := a.dependent(owner, "")
				d.SetGenerateName(owner.GetName() + "-")
				o, err := env.Client.Create(a, a.typed(d))
				if err != nil {
					return err
				}
				made[uid][o.(metav1.Object).GetName()] = env.Now()
			}
			return nil
		}
	}
}

var secrets = corev1.SchemeGroupVersion.WithKind("Secret")

const withSecret = `
apiVersion: garden.example.com/v1
kind: Garden
metadata: {name: web}
spec: {size: 1, color: green, secret: token}
---
apiVersion: v1
kind: Secret
metadata: {name: token, namespace: default}
stringData: {token: abc}
`

// monitors creates its dependents, and one object without a reference that all owners use.
func monitors(a *at, owner *thing) error {
	next := object(parts, owner.GetNamespace(), "default-monitoring")
	next.Object["data"] = map[string]any{"queries": "none"}
	if err := ignoreAlreadyExists(a.upsert(next, func(*thing) error { return nil })); err != nil {
		return err
	}
	return adoptsByName(a, owner)
}

const namesSecret = `
apiVersion: garden.example.com/v1
kind: Garden
metadata: {name: web}
spec: {color: green, secret: web-password}
`

// retainsPassword creates an object with a password under the name in its owner's spec, unless the object exists. Like
// a Secret of cert-manager, the object has no reference, and outlives the owner. Another object has a ControllerRef.
func retainsPassword(kind schema.GroupVersionKind) host.Controller {
	return reconciler("retains", gardens, living(func(a *at, owner *thing) error {
		if secretOf(owner) == "" {
			return nil
		}
		next := object(kind, owner.GetNamespace(), secretOf(owner))
		next.Object["data"] = map[string]any{"password": "YWJj"}
		if err := ignoreAlreadyExists(a.upsert(next, func(*thing) error { return nil })); err != nil {
			return err
		}
		return ignoreAlreadyExists(a.ensure(owner, a.bare(owner, owner.GetName()+"-token")))
	}), kind)
}

// An owner that names a ConfigMap is no reason to create the ConfigMap without a reference.
func TestNamedSecret(t *testing.T) {
	for kind, want := range map[schema.GroupVersionKind]string{secrets: "held", parts: "violated"} {
		s := subjectOf(t, retainsPassword(kind))
		s.Samples = []string{sampleFile(t, namesSecret)}
		if got := verdicts(t, prepared(t, s), "one-owner")["take-ownership"]; !strings.HasPrefix(got, want) {
			t.Errorf("a %s gets %q, and not %q", kind.Kind, got, want)
		}
	}
}

func secretOf(owner *thing) string { return stringAt(owner, "spec", "secret") }

// needsSecret waits for the Secret that its owner names. Events of the Secret enqueue its owners.
func needsSecret(name string, keep func(a *at, owner, secret *thing) error) host.Controller {
	sync := living(func(a *at, owner *thing) error {
		if secretOf(owner) == "" {
			return nil
		}
		secret := a.cachedAt(secrets, owner.GetNamespace()+"/"+secretOf(owner))
		if secret == nil {
			return a.ready(owner, "False", "SecretMissing")
		}
		if err := keep(a, owner, secret); err != nil {
			return err
		}
		return a.ready(owner, "True", "SecretFound")
	})
	c := reconciler(name, gardens, sync, parts, secrets)
	c.Routes = append(c.Routes, host.Route{Kind: secrets, Do: func(v host.View, e host.Event, out *host.Effect) {
		v.Each(gardens, "", func(o runtime.Object) bool {
			if secretOf(o.(*thing)) == newest(e).(metav1.Object).GetName() {
				out.Keys = append(out.Keys, key(o))
			}
			return true
		})
	}})
	return c
}

// wakesAll returns a controller whose owners compete for one dependent. Each event of these kinds enqueues all owners.
func wakesAll(name string, sync idiom, kinds ...schema.GroupVersionKind) host.Controller {
	c := reconciler(name, gardens, sync, parts)
	for _, kind := range kinds {
		c.Routes = append(c.Routes, host.Route{Kind: kind, Do: func(v host.View, _ host.Event, out *host.Effect) {
			v.Each(gardens, "", func(o runtime.Object) bool {
				out.Keys = append(out.Keys, key(o))
				return true
			})
		}})
	}
	return c
}

// oldestIsActive creates a dependent for the oldest owner. The other owners stand by.
func oldestIsActive(a *at, owner *thing) error {
	all, err := a.list(gardens, owner.GetNamespace(), "")
	if err != nil {
		return err
	}
	for _, o := range all {
		was, is := o.GetCreationTimestamp(), owner.GetCreationTimestamp()
		if was.Before(&is) || was.Equal(&is) && o.GetName() < owner.GetName() {
			if err := a.removeAll(a.own(owner)); err != nil {
				return err
			}
			return a.ready(owner, "False", "Standby")
		}
	}
	if err := a.ensure(owner, a.dependent(owner, "active")); err != nil {
		return err // an object of the previous owner, or of nobody, has the name
	}
	return a.ready(owner, "True", "Active")
}

// firstServed creates one dependent for the owner that comes first, and keeps its data up to date.
func firstServed(a *at, owner *thing) error {
	next := a.dependent(owner, "only")
	if is := a.cached(next.GetName()); is != nil && metav1.GetControllerOf(is) != nil && !metav1.IsControlledBy(is, owner) {
		return a.ready(owner, "False", "Taken")
	}
	if err := a.fills(owner, next); err != nil {
		return err
	}
	return a.ready(owner, "True", "Served")
}

func releases(a *at, owner *thing) error { return a.removeAll(a.own(owner)) }

func copiesColor(a *at, owner, _ *thing) error { return adoptsByName(a, owner) }

// password returns a different password at each call.
func (a *at) password(owner *thing) string {
	c := owner.DeepCopy()
	c.Object["spec"] = map[string]any{"seed": string(owner.GetUID()) + owner.GetResourceVersion() + a.env.Now().String()}
	return hashOf(c)
}

// makesPassword creates a Secret with a password, which it never changes.
func makesPassword(a *at, owner *thing) error {
	next := a.bare(owner, owner.GetName()+"-password")
	next.Object["stringData"] = map[string]any{"password": a.password(owner)}
	return ignoreAlreadyExists(a.ensure(owner, next))
}

// sharesWithSecret makes a Secret a second owner of its ConfigMap, and copies the Secret's data.
func sharesWithSecret(a *at, owner, secret *thing) error {
	ref := metav1.OwnerReference{APIVersion: "v1", Kind: "Secret", Name: secret.GetName(), UID: secret.GetUID()}
	next := a.bare(owner, owner.GetName()+"-config")
	next.Object["data"] = map[string]any{"token": fmt.Sprint(secret.Object["data"])}
	next.SetOwnerReferences(append(next.GetOwnerReferences(), ref))
	return a.upsert(next, func(is *thing) error {
		if !metav1.IsControlledBy(is, owner) {
			return a.controls(owner, is) // an adoption changes only the reference; its event requeues the key
		}
		is.Object["data"] = next.Object["data"]
		return refersAlso(is, ref)
	})
}
