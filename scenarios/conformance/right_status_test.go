package conformance

import (
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim/host"
)

// rightStatus are right operators, by what they write about their owners, and what they wait for.
var rightStatus = []right{
	{"conditions with observedGeneration", by(observes), ""},
	{"status of the dependents", []host.Controller{reconciler("sums", gardens, sums, works),
		reconciler("work", works, finishes)}, ""},
	{"a default is written once", by(defaults), "apiVersion: garden.example.com/v1\nkind: Garden\nmetadata: {name: web}\n" +
		"spec: {size: 2}\n"},
	{"two phases", []host.Controller{reconciler("phases", gardens, phases, works)}, ""},
	{"paused by annotation", by(pauses), ""},
	{"polls", by(polls), ""},
	{"waits for a Secret", []host.Controller{needsSecret(false)}, withSecret},
	{"waits for a Secret, live", []host.Controller{needsSecret(true)}, withSecret},
	{"waits for a Secret that is not there", []host.Controller{needsSecret(false)}, strings.Split(withSecret, "---")[0]},
	{"records its intent first", []host.Controller{reconciler("intent", gardens, recordsIntent, plots)}, ""},
	{"a quota refuses", by(refused), `
apiVersion: garden.example.com/v1
kind: Garden
metadata: {name: web}
spec: {size: 2, color: green}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: few, namespace: default}
spec: {hard: {count/configmaps: "3"}}
`},
}

// observes says in a condition whether all dependents are there, and of which generation of the owner that is.
func observes(a *at, owner *thing) error {
	if err := adoptsByName(a, owner); err != nil || ended(owner) {
		return err
	}
	status := "False"
	if len(a.own(owner)) == len(wanted(owner)) {
		status = "True"
	}
	return a.condition(owner, "Ready", status, "Counted")
}

// condition sets a condition of the owner's status. When it changed last stays, where its status does.
func (a *at) condition(owner *thing, kind, status, reason string) error {
	was, _, _ := unstructured.NestedSlice(owner.Object, "status", "conditions")
	next := map[string]any{"type": kind, "status": status, "reason": reason, "observedGeneration": owner.GetGeneration(),
		"lastTransitionTime": a.env.Now().UTC().Format(time.RFC3339)}
	all := []any{next}
	for _, c := range was {
		c := c.(map[string]any)
		if c["type"] != kind {
			all = append(all, c)
			continue
		}
		if c["status"] == status {
			next["lastTransitionTime"] = c["lastTransitionTime"]
			if c["reason"] == reason && c["observedGeneration"] == next["observedGeneration"] {
				return nil
			}
		}
	}
	c := owner.DeepCopy()
	if err := unstructured.SetNestedSlice(c.Object, all, "status", "conditions"); err != nil {
		return err
	}
	_, err := a.env.Client.UpdateStatus(a, c)
	return err
}

// sums keeps Works, and says how many of them are ready.
func sums(a *at, owner *thing) error {
	if ended(owner) {
		return nil
	}
	for _, name := range wanted(owner) {
		next := a.dependent(owner, name)
		delete(next.Object, "data")
		if err := a.upsert(next, func(is *thing) error { return a.controls(owner, is) }); err != nil {
			return err
		}
	}
	if err := a.prune(owner); err != nil {
		return err
	}
	ready := int64(0)
	for _, w := range a.own(owner) {
		if phase, _, _ := unstructured.NestedString(w.Object, "status", "phase"); phase == "Ready" {
			ready++
		}
	}
	return a.reports(owner, "ready", ready)
}

// finishes makes Works ready.
func finishes(a *at, work *thing) error {
	if ended(work) {
		return nil
	}
	return a.reports(work, "phase", "Ready")
}

// defaults writes the default of a field into the owner's spec, and goes on once it is there.
func defaults(a *at, owner *thing) error {
	if ended(owner) {
		return nil
	}
	if color, _, _ := unstructured.NestedString(owner.Object, "spec", "color"); color == "" {
		if err := unstructured.SetNestedField(owner.Object, "green", "spec", "color"); err != nil {
			return err
		}
		return a.update(owner) // whose event comes back here
	}
	return adoptsByName(a, owner)
}

// phases creates a Work, and then sets its status, which a create cannot.
func phases(a *at, owner *thing) error {
	if ended(owner) {
		return nil
	}
	name := owner.GetName() + "-work"
	w := a.cached(name)
	if w == nil {
		next := a.dependent(owner, name)
		delete(next.Object, "data")
		return a.create(next)
	}
	if !metav1.IsControlledBy(w, owner) {
		return taken(w)
	}
	if phase, _, _ := unstructured.NestedString(w.Object, "status", "phase"); phase != "" || w.GetDeletionTimestamp() != nil {
		return nil
	}
	_, err := a.env.Client.Patch(a, works, w.GetNamespace(), name, host.Patch{Type: types.MergePatchType, Subresource: "status",
		Data: fmt.Appendf(nil, `{"metadata":{"resourceVersion":%q},"status":{"phase":"Planned"}}`, w.GetResourceVersion())})
	if apierrors.IsNotFound(err) {
		return nil // its deletion comes back here
	}
	return err
}

// pauses does nothing while an annotation says so.
func pauses(a *at, owner *thing) error {
	if ended(owner) || owner.GetAnnotations()["garden.example.com/paused"] == "true" {
		return nil
	}
	return adoptsByName(a, owner)
}

// polls looks at its dependents on the server every ten minutes, beside its events.
func polls(a *at, owner *thing) error {
	if ended(owner) {
		return nil
	}
	if err := corrects(a, owner); err != nil {
		return err
	}
	a.env.Queue.AddAfter(key(owner), 10*time.Minute)
	return nil
}

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

// needsSecret creates its dependents once the Secret that its owner names is there, by the cache, where the Secret's
// events wake the owners that name it, or live, where it looks again every minute.
func needsSecret(live bool) host.Controller {
	named := func(owner *thing) string {
		name, _, _ := unstructured.NestedString(owner.Object, "spec", "secret")
		return name
	}
	sync := func(a *at, owner *thing) error {
		if ended(owner) || named(owner) == "" {
			return nil
		}
		_, there, _ := a.env.Informer(secrets).GetIndexer().GetByKey("default/" + named(owner))
		if live {
			s, err := a.live(secrets, owner.GetNamespace(), named(owner))
			if there = s != nil; err != nil {
				return err
			}
		}
		if !there {
			if live {
				a.env.Queue.AddAfter(key(owner), time.Minute)
			}
			return a.condition(owner, "Ready", "False", "SecretMissing")
		}
		if err := adoptsByName(a, owner); err != nil {
			return err
		}
		return a.condition(owner, "Ready", "True", "SecretFound")
	}
	if live {
		return reconciler("secret", gardens, func(a *at, owner *thing) error { return sync(a, owner) }, parts)
	}
	c := reconciler("secret", gardens, sync, parts, secrets)
	c.Routes = append(c.Routes, host.Route{Kind: secrets, Do: func(v host.View, e host.Event, out *host.Effect) {
		v.Each(gardens, "", func(o runtime.Object) bool {
			if named(o.(*thing)) == newest(e).(metav1.Object).GetName() {
				out.Keys = append(out.Keys, key(o))
			}
			return true
		})
	}})
	return c
}

// recordsIntent notes in the status which plot it is about to create, holds its owner by a finalizer, and deletes what
// the status names when the owner is deleted.
func recordsIntent(a *at, owner *thing) error {
	noted, _, _ := unstructured.NestedString(owner.Object, "status", "plot")
	if owner.GetDeletionTimestamp() != nil {
		if !held(owner) {
			return nil
		}
		if noted != "" {
			if err := a.env.Client.Delete(a, plots, "", noted, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
				return err
			}
		}
		owner.SetFinalizers(without(owner, finished))
		return a.update(owner)
	}
	if is, err := a.holds(owner); !is {
		return err
	}
	if noted == "" {
		return a.reports(owner, "plot", "plot-"+string(owner.GetUID())) // whose event comes back here
	}
	if is, err := a.same(owner); err != nil || !is {
		return err
	}
	p := &thing{Object: map[string]any{}}
	p.SetGroupVersionKind(plots)
	p.SetName(noted)
	if err := a.create(p); !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}

// refused says in its status that the server refused a dependent, and tries again a minute later.
func refused(a *at, owner *thing) error {
	if ended(owner) {
		return nil
	}
	status, reason := "True", "Created"
	for _, name := range wanted(owner) {
		d := a.cached(name)
		if d != nil && !metav1.IsControlledBy(d, owner) {
			return taken(d)
		}
		if d != nil {
			continue
		}
		err := a.create(a.dependent(owner, name))
		if apierrors.IsForbidden(err) {
			a.env.Queue.AddAfter(key(owner), time.Minute)
			status, reason = "False", "QuotaExceeded"
		} else if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	if err := a.prune(owner); err != nil {
		return err
	}
	return a.condition(owner, "Ready", status, reason)
}
