package conformance

import (
	"context"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim/host"
)

// The kinds of the bugs: an owner, a dependent with a status of its own, and one of the cluster, which no reference to
// the owner can hold.
var (
	works = schema.GroupVersionKind{Group: "garden.example.com", Version: "v1", Kind: "Work"}
	plots = schema.GroupVersionKind{Group: "garden.example.com", Version: "v1", Kind: "Plot"}
	parks = schema.GroupVersionKind{Group: "garden.example.com", Version: "v1", Kind: "Park"} // of the cluster, an owner
)

// ownerLabel names the owner of an object that has no reference to it.
const ownerLabel = "garden.example.com/owner"

// reconciler makes a controller that watches an owner and several kinds, whose objects wake the owner that a reference
// or the label names.
func reconciler(name string, of schema.GroupVersionKind, sync idiom, kinds ...schema.GroupVersionKind) host.Controller {
	c := host.Controller{Name: name, For: of, Routes: []host.Route{{Kind: of,
		Do: func(_ host.View, e host.Event, out *host.Effect) {
			out.Keys = append(out.Keys, keyOf(of, newest(e).(metav1.Object).GetName()))
		}}}}
	for _, kind := range kinds {
		c.Routes = append(c.Routes, host.Route{Kind: kind, Do: func(_ host.View, e host.Event, out *host.Effect) {
			for _, seen := range []runtime.Object{e.Old, e.New} {
				o, is := seen.(metav1.Object)
				if !is {
					continue
				}
				if owner := o.GetLabels()[ownerLabel]; owner != "" {
					out.Keys = append(out.Keys, keyOf(of, owner))
				}
				for _, ref := range o.GetOwnerReferences() {
					if ref.Kind == of.Kind {
						out.Keys = append(out.Keys, keyOf(of, ref.Name))
					}
				}
			}
		}})
	}
	c.New = func(env *host.Env) host.Reconciler {
		owners := env.Informer(of).GetIndexer()
		for _, kind := range kinds {
			env.Informer(kind)
		}
		return host.SyncFunc(func(ctx context.Context, key string) error {
			o, ok, _ := owners.GetByKey(key)
			if !ok {
				return nil
			}
			a := &at{Context: ctx, env: env, of: of}
			if len(kinds) > 0 {
				a.kind = kinds[0]
			}
			return sync(a, o.(*thing).DeepCopy())
		})
	}
	return c
}

// keyOf is the key of an owner of a name.
func keyOf(of schema.GroupVersionKind, name string) string {
	if of == parks {
		return name
	}
	return "default/" + name
}

// labelled lists the objects of a kind with the owner's label: by the cache, or live.
func (a *at) labelled(kind schema.GroupVersionKind, owner string, live bool) (list []*thing, err error) {
	var all []runtime.Object
	if live {
		if all, err = a.env.Client.List(a, kind, "", metav1.ListOptions{}); err != nil {
			return nil, err
		}
	} else {
		for _, o := range a.env.Informer(kind).GetIndexer().List() {
			all = append(all, o.(runtime.Object))
		}
	}
	for _, o := range all {
		u := fields(o)
		u.SetGroupVersionKind(kind)
		if u.GetLabels()[ownerLabel] == owner {
			list = append(list, u)
		}
	}
	slices.SortFunc(list, func(x, y *thing) int { return compare(x.GetName(), y.GetName()) })
	return list, nil
}

// plot creates the owner's plot, unless it is there.
func (a *at) plot(owner *thing) error {
	p := &thing{Object: map[string]any{}}
	p.SetGroupVersionKind(plots)
	p.SetName(owner.GetName() + "-plot")
	p.SetLabels(map[string]string{ownerLabel: owner.GetName()})
	if _, ok, _ := a.env.Informer(plots).GetIndexer().GetByKey(p.GetName()); ok {
		return nil
	}
	if err := a.create(p); !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}

// holds puts the operator's finalizer on an owner. It reports whether it was there.
func (a *at) holds(owner *thing) (bool, error) {
	if slices.Contains(owner.GetFinalizers(), finished) {
		return true, nil
	}
	owner.SetFinalizers(append(owner.GetFinalizers(), finished))
	return false, a.update(owner)
}

// clears deletes what has the owner's label, and takes the finalizer off once nothing has it. live says by what that
// is seen.
func (a *at) clears(owner *thing, live bool) error {
	if !slices.Contains(owner.GetFinalizers(), finished) {
		return nil
	}
	left, err := a.labelled(plots, owner.GetName(), live)
	if err != nil {
		return err
	}
	for _, p := range left {
		if err := a.remove(p); err != nil {
			return err
		}
	}
	if len(left) > 0 && !live {
		return nil // the deletion wakes it
	}
	owner.SetFinalizers(without(owner, finished))
	if err := a.update(owner); !apierrors.IsNotFound(err) {
		return err
	}
	return nil
}

// tidb is pingcap/tidb-operator#6532: the finalizer goes as soon as the cache shows nothing to clean up.
func tidb(live bool) idiom {
	return func(a *at, owner *thing) error {
		if owner.GetDeletionTimestamp() != nil {
			return a.clears(owner, live)
		}
		if is, err := a.holds(owner); !is {
			return err
		}
		return a.plot(owner)
	}
}

// netbox is netbox-community/netbox-operator#77: the address is claimed before the finalizer is there.
func netbox(first bool) idiom {
	return func(a *at, owner *thing) error {
		if owner.GetDeletionTimestamp() != nil {
			return a.clears(owner, true)
		}
		if first {
			if is, err := a.holds(owner); !is {
				return err
			}
			return a.plot(owner)
		}
		if err := a.plot(owner); err != nil {
			return err
		}
		_, err := a.holds(owner)
		return err
	}
}

// queues creates a Work for its owner.
func queues(a *at, owner *thing) error {
	if ended(owner) || len(a.own(owner)) > 0 {
		return nil
	}
	w := a.dependent(owner, owner.GetName()+"-work")
	delete(w.Object, "data")
	return a.create(w)
}

// kueue is kubernetes-sigs/kueue#10901: the controller of Works ends one whose owner its cache does not show yet.
func kueue(live bool) idiom {
	return func(a *at, work *thing) error {
		if phase, _, _ := unstructured.NestedString(work.Object, "status", "phase"); phase != "" || ended(work) {
			return nil
		}
		ref := metav1.GetControllerOf(work)
		if ref == nil {
			return nil
		}
		_, ok, _ := a.env.Informer(gardens).GetIndexer().GetByKey("default/" + ref.Name)
		if !ok && live {
			_, err := a.env.Client.Get(a, gardens, "default", ref.Name)
			if ok = err == nil; !ok && !apierrors.IsNotFound(err) {
				return err
			}
		}
		if !ok {
			return a.reports(work, "phase", "OwnerNotFound")
		}
		return a.reports(work, "phase", "Admitted")
	}
}

// certificates is cert-manager/cert-manager#4956: a late list and a generated name, and there are two requests, with which
// issuing stops.
func certificates(a *at, owner *thing) error {
	if ended(owner) {
		return nil
	}
	switch len(a.own(owner)) {
	case 0:
		r := a.dependent(owner, "")
		r.SetGenerateName(owner.GetName() + "-")
		if err := a.create(r); err != nil {
			return err
		}
		return a.reports(owner, "phase", "Issuing")
	case 1:
		return a.reports(owner, "phase", "Issued")
	}
	return nil
}

// composes is crossplane/crossplane#1910: what is composed is created first, and its name recorded after. first records
// the name before.
func composes(first bool) idiom {
	return func(a *at, owner *thing) error {
		if ended(owner) {
			return nil
		}
		name, _, _ := unstructured.NestedString(owner.Object, "status", "composed")
		d := a.dependent(owner, name)
		switch was := a.cached(name); {
		case name == "" && first:
			return a.reports(owner, "composed", owner.GetName()+"-bucket")
		case name == "":
			d.SetGenerateName(owner.GetName() + "-")
			made, err := a.env.Client.Create(a, a.typed(d))
			if err != nil {
				return err
			}
			return a.reports(owner, "composed", made.(metav1.Object).GetName())
		case was == nil:
			return a.create(d)
		case !metav1.IsControlledBy(was, owner):
			return taken(was)
		}
		return nil
	}
}

// cleansOrphans is stackabletech/operator-rs#861: what has its labels and is not wanted is deleted, though another
// operator has made it and passed the labels on. mine looks whose it is.
func cleansOrphans(mine bool) idiom {
	return func(a *at, owner *thing) error {
		if ended(owner) {
			return nil
		}
		there, err := a.labelled(a.kind, owner.GetName(), false)
		if err != nil {
			return err
		}
		for _, d := range there {
			if d.GetDeletionTimestamp() == nil && !slices.Contains(wanted(owner), d.GetName()) &&
				(!mine || metav1.IsControlledBy(d, owner)) {
				if err := a.remove(d); err != nil {
					return err
				}
			}
		}
		for _, name := range wanted(owner) {
			d := a.dependent(owner, name)
			d.SetLabels(map[string]string{ownerLabel: owner.GetName()})
			switch was := a.cached(name); {
			case was == nil:
				if err := a.create(d); err != nil {
					return err
				}
			case !metav1.IsControlledBy(was, owner):
				return taken(was)
			}
		}
		return nil
	}
}

// scales is kedacore/keda#1123: an update leaves out the owner reference, and what it updates outlives its owner.
func scales(keeps bool) idiom {
	return func(a *at, owner *thing) error {
		if ended(owner) {
			return nil
		}
		size, _, _ := unstructured.NestedInt64(owner.Object, "spec", "size")
		next := a.dependent(owner, "hpa-"+owner.GetName())
		next.Object["data"] = map[string]any{"size": strconv.Itoa(int(size))}
		was := a.cached(next.GetName())
		switch {
		case was == nil:
			return a.create(next)
		case keeps && !metav1.IsControlledBy(was, owner):
			return taken(was)
		case reflect.DeepEqual(was.Object["data"], next.Object["data"]):
			return nil
		}
		if !keeps {
			next.SetOwnerReferences(nil)
		}
		next.SetResourceVersion(was.GetResourceVersion())
		return a.update(next)
	}
}

// publicBug is a bug that an operator had, and the same controllers with the fix. The issue says what went wrong; nothing
// of the operator's code is here.
type publicBug struct {
	issue        string
	wrong, right []host.Controller // the operator, and what else it runs
	where, law   string            // that find it
}

var publicBugs = []publicBug{
	{"cert-manager/cert-manager#4956", []host.Controller{reconciler("certificates", gardens, certificates, parts)},
		[]host.Controller{reconciler("certificates", gardens, requests, parts)}, "new-owner", "exact-sum"},
	{"crossplane/crossplane#1910", []host.Controller{reconciler("composite", gardens, composes(false), parts)},
		[]host.Controller{reconciler("composite", gardens, composes(true), parts)}, "new-owner", "exact-sum"},
	{"stackabletech/operator-rs#861", []host.Controller{reconciler("listener", gardens, cleansOrphans(false), parts)},
		[]host.Controller{reconciler("listener", gardens, cleansOrphans(true), parts)}, "somebody-elses", "dont-interfere"},
	{"kedacore/keda#1123", []host.Controller{reconciler("scaler", gardens, scales(false), parts)},
		[]host.Controller{reconciler("scaler", gardens, scales(true), parts)}, "scale", "release-what-left"},
	{"pingcap/tidb-operator#6532", []host.Controller{reconciler("tidb", gardens, tidb(false), plots)},
		[]host.Controller{reconciler("tidb", gardens, tidb(true), plots)}, "deleted/unseen", "expect"},
	{"netbox-community/netbox-operator#77", []host.Controller{reconciler("netbox", gardens, netbox(false), plots)},
		[]host.Controller{reconciler("netbox", gardens, netbox(true), plots)}, "deleted/early", "expect"},
	{"kubernetes-sigs/kueue#10901",
		[]host.Controller{reconciler("queue", gardens, queues, works), reconciler("work", works, kueue(false), gardens)},
		[]host.Controller{reconciler("queue", gardens, queues, works), reconciler("work", works, kueue(true), gardens)},
		"new-owner", "same-end"},
	{"two owners with one slot", []host.Controller{reconciler("slots", gardens, slots(false), parts)},
		[]host.Controller{reconciler("slots", gardens, slots(true), parts)}, "two-owners", "different-values"},
	{"waits for ever for what it created", []host.Controller{expects(false)}, []host.Controller{expects(true)},
		"dependent-unseen", "exact-sum"},
}

// slots gives each owner a slot, and says in its status which. The wrong one takes the lowest slot that no owner has by
// the cache. The right one creates an object with the slot's name, which only one can.
func slots(reserves bool) idiom {
	return func(a *at, owner *thing) error {
		slot, _, _ := unstructured.NestedInt64(owner.Object, "status", "slot")
		if owner.GetDeletionTimestamp() != nil || slot != 0 && !reserves {
			return nil
		}
		used := map[int64]bool{}
		for _, o := range a.env.Informer(gardens).GetIndexer().List() {
			n, _, _ := unstructured.NestedInt64(o.(*thing).Object, "status", "slot")
			used[n] = true
		}
		if reserves {
			reserved, err := a.reserve(owner)
			if err != nil || reserved == slot {
				return err
			}
			return a.reports(owner, "slot", reserved)
		}
		for slot = 1; used[slot]; slot++ {
		}
		return a.reports(owner, "slot", slot)
	}
}

// reserve returns the slot whose ConfigMap is the owner's, and creates the lowest one that is free where none is.
func (a *at) reserve(owner *thing) (int64, error) {
	all, err := a.env.Client.List(a, parts, owner.GetNamespace(), metav1.ListOptions{})
	if err != nil {
		return 0, err
	}
	taken := map[string]bool{}
	for _, o := range all {
		m := o.(metav1.Object)
		taken[m.GetName()] = true
		if n, is := strings.CutPrefix(m.GetName(), "slot-"); is && metav1.IsControlledBy(m, owner) {
			return strconv.ParseInt(n, 10, 64)
		}
	}
	for n := int64(1); ; n++ {
		if name := "slot-" + strconv.FormatInt(n, 10); !taken[name] {
			return n, a.create(a.dependent(owner, name))
		}
	}
}

// expects is an operator that remembers which dependents it has created and not yet seen, and waits for them. One that is
// deleted while the watch has a gap is never seen: the right operator stops waiting after five minutes.
func expects(forgets bool) host.Controller {
	c := reconciler("expects", gardens, nil, parts)
	c.New = func(env *host.Env) host.Reconciler {
		since := map[string]time.Time{}
		return reconciler("expects", gardens, func(a *at, owner *thing) error {
			if ended(owner) {
				return nil
			}
			for _, name := range wanted(owner) {
				if d := a.cached(name); d != nil {
					delete(since, name)
					if !metav1.IsControlledBy(d, owner) {
						return taken(d)
					}
					continue
				}
				if began, waits := since[name]; waits && !(forgets && env.Now().Sub(began) >= 5*time.Minute) {
					env.Queue.AddAfter(key(owner), 5*time.Minute)
					continue
				}
				if err := a.create(a.dependent(owner, name)); err != nil && !apierrors.IsAlreadyExists(err) {
					return err
				}
				since[name] = env.Now()
			}
			return a.prune(owner)
		}, parts).New(env)
	}
	return c
}

// ofBug is the subject of a bug: a Garden of one.
func ofBug(t *testing.T, controllers []host.Controller) Subject {
	s := subjectOf(t, controllers[0], controllers[1:]...)
	s.Samples = []string{sampleFile(t,
		"apiVersion: garden.example.com/v1\nkind: Garden\nmetadata: {name: web}\nspec: {size: 1, color: green}\n")}
	s.Schedules = 20
	return s
}

// Each bug is found with the sample alone, in the case that brings it about, and its fix passes all cases.
func TestPublicBugs(t *testing.T) {
	for _, b := range publicBugs {
		t.Run(b.issue, func(t *testing.T) {
			plan := prepared(t, ofBug(t, b.wrong))
			world := placed(t, plan, b.where)
			x, err := world.Explore(t.Context(), b.where)
			if err != nil {
				t.Fatal(err)
			}
			if len(x.Failures) != 1 || x.Failures[0].Law != b.law {
				t.Errorf("%s\n%s", plan, x.Text())
			} else {
				t.Logf("first in schedule %d; %d of %d fail: %s", x.Failures[0].Index, x.Failed, x.Schedules, x.Failures[0].Text)
			}
			t.Run("fixed", func(t *testing.T) {
				fixed := ofBug(t, b.right)
				fixed.Schedules = 8
				Test(t, fixed)
			})
		})
	}
}
