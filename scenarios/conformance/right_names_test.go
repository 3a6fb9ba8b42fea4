package conformance

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/threelaws/threelaws/sim/host"
)

var (
	jobs      = batchv1.SchemeGroupVersion.WithKind("Job")
	revisions = appsv1.SchemeGroupVersion.WithKind("ControllerRevision")
)

// rightNames are right operators, by how they name and replace their dependents.
var rightNames = []right{
	{"named by a hash", by(hashes), ""},
	{"blue and green", by(switches), ""},
	{"immutable dependents are replaced", by(replaces), ""},
	{"a Job for each spec", []host.Controller{reconciler("runs", gardens, runs, jobs)}, ""},
	{"revisions up to a limit", []host.Controller{reconciler("revises", gardens, revises, revisions)}, ""},
	{"generated names and expectations", []host.Controller{generates()}, ""},
	{"generated names and a live list", by(indexes), ""},
	{"the old one goes first", by(renumbers), ""},
}

// hashOf is a hash of an owner's spec.
func hashOf(owner *thing) string {
	h := fnv.New32a()
	fmt.Fprint(h, owner.Object["spec"])
	return strconv.FormatUint(uint64(h.Sum32()), 36)
}

// hashes keeps one dependent, whose name is of the hash of its spec, and deletes those of earlier specs.
func hashes(a *at, owner *thing) error {
	if ended(owner) {
		return nil
	}
	next := a.dependent(owner, owner.GetName()+"-"+hashOf(owner))
	d := a.cached(next.GetName())
	if d == nil {
		if err := a.create(next); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
		if d, _ = a.live(a.kind, owner.GetNamespace(), next.GetName()); d == nil {
			return fmt.Errorf("%s is gone again", next.GetName())
		}
	}
	if !metav1.IsControlledBy(d, owner) {
		return taken(d)
	}
	for _, old := range a.own(owner) {
		if old.GetName() != next.GetName() && old.GetDeletionTimestamp() == nil {
			if err := a.remove(old); err != nil {
				return err
			}
		}
	}
	return nil
}

// switches creates a dependent for a new spec, says in the status that it is the active one, and only then deletes the
// one before.
func switches(a *at, owner *thing) error {
	if ended(owner) {
		return nil
	}
	next := a.dependent(owner, owner.GetName()+"-"+hashOf(owner))
	active, _, _ := unstructured.NestedString(owner.Object, "status", "active")
	switch d := a.cached(next.GetName()); {
	case d == nil:
		return a.create(next) // whose event comes back here
	case !metav1.IsControlledBy(d, owner):
		return taken(d)
	case d.GetDeletionTimestamp() != nil:
		return nil
	case active != next.GetName():
		return a.reports(owner, "active", next.GetName())
	}
	for _, old := range a.own(owner) {
		if old.GetName() != active && old.GetDeletionTimestamp() == nil {
			if err := a.remove(old); err != nil {
				return err
			}
		}
	}
	return nil
}

// replaces deletes a dependent that is not as it is to be, since it is immutable, and creates it again once it is gone.
func replaces(a *at, owner *thing) error {
	if ended(owner) {
		return nil
	}
	for _, name := range wanted(owner) {
		next := a.dependent(owner, name)
		next.Object["immutable"] = true
		d := a.cached(name)
		switch {
		case d == nil:
			if err := a.create(next); err != nil {
				return err
			}
		case !metav1.IsControlledBy(d, owner):
			return taken(d)
		case d.GetDeletionTimestamp() == nil && !alike(d, next):
			if err := a.remove(d); err != nil {
				return err
			}
		}
	}
	return a.prune(owner)
}

// runs creates a Job for each generation of its owner, and deletes those of earlier ones with their Pods.
func runs(a *at, owner *thing) error {
	if ended(owner) {
		return nil
	}
	name := fmt.Sprintf("%s-%d", owner.GetName(), owner.GetGeneration())
	background := metav1.DeletePropagationBackground
	for _, old := range a.own(owner) {
		uid := old.GetUID()
		if n, _ := strconv.ParseInt(old.GetLabels()["generation"], 10, 64); n >= owner.GetGeneration() ||
			old.GetDeletionTimestamp() != nil {
			continue
		}
		err := a.env.Client.Delete(a, a.kind, old.GetNamespace(), old.GetName(),
			metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: &background})
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	if d := a.cached(name); d != nil {
		if !metav1.IsControlledBy(d, owner) {
			return taken(d)
		}
		return nil
	}
	job := a.dependent(owner, name)
	job.SetLabels(map[string]string{"generation": fmt.Sprint(owner.GetGeneration())})
	delete(job.Object, "data")
	job.Object["spec"] = map[string]any{"template": map[string]any{"spec": map[string]any{"restartPolicy": "Never",
		"containers": []any{map[string]any{"name": "main", "image": "main"}}}}}
	if err := a.create(job); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}

// keptRevisions is how many revisions of an owner are kept.
const keptRevisions = 2

// revises keeps a ControllerRevision of the last specs of its owner. One that is there already becomes the last.
func revises(a *at, owner *thing) error {
	if ended(owner) {
		return nil
	}
	all := a.own(owner)
	number := func(r *thing) int64 { n, _, _ := unstructured.NestedInt64(r.Object, "revision"); return n }
	slices.SortFunc(all, func(x, y *thing) int { return int(number(x) - number(y)) })
	last := int64(0)
	if len(all) > 0 {
		last = number(all[len(all)-1])
	}
	next := a.dependent(owner, owner.GetName()+"-"+hashOf(owner))
	delete(next.Object, "data")
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
	for i, old := range all {
		if i < len(all)-keptRevisions && old.GetDeletionTimestamp() == nil {
			if err := a.remove(old); err != nil {
				return err
			}
		}
	}
	return nil
}

// generates has the server name its dependents. It remembers what it has created and its cache does not show yet, for
// five minutes at most, and counts it.
func generates() host.Controller {
	c := operates(gardens, parts, nil)
	c.New = func(env *host.Env) host.Reconciler {
		made := map[string]map[string]time.Time{} // by the owner's uid and the dependent's name
		return operates(gardens, parts, func(a *at, owner *thing) error {
			if ended(owner) {
				return nil
			}
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
			if len(made[uid]) > 0 {
				env.Queue.AddAfter(key(owner), 5*time.Minute)
				return nil
			}
			size, _, _ := unstructured.NestedInt64(owner.Object, "spec", "size")
			for i := len(own); i > int(max(size, 0)); i-- {
				if err := a.remove(own[i-1]); err != nil {
					return err
				}
			}
			for range int(size) - len(own) {
				d := a.dependent(owner, "")
				d.SetGenerateName(owner.GetName() + "-")
				o, err := env.Client.Create(a, a.typed(d))
				if err != nil {
					return err
				}
				made[uid][o.(metav1.Object).GetName()] = env.Now()
			}
			return nil
		}).New(env)
	}
	return c
}

// indexes has the server name its dependents, each of which has the label of its index. Before it creates one it lists
// them on the server. Of two with one index it keeps the first.
func indexes(a *at, owner *thing) error {
	if ended(owner) {
		return nil
	}
	size, _, _ := unstructured.NestedInt64(owner.Object, "spec", "size")
	has := map[string]bool{}
	for _, d := range a.own(owner) {
		index := d.GetLabels()["index"]
		i, err := strconv.ParseInt(index, 10, 64)
		if (err != nil || i >= size || has[index]) && d.GetDeletionTimestamp() == nil {
			if err := a.remove(d); err != nil {
				return err
			}
		}
		has[index] = true
	}
	for i := range size {
		index := strconv.FormatInt(i, 10)
		if has[index] {
			continue
		}
		there, err := a.env.Client.List(a, a.kind, owner.GetNamespace(), metav1.ListOptions{LabelSelector: "index=" + index})
		if err != nil {
			return err
		}
		d := a.dependent(owner, "")
		d.SetGenerateName(owner.GetName() + "-")
		d.SetLabels(map[string]string{"index": index})
		for _, o := range there {
			has[index] = has[index] || metav1.IsControlledBy(o.(metav1.Object), owner)
		}
		if has[index] {
			continue // the cache does not show it yet
		}
		if err := a.create(d); err != nil {
			return err
		}
	}
	return nil
}

// renumbers has one dependent, named by the color of its owner. Those of other colors are deleted first, and the new one
// is created when they are gone from the server.
func renumbers(a *at, owner *thing) error {
	if ended(owner) {
		return nil
	}
	color, _, _ := unstructured.NestedString(owner.Object, "spec", "color")
	next := a.dependent(owner, owner.GetName()+"-"+color)
	all, err := a.env.Client.List(a, a.kind, owner.GetNamespace(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	left, there := false, false
	for _, o := range all {
		d := fields(o)
		d.SetGroupVersionKind(a.kind)
		switch {
		case d.GetName() == next.GetName() && !metav1.IsControlledBy(d, owner):
			return taken(d)
		case d.GetName() == next.GetName():
			there = true
			continue
		case !metav1.IsControlledBy(d, owner):
			continue
		case d.GetDeletionTimestamp() == nil:
			if err := a.remove(d); err != nil {
				return err
			}
		}
		left = true
	}
	if left || there {
		return nil // the deletion comes back here
	}
	return a.create(next)
}
