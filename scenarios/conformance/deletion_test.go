package conformance

import (
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/internal/check"
	"github.com/threelaws/threelaws/sim/host"
)

// deletion is an operator that shows a mistake after the deletion of an owner, or a right operator that is similar.
type deletion struct {
	name       string
	controller host.Controller
	sample     string
	where, law string // the case and the law that find the mistake; "" for all cases and for none; "skip" for a skipped case
}

const unpaused = `{size: 1, color: green, paused: false, protected: false}`

var deletions = []deletion{
	{"prometheus-operator/prometheus-operator#8339", pausing("paused", keepsPlot(true), nothing, nothing), gardenOf(unpaused), "edited-and-deleted",
		"nothing-stays-terminating"},
	{"paused, but not for the deletion", pausing("paused", keepsPlot(true), nothing, keepsPlot(true)), gardenOf(unpaused), "", ""},
	{"paused, and its status says so", pausing("paused", keepsPlot(true), nothing, reportsIt), gardenOf(unpaused), "", ""},
	{"paused, and an Event says so", pausing("paused", keepsPlot(true), nothing, tells), gardenOf(unpaused), "", ""},
	{"paused, and an Event said so before", pausing("paused", keepsPlot(true), tells, nothing), gardenOf(unpaused), "", ""},
	{"protected from deletion", pausing("protected", keepsPlot(true), nothing, nothing), gardenOf(unpaused), "", ""},

	{"ironcore-dev/network-operator#95", reconciler("guards", gardens, guards(false)), withSecret, "edited-and-deleted", "expect"},
	{"paused, and the Secret keeps a finalizer", pausing("paused", guards(true), nothing, nothing),
		strings.Replace(withSecret, "size: 1", "paused: false", 1), "edited-and-deleted", "nothing-stays-terminating"},
	{"the finalizer on each Secret is removed", reconciler("guards", gardens, guards(true)), withSecret, "", ""},
	{"a Secret keeps the finalizer until its deletion", guardsForEver(), withSecret, "", ""},

	{"splunk/splunk-operator#569", needsSecret("binds", binds), withSecret, "edited-and-deleted", "expect"},
	{"a Secret that is marked for the operator", needsSecret("binds", binds), strings.Replace(withSecret, "{name: token,",
		"{name: token, labels: {garden.example.com/bound: ''},", 1), "edited-and-deleted", "skip"},
	{"an adopted Secret", needsSecret("imports", importsSecret), withSecret, "edited-and-deleted", "skip"},
	{"a Secret that is created if it is missing", reconciler("creates", gardens, living(createsSecret), parts, secrets), withSecret,
		"edited-and-deleted", "skip"},
	{"a Secret that the sample does not name", reconciler("binds", gardens, living(bindsNamed(secrets, "token")), parts, secrets),
		strings.Replace(withSecret, ", secret: token", "", 1), "edited-and-deleted", "skip"},
	{"a Service", reconciler("binds", gardens, living(bindsNamed(services, "tap")), parts, services), gardenOf("{size: 1, tap: tap}") + `
---
apiVersion: v1
kind: Service
metadata: {name: tap, namespace: default}
spec: {clusterIP: None, selector: {garden: web}}
`, "edited-and-deleted", "skip"},
	{"a Secret that it only reads", needsSecret("reads", copiesColor), withSecret, "edited-and-deleted", "skip"},
	{"Secrets of its own too", needsSecret("binds", bindsAll), withSecret, "edited-and-deleted", "skip"},

	{"kubevirtbmc/kubevirtbmc#116", reconciler("first", gardens, living(firstOwns(nil)), parts, secrets), gardenOf("{size: 1}"),
		"deleted/background", "expect"},
	{"its status says that another owner is the first", reconciler("first", gardens, living(firstOwns(reportsIt)), parts, secrets),
		gardenOf("{size: 1}"), "", ""},

	{"another owner creates it again", woken(reconciler("first", gardens, living(firstOwns(nil)), parts, secrets)), gardenOf("{size: 1}"),
		"deleted/background", ""},
	{"what only a single owner gets", reconciler("single", gardens, living(single), parts, secrets), gardenOf("{size: 1}"),
		"deleted/background", ""},
	{"the first owner leaves what it shared", reconciler("first", gardens, finalized(firstOwns(nil), leavesCommon), parts, secrets),
		gardenOf("{size: 1}"), "deleted/background", ""},

	{"VictoriaMetrics/operator#1171", by(annotatesAll(true, false))[0], gardenOf("{size: 1, marks: {team: blue}}"), "removed", "expect"},
	{"annotations are removed", by(annotatesAll(true, true))[0], gardenOf("{size: 1, marks: {team: blue}}"), "", ""},
	{"an annotation that says what was once", by(annotatesAll(false, false))[0], gardenOf("{size: 1, marks: {team: blue}}"), "", ""},
}

// What the user created, and what another owner needs, must be there after the deletion of an owner, and the owner must go.
func TestDeletions(t *testing.T) {
	for _, x := range deletions {
		t.Run(x.name, func(t *testing.T) {
			s := subjectOf(t, x.controller)
			s.Samples = []string{sampleFile(t, x.sample)}
			switch x.law {
			case "":
				if x.where == "" {
					s.Schedules = 8
					Test(t, s)
					return
				}
				plan := prepared(t, s)
				if finds(t, plan, x.where, ""); !placed(t, plan, x.where).SameEnd {
					t.Errorf("the end of %s is not compared", x.where)
				}
			case "skip":
				if plan := prepared(t, s); caseOf(plan, x.where).Skip == "" {
					t.Errorf("%s is tried:\n%s", x.where, plan)
				}
			default:
				plan := prepared(t, s)
				found := finds(t, plan, x.where, x.law)
				if len(found.Failures) != 1 || placed(t, plan, x.where).SameEnd {
					t.Errorf("violated: %q", laws(found))
				}
				if world := placed(t, plan, x.where, check.Tried{Name: x.where, X: found}); x.law != "expect" {
					again, err := world.Explore(t.Context(), x.where)
					if err != nil || len(again.Failures) > 0 {
						t.Errorf("without the law: %v, %v", err, again)
					}
				}
			}
		})
	}
}

func reportsIt(a *at, owner *thing) error { return a.reports(owner, "phase", "Waiting") }

func tells(a *at, owner *thing) error {
	e := object(corev1.SchemeGroupVersion.WithKind("Event"), owner.GetNamespace(), owner.GetName()+".waits")
	e.Object["type"], e.Object["reason"] = "Warning", "Waiting"
	e.Object["involvedObject"] = map[string]any{"kind": owner.GetKind(), "namespace": owner.GetNamespace(), "name": owner.GetName()}
	return ignoreAlreadyExists(a.create(e))
}

// pausing returns an operator that calls does. If the owner has the field, it calls alive, or for a terminating owner
// instead. Its updates leave out a field that is false.
func pausing(field string, does, alive, instead idiom) host.Controller {
	return reconciler("pauses", gardens, func(a *at, owner *thing) error {
		if owner == nil {
			return nil
		}
		paused, _, _ := unstructured.NestedBool(owner.Object, "spec", field)
		switch {
		case !paused:
			unstructured.RemoveNestedField(owner.Object, "spec", field)
			return does(a, owner)
		case owner.GetDeletionTimestamp() == nil:
			return alive(a, owner)
		}
		return instead(a, owner)
	}, plots)
}

func nothing(*at, *thing) error { return nil }

// guards puts a finalizer on the Secret that its owner names. After the owner's deletion, it removes the finalizer from the
// Secret that the owner names then, or with all, from each Secret that no owner names.
func guards(all bool) idiom {
	return finalized(guardsSecret, func(a *at, owner *thing) error {
		list, err := a.list(secrets, owner.GetNamespace(), "")
		if err != nil {
			return err
		}
		for _, s := range list {
			if s.GetName() != secretOf(owner) && !all || !slices.Contains(s.GetFinalizers(), inUse) {
				continue
			}
			if used, err := a.uses(s); err != nil || used {
				return err
			}
			s.SetFinalizers(without(s, inUse))
			if err := a.update(s); ignoreNotFound(err) != nil {
				return err
			}
		}
		return nil
	})
}

// guardsForEver returns an operator that removes its finalizer only from terminating Secrets that no owner names.
func guardsForEver() host.Controller {
	return reconciler("guards", gardens, func(a *at, owner *thing) error {
		for _, s := range a.seen(secrets) {
			if s.GetDeletionTimestamp() == nil || !slices.Contains(s.GetFinalizers(), inUse) {
				continue
			}
			if used, err := a.uses(s); err != nil || used {
				return err
			}
			s.SetFinalizers(without(s, inUse))
			if err := ignoreNotFound(a.update(s)); err != nil {
				return err
			}
		}
		return finalized(guardsSecret, nothing)(a, owner)
	}, secrets)
}

func guardsSecret(a *at, owner *thing) error {
	s, err := a.live(secrets, owner.GetNamespace(), secretOf(owner))
	if err != nil || s == nil || s.GetDeletionTimestamp() != nil || slices.Contains(s.GetFinalizers(), inUse) {
		return err
	}
	s.SetFinalizers(append(s.GetFinalizers(), inUse))
	return a.update(s)
}

// uses reports whether an owner that is not terminating names a Secret.
func (a *at) uses(secret *thing) (bool, error) {
	owners, err := a.list(gardens, secret.GetNamespace(), "")
	return slices.ContainsFunc(owners, func(o *thing) bool {
		return secretOf(o) == secret.GetName() && o.GetDeletionTimestamp() == nil
	}), err
}

// binds adds a plain reference to the Secret that its owner names, so that it is deleted with the owner.
func binds(a *at, owner, secret *thing) error {
	had := len(secret.GetOwnerReferences())
	if err := refersAlso(secret, plainReference(a, owner)); err != nil || len(secret.GetOwnerReferences()) > had {
		return a.update(secret)
	}
	return adoptsByName(a, owner)
}

// bindsNamed is like binds, for an object with this name.
func bindsNamed(kind schema.GroupVersionKind, name string) idiom {
	return func(a *at, owner *thing) error {
		o := a.cachedAt(kind, owner.GetNamespace()+"/"+name)
		if o == nil {
			return nil
		}
		return binds(a, owner, o)
	}
}

func plainReference(a *at, owner *thing) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: a.of.GroupVersion().String(), Kind: a.of.Kind, Name: owner.GetName(), UID: owner.GetUID()}
}

// bindsAll is like binds, and also creates a Secret.
func bindsAll(a *at, owner, secret *thing) error {
	own := a.bare(owner, owner.GetName()+"-own")
	own.SetGroupVersionKind(secrets)
	if err := a.ensure(owner, own); err != nil {
		return err
	}
	return binds(a, owner, secret)
}

// importsSecret makes its owner the controller of the Secret that it names.
func importsSecret(a *at, owner, secret *thing) error {
	if !metav1.IsControlledBy(secret, owner) {
		if err := a.controls(owner, secret); err != nil {
			return err
		}
		return a.update(secret)
	}
	return adoptsByName(a, owner)
}

// createsSecret creates the Secret that its owner names, with a plain reference. If the Secret exists, it adds the reference.
func createsSecret(a *at, owner *thing) error {
	next := object(secrets, owner.GetNamespace(), secretOf(owner))
	if secretOf(owner) == "" {
		return nil
	}
	next.SetOwnerReferences([]metav1.OwnerReference{plainReference(a, owner)})
	if err := a.upsert(next, func(is *thing) error { return refersAlso(is, plainReference(a, owner)) }); err != nil {
		return err
	}
	return adoptsByName(a, owner)
}

// firstOwns creates a Secret that all owners use. Its ControllerRef is to the first owner. For other owners, it calls other.
func firstOwns(other idiom) idiom {
	return func(a *at, owner *thing) error {
		next := object(secrets, owner.GetNamespace(), "common")
		next.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(owner, a.of)})
		err := a.upsert(next, func(is *thing) error {
			if other != nil && !metav1.IsControlledBy(is, owner) {
				return other(a, owner)
			}
			return nil
		})
		if ignoreAlreadyExists(err) != nil {
			return err
		}
		return adoptsByName(a, owner)
	}
}

// single creates a Secret if there is only one owner.
func single(a *at, owner *thing) error {
	if len(a.seen(gardens)) > 1 {
		return adoptsByName(a, owner)
	}
	return firstOwns(nil)(a, owner)
}

// woken makes an event of a Secret enqueue all owners.
func woken(c host.Controller) host.Controller {
	c.Routes = append(c.Routes, host.Route{Kind: secrets, Do: func(v host.View, _ host.Event, out *host.Effect) {
		v.Each(gardens, "", func(o runtime.Object) bool { out.Keys = append(out.Keys, key(o)); return true })
	}})
	return c
}

// leavesCommon removes the owner reference from Secrets.
func leavesCommon(a *at, owner *thing) error {
	of := *a
	of.kind = secrets
	return orphans(&of, owner)
}

// annotatesAll passes the marks of its owner on, as annotations of its dependents. Without those, it only notes that there
// were some. With removes, it removes annotations that the owner no longer has.
func annotatesAll(those, removes bool) idiom {
	return func(a *at, owner *thing) error {
		marks, _, _ := unstructured.NestedStringMap(owner.Object, "spec", "marks")
		if !those && len(marks) > 0 {
			marks = map[string]string{"marked": "yes"}
		}
		for _, name := range wanted(owner) {
			next := a.dependent(owner, name)
			next.SetAnnotations(marks)
			err := a.upsert(next, func(is *thing) error {
				all := map[string]string{}
				if !removes {
					maps.Copy(all, is.GetAnnotations())
				}
				maps.Copy(all, marks)
				if !maps.Equal(all, is.GetAnnotations()) {
					is.SetAnnotations(all)
				}
				return mine(owner, is)
			})
			if err != nil {
				return err
			}
		}
		return a.prune(owner)
	}
}
