package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/check"
	"github.com/threelaws/threelaws/sim/host"
)

// thing is an object of whatever kind.
type thing = unstructured.Unstructured

// idiom is one reconcile of an owner, in the way of real operators. The owner is nil where the cache has none.
type idiom func(at *at, owner *thing) error

// at is what a reconcile has to do with.
type at struct {
	context.Context
	env  *host.Env
	kind schema.GroupVersionKind // of the dependents
	of   schema.GroupVersionKind // of the owners
}

// operates makes a controller of an idiom: it watches its kind, and one of dependents, each of which wakes the owner
// that its references name.
func operates(of, kind schema.GroupVersionKind, sync idiom) host.Controller {
	return host.Controller{Name: "idiom", For: of,
		Routes: []host.Route{
			{Kind: of, Do: func(_ host.View, e host.Event, out *host.Effect) { out.Keys = append(out.Keys, key(newest(e))) }},
			{Kind: kind, Do: func(_ host.View, e host.Event, out *host.Effect) {
				for _, o := range []runtime.Object{e.Old, e.New} {
					if o == nil {
						continue
					}
					if slices.Contains(o.(metav1.Object).GetFinalizers(), inUse) {
						out.Keys = append(out.Keys, "default/"+inUse)
					}
					for _, ref := range o.(metav1.Object).GetOwnerReferences() {
						if ref.Kind == of.Kind {
							out.Keys = append(out.Keys, "default/"+ref.Name)
						}
					}
				}
			}}},
		New: func(env *host.Env) host.Reconciler {
			owners := env.Informer(of).GetIndexer()
			env.Informer(kind)
			return host.SyncFunc(func(ctx context.Context, key string) error {
				o, ok, _ := owners.GetByKey(key)
				a := &at{ctx, env, kind, of}
				if !ok {
					return sync(a, nil)
				}
				return sync(a, o.(*thing).DeepCopy())
			})
		},
	}
}

// fields are an object's, of whatever type it is.
func fields(o runtime.Object) *thing {
	if u, ok := o.(*thing); ok {
		return u.DeepCopy()
	}
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		panic(err)
	}
	return &thing{Object: m}
}

// own lists the dependents that an owner controls, by the cache.
func (a *at) own(owner *thing) (list []*thing) {
	for _, o := range a.env.Informer(a.kind).GetIndexer().List() {
		if o := fields(o.(runtime.Object)); metav1.IsControlledBy(o, owner) {
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(x, y *thing) int { return compare(x.GetName(), y.GetName()) })
	return list
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// cached is the dependent of a name, nil for none.
func (a *at) cached(name string) *thing {
	o, ok, _ := a.env.Informer(a.kind).GetIndexer().GetByKey("default/" + name)
	if !ok {
		return nil
	}
	return fields(o.(runtime.Object))
}

// dependent is one of an owner, of a name, of the owner's color.
func (a *at) dependent(owner *thing, name string) *thing {
	color, _, _ := unstructured.NestedString(owner.Object, "spec", "color")
	d := &thing{Object: map[string]any{"data": map[string]any{"color": color}}}
	d.SetGroupVersionKind(a.kind)
	d.SetNamespace(owner.GetNamespace())
	d.SetName(name)
	d.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(owner, a.of)})
	return d
}

// wanted are the names of an owner's dependents.
func wanted(owner *thing) []string {
	size, _, _ := unstructured.NestedInt64(owner.Object, "spec", "size")
	return names(owner, size)
}

// typed is what the server takes of a kind.
func (a *at) typed(o *thing) runtime.Object {
	for _, k := range a.env.Kinds() {
		if k.GVK == o.GroupVersionKind() {
			obj := k.New()
			if u, ok := obj.(*thing); ok {
				u.Object = o.Object
			} else if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, obj); err != nil {
				panic(err)
			}
			return obj
		}
	}
	panic("no kind " + o.GetKind())
}

// create creates an object.
func (a *at) create(o *thing) error {
	_, err := a.env.Client.Create(a, a.typed(o))
	return err
}

// update writes an object, on condition of its version.
func (a *at) update(o *thing) error {
	_, err := a.env.Client.Update(a, a.typed(o))
	return err
}

// remove deletes an object as it was read. One that is gone is gone.
func (a *at) remove(o *thing) error {
	uid, version := o.GetUID(), o.GetResourceVersion()
	err := a.env.Client.Delete(a, o.GroupVersionKind(), o.GetNamespace(), o.GetName(),
		metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version}})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// apply is a server-side apply.
func (a *at) apply(o *thing, subresource string, force bool) error {
	data, err := json.Marshal(o.Object)
	if err != nil {
		return err
	}
	for _, k := range a.env.Kinds() {
		if k.GVK == o.GroupVersionKind() {
			_, err = a.env.Client.Do(a, &fakeapi.Request{Verb: fakeapi.Patch, Kind: k, Namespace: o.GetNamespace(),
				Name: o.GetName(), Subresource: subresource, PatchType: types.ApplyPatchType, Patch: data,
				PatchO: metav1.PatchOptions{FieldManager: "idiom", Force: &force}})
		}
	}
	return err
}

// reports sets a field of the owner's status.
func (a *at) reports(owner *thing, field string, value any) error {
	if was, _, _ := unstructured.NestedFieldNoCopy(owner.Object, "status", field); was == value {
		return nil
	}
	c := owner.DeepCopy()
	if err := unstructured.SetNestedField(c.Object, value, "status", field); err != nil {
		return err
	}
	_, err := a.env.Client.UpdateStatus(a, c)
	return err
}

// prune deletes the dependents that are not wanted any more.
func (a *at) prune(owner *thing) error {
	for _, d := range a.own(owner) {
		if d.GetDeletionTimestamp() == nil && !slices.Contains(wanted(owner), d.GetName()) {
			if err := a.remove(d); err != nil {
				return err
			}
		}
	}
	return nil
}

// taken is the error of a name that somebody else's object has.
func taken(o *thing) error { return fmt.Errorf("%s %s is not mine", o.GetKind(), o.GetName()) }

// ended reports whether there is no owner, or it is being deleted.
func ended(owner *thing) bool { return owner == nil || owner.GetDeletionTimestamp() != nil }

// applies says at each reconcile what it wants, by server-side apply, once it has looked whose the name is.
func applies(a *at, owner *thing) error {
	if ended(owner) {
		return nil
	}
	for _, name := range wanted(owner) {
		if d := a.cached(name); d != nil && !metav1.IsControlledBy(d, owner) {
			return taken(d)
		}
		if err := a.apply(a.dependent(owner, name), "", true); err != nil {
			return err
		}
	}
	return a.prune(owner)
}

// requests creates a dependent once for each color of its owner, and records it in the status: one that somebody
// deletes has done its work.
func requests(a *at, owner *thing) error {
	if ended(owner) {
		return nil
	}
	color, _, _ := unstructured.NestedString(owner.Object, "spec", "color")
	done, _, _ := unstructured.NestedString(owner.Object, "status", "requested")
	if done == color {
		return nil
	}
	name := owner.GetName() + "-" + color
	d := a.cached(name)
	switch {
	case d != nil && metav1.IsControlledBy(d, owner):
	case d != nil:
		return taken(d)
	default:
		if err := a.create(a.dependent(owner, name)); err != nil {
			return err
		}
	}
	return a.reports(owner, "requested", color)
}

// inUse is a finalizer of the operator on its dependents, finished one on its owners.
const (
	inUse    = "idiom.example.com/in-use"
	finished = "idiom.example.com/finished"
)

// without are finalizers but for one.
func without(o *thing, finalizer string) []string {
	return slices.DeleteFunc(o.GetFinalizers(), func(f string) bool { return f == finalizer })
}

// holdsDependents puts a finalizer on its dependents, and takes it off when they are deleted, also when the owner is
// gone.
func holdsDependents(a *at, owner *thing) error {
	for _, o := range a.env.Informer(a.kind).GetIndexer().List() {
		d := fields(o.(runtime.Object))
		if d.GetDeletionTimestamp() == nil || !slices.Contains(d.GetFinalizers(), inUse) {
			continue
		}
		d.SetFinalizers(without(d, inUse))
		if err := a.update(d); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	if ended(owner) {
		return nil
	}
	for _, name := range wanted(owner) {
		d := a.cached(name)
		switch {
		case d != nil && !metav1.IsControlledBy(d, owner):
			return taken(d)
		case d != nil:
			continue
		}
		d = a.dependent(owner, name)
		d.SetFinalizers([]string{inUse})
		if err := a.create(d); err != nil {
			return err
		}
	}
	return a.prune(owner)
}

// retains leaves what its owner has when the owner is deleted, by a finalizer, and takes it back by its name.
func retains(a *at, owner *thing) error {
	switch {
	case owner == nil:
		return nil
	case owner.GetDeletionTimestamp() != nil && slices.Contains(owner.GetFinalizers(), finished):
		list, err := a.env.Client.List(a, a.kind, owner.GetNamespace(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, o := range list {
			d := fields(o)
			d.SetGroupVersionKind(a.kind)
			if !metav1.IsControlledBy(d, owner) {
				continue
			}
			d.SetOwnerReferences(slices.DeleteFunc(d.GetOwnerReferences(), func(ref metav1.OwnerReference) bool {
				return ref.UID == owner.GetUID()
			}))
			if err := a.update(d); err != nil && !apierrors.IsNotFound(err) {
				return err
			}
		}
		owner.SetFinalizers(without(owner, finished))
		return a.update(owner)
	case owner.GetDeletionTimestamp() != nil:
		return nil
	case !slices.Contains(owner.GetFinalizers(), finished):
		owner.SetFinalizers(append(owner.GetFinalizers(), finished))
		return a.update(owner)
	}
	for _, name := range wanted(owner) {
		d, next := a.cached(name), a.dependent(owner, name)
		switch {
		case d == nil:
			if err := a.create(next); err != nil {
				return err
			}
		case metav1.GetControllerOf(d) == nil && d.GetDeletionTimestamp() == nil:
			d.SetOwnerReferences(append(d.GetOwnerReferences(), next.GetOwnerReferences()...))
			if err := a.update(d); err != nil {
				return err
			}
		case !metav1.IsControlledBy(d, owner):
			return taken(d)
		}
	}
	return a.prune(owner)
}

// intends says by server-side apply all that it has to say: its finalizer on the owner, the dependents and the status.
func intends(a *at, owner *thing) error {
	if owner == nil {
		return nil
	}
	say := &thing{Object: map[string]any{}}
	say.SetGroupVersionKind(a.of)
	say.SetName(owner.GetName())
	say.SetNamespace(owner.GetNamespace())
	say.SetUID(owner.GetUID())
	if owner.GetDeletionTimestamp() != nil {
		if !slices.Contains(owner.GetFinalizers(), finished) {
			return nil
		}
		owner.SetFinalizers(without(owner, finished))
		return a.update(owner)
	}
	held := say.DeepCopy()
	held.SetFinalizers([]string{finished})
	if err := a.apply(held, "", true); err != nil {
		return err
	}
	if err := applies(a, owner); err != nil {
		return err
	}
	say.Object["status"] = map[string]any{"plants": int64(len(a.own(owner)))}
	return a.apply(say, "status", true)
}

// fights writes its dependent to and fro forever, once its owner was edited.
func fights(a *at, owner *thing) error {
	if ended(owner) {
		return nil
	}
	name := owner.GetName() + "-0"
	d := a.cached(name)
	if d == nil {
		return a.create(a.dependent(owner, name))
	}
	color, _, _ := unstructured.NestedString(owner.Object, "spec", "color")
	was, _, _ := unstructured.NestedString(d.Object, "data", "color")
	if color == "green" || !metav1.IsControlledBy(d, owner) {
		return nil
	}
	next := map[bool]string{true: "on", false: "off"}[was != "on"]
	if err := unstructured.SetNestedField(d.Object, next, "data", "color"); err != nil {
		return err
	}
	return a.update(d)
}

// awaits tries again forever what its owner says, where that is wrong.
func awaits(a *at, owner *thing) error {
	if ended(owner) {
		return nil
	}
	color, _, _ := unstructured.NestedString(owner.Object, "spec", "color")
	if color != "green" {
		return fmt.Errorf("there is no color %s", color)
	}
	return applies(a, owner)
}

// follows edits its dependents as its owner is edited. It creates none of a wrong color.
func follows(a *at, owner *thing) error {
	if ended(owner) {
		return nil
	}
	for _, name := range wanted(owner) {
		next := a.dependent(owner, name)
		d := a.cached(name)
		if d == nil {
			return awaits(a, owner)
		}
		if !metav1.IsControlledBy(d, owner) {
			return taken(d)
		}
		if is, want := fmt.Sprint(d.Object["data"]), fmt.Sprint(next.Object["data"]); is != want {
			d.Object["data"] = next.Object["data"]
			return a.update(d)
		}
	}
	return nil
}

// definition is a CRD of any fields.
func definition(group, kind, plural string) string {
	return fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[3]s.%[1]s}
spec:
  group: %[1]s
  scope: Namespaced
  names: {kind: %[2]s, plural: %[3]s}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`, group, kind, plural)
}

var gardens = schema.GroupVersionKind{Group: "garden.example.com", Version: "v1", Kind: "Garden"}

// namedByField gives its dependent the name that its owner says, as k8s.io/sample-controller does: two owners that say the same
// want one object.
func namedByField(a *at, owner *thing) error {
	if ended(owner) {
		return nil
	}
	name, _, _ := unstructured.NestedString(owner.Object, "spec", "color")
	d := a.cached(name)
	switch {
	case name == "":
		return nil
	case d == nil:
		return a.create(a.dependent(owner, name))
	case !metav1.IsControlledBy(d, owner):
		return taken(d)
	}
	return nil
}

// right is a right operator: its controllers, the first of which works on the sample.
type right struct {
	name        string
	controllers []host.Controller
	sample      string // "" for a Garden of two
}

// by is an operator of one controller, on Gardens and their ConfigMaps.
func by(sync idiom) []host.Controller { return []host.Controller{operates(gardens, parts, sync)} }

var rightIdioms = []right{
	{"server-side apply", by(applies), ""},
	{"created once", by(requests), ""},
	{"a bad edit is tried again", by(awaits), ""},
	{"finalizers on dependents", by(holdsDependents), ""},
	{"retains", by(retains), ""},
	{"server-side apply of all", by(intends), ""},
	{"named by a field", by(namedByField), ""},
	{"a share of few values", by(shards), ""},
}

// shards puts each owner on the one of three shards that has fewest, as the cache shows them. Two may have one shard.
func shards(a *at, owner *thing) error {
	if ended(owner) {
		return nil
	}
	if shard, _, _ := unstructured.NestedString(owner.Object, "status", "shard"); shard != "" {
		return nil
	}
	n := map[string]int{}
	for _, o := range a.env.Informer(a.of).GetIndexer().List() {
		shard, _, _ := unstructured.NestedString(o.(*thing).Object, "status", "shard")
		n[shard]++
	}
	least := "shard-1"
	for _, shard := range []string{"shard-2", "shard-3"} {
		if n[shard] < n[least] {
			least = shard
		}
	}
	return a.reports(owner, "shard", least)
}

// subjectOf is a subject of an operator: nothing but its sample.
func subjectOf(t *testing.T, c host.Controller, others ...host.Controller) Subject {
	return Subject{Controller: c, Others: others, Samples: []string{sampleFile(t, "apiVersion: "+c.For.GroupVersion().String()+
		"\nkind: "+c.For.Kind+"\nmetadata: {name: sample}\nspec: {size: 2, color: green}\n")}, Schedules: 10, CRDs: crdsOfIdioms()}
}

// sampleFile writes a sample to a file.
func sampleFile(t *testing.T, text string) string {
	file := filepath.Join(t.TempDir(), "sample.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// crdsOfIdioms are the CRDs of all idioms.
func crdsOfIdioms() fstest.MapFS {
	crds := fstest.MapFS{}
	for _, kind := range []schema.GroupVersionKind{gardens, works, plots, parks} {
		text := definition(kind.Group, kind.Kind, strings.ToLower(kind.Kind)+"s")
		if kind == plots || kind == parks {
			text = strings.Replace(text, "scope: Namespaced", "scope: Cluster", 1)
		}
		crds[strings.ToLower(kind.Kind)+".yaml"] = &fstest.MapFile{Data: []byte(text)}
	}
	return crds
}

// No right controller is reported, in whichever way it works: in 8 schedules of each case, and in 500 with SOAK in the
// environment.
func TestRightIdioms(t *testing.T) {
	for _, x := range slices.Concat(rightIdioms, rightOwnership, rightNames, rightStatus, rightCleanup, rightWorkloads) {
		t.Run(x.name, func(t *testing.T) {
			s := subjectOf(t, x.controllers[0], x.controllers[1:]...)
			s.Schedules = 8
			if os.Getenv("SOAK") != "" {
				s.Schedules = 500
			}
			if x.sample != "" {
				s.Samples = []string{sampleFile(t, x.sample)}
			}
			Test(t, s)
		})
	}
}

// A dependent that is created once is expected by no case that takes it away. One that is created again after a restart
// is, and the profile says so.
func TestCreatedOnce(t *testing.T) {
	for _, x := range []struct {
		of    Subject
		shown string
		skip  bool
	}{
		{subjectOf(t, operates(gardens, parts, requests)),
			"creates once ConfigMap: one that is deleted is not created again\n", true},
		{sample(widget(false, wrong{recalls: true})),
			"notices     no deletion of a ConfigMap: it is created again after a restart\n", false},
	} {
		plan := prepared(t, x.of)
		if text := plan.String(); !strings.Contains(text, x.shown) {
			t.Errorf("it is shown as\n%s", text)
		}
		for _, name := range []string{"dependent-deleted", "reference-taken-away"} {
			if c := plan.Cases[slices.Index(check.Names, name)]; (c.Skip != "") != x.skip {
				t.Errorf("%s: skipped for %q", name, c.Skip)
			}
		}
	}
}

// An edit after which a controller writes forever fails the case edit. One that it merely tries again is none.
func TestEditsThatDoNotSettle(t *testing.T) {
	for _, x := range []struct {
		idiom
		shown string
	}{
		{fights, "follows     spec.color: green -> greenx, and does not settle any more\n"},
		{follows, "waits       after spec.color: green -> greenx: it tries again, and writes nothing\n"},
		{awaits, "waits       after spec.color: green -> greenx: it tries again, and writes nothing\n"},
	} {
		plan := prepared(t, subjectOf(t, operates(gardens, parts, x.idiom)))
		if text := plan.String(); !strings.Contains(text, x.shown) {
			t.Errorf("it is shown as\n%s", text)
		}
	}
	world := placed(t, prepared(t, subjectOf(t, operates(gardens, parts, fights))), "edit")
	x, err := world.Explore(t.Context(), "edit")
	if err != nil || x.Failed+x.Unsettled != x.Schedules {
		t.Errorf("%v, %s", err, x.Text())
	}
}
