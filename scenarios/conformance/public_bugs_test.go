package conformance

import (
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/threelaws/threelaws/sim/host"
)

// plot creates the owner's plot, unless it exists.
func (a *at) plot(owner *thing) error {
	return a.plotNamed(owner, fullLabel(owner)+".plot")
}

// plotNamed creates a plot of the owner with this name, unless it exists.
func (a *at) plotNamed(owner *thing, name string) error {
	p := object(plots, "", name)
	p.SetLabels(map[string]string{ownerLabel: fullLabel(owner)})
	if a.cachedAt(plots, p.GetName()) != nil {
		return nil
	}
	return ignoreAlreadyExists(a.create(p))
}

// rewrites notes in an annotation of the owner that it has seen it. The update writes the whole owner, as a type in Go does:
// it omits empty fields, and those that the type lacks.
func rewrites(lacks ...string) idiom {
	return func(a *at, owner *thing) error {
		const noted = "garden.example.com/noted"
		if owner.GetAnnotations()[noted] != "" {
			return needsNames(a, owner)
		}
		notes := map[string]string{noted: "yes"}
		maps.Copy(notes, owner.GetAnnotations())
		owner.SetAnnotations(notes)
		spec := owner.Object["spec"].(map[string]any)
		maps.DeleteFunc(spec, func(name string, v any) bool { return slices.Contains(lacks, name) || v == false || v == "" })
		return a.update(owner)
	}
}

// removesPlots deletes all plots with the owner's label. With live it lists them from the server, not from the cache.
func removesPlots(live bool) idiom {
	return func(a *at, owner *thing) error {
		if live {
			return removesLabelled(plots)(a, owner)
		}
		left := slices.DeleteFunc(a.seen(plots), func(p *thing) bool { return p.GetLabels()[ownerLabel] != fullLabel(owner) })
		if err := a.removeAll(left); err != nil {
			return err
		}
		if len(left) > 0 {
			return errLater
		}
		return nil
	}
}

// keepsPlot keeps its finalizer on the owner until the plot is deleted. Without live it is pingcap/tidb-operator#6532:
// it removes the finalizer if its cache contains no plot.
func keepsPlot(live bool) idiom { return finalized((*at).plot, removesPlots(live)) }

// expectsGeneration returns an idiom that waits until its cache has the generation of an owner that it has seen before. If
// byUID is not set, it waits for the generation of an earlier owner with the same name.
func expectsGeneration(byUID bool) func(*host.Env) idiom {
	return func(*host.Env) idiom {
		seen := map[string]int64{}
		return func(a *at, owner *thing) error {
			key := owner.GetNamespace() + "/" + owner.GetName()
			if byUID {
				key += "/" + string(owner.GetUID())
			}
			if owner.GetGeneration() < seen[key] {
				return nil // the cache lags
			}
			seen[key] = owner.GetGeneration()
			return a.fills(owner, a.dependent(owner, owner.GetName()+"-part"))
		}
	}
}

// turnsOffUnseen returns an idiom that deletes the Secret of a feature which the owner does not use. If checks is not set, it
// deletes whatever has the name.
func turnsOffUnseen(checks bool) idiom {
	return func(a *at, owner *thing) error {
		if err := adoptsByName(a, owner); err != nil {
			return err
		}
		name := owner.GetName() + "-policy"
		if stringAt(owner, "spec", "policy") != "" {
			return nil
		}
		if !checks {
			return ignoreNotFound(a.env.Client.Delete(a, secrets, owner.GetNamespace(), name, metav1.DeleteOptions{}))
		}
		is, err := a.live(secrets, owner.GetNamespace(), name)
		if is == nil || err != nil || !metav1.IsControlledBy(is, owner) {
			return err
		}
		return a.remove(is)
	}
}

// seesLabelled returns an idiom whose cache has only the dependents with a label. If repairs is not set, it tries to create
// a dependent that has lost the label, again and again.
func seesLabelled(repairs bool) idiom {
	return func(a *at, owner *thing) error {
		next := a.dependent(owner, owner.GetName()+"-part")
		next.SetLabels(map[string]string{"managed": "yes"})
		is := a.cached(next.GetName())
		if is != nil && is.GetLabels()["managed"] == "yes" {
			return mine(owner, is)
		}
		err := a.create(next)
		if !repairs || ignoreAlreadyExists(err) != nil {
			return err
		}
		is, err = a.live(parts, owner.GetNamespace(), next.GetName())
		if is == nil || err != nil || is.GetLabels()["managed"] == "yes" {
			return err
		}
		is.SetLabels(map[string]string{"managed": "yes"})
		return errors.Join(mine(owner, is), ignoreNotFound(a.update(is)))
	}
}

// variables returns a controller that writes four variables into a list. Unless sorted is set, they have another order at
// the first four reconciles, like the keys of a Go map. Then two orders are equal by chance.
func variables(sorted bool) []host.Controller {
	c := reconciler("toolhive", gardens, nil, works)
	c.New = func(env *host.Env) host.Reconciler {
		turn := 0
		return reconciler("toolhive", gardens, living(func(a *at, owner *thing) error {
			if turn < 4 && !sorted {
				turn++
			}
			var list []any
			for i := range 4 {
				list = append(list, map[string]any{"name": string(rune('a' + (turn+i)%4)), "value": "x"})
			}
			next := a.bare(owner, owner.GetName()+"-work")
			next.Object["spec"] = map[string]any{"env": list}
			return a.upsert(next, func(is *thing) error {
				is.Object["spec"] = next.Object["spec"]
				return mine(owner, is)
			})
		}), works).New(env)
	}
	return []host.Controller{c}
}

// replacesPlot writes the owner's color into the plot. Unless keeps is set, the write removes the finalizers of others.
func replacesPlot(keeps bool) idiom {
	return func(a *at, owner *thing) error {
		is, color := a.cachedAt(plots, fullLabel(owner)+".plot"), stringAt(owner, "spec", "color")
		if is == nil {
			return a.plot(owner)
		}
		if is.GetAnnotations()["color"] == color {
			return nil
		}
		is.SetAnnotations(map[string]string{"color": color})
		if !keeps {
			is.SetFinalizers(nil)
		}
		return a.update(is)
	}
}

// netbox is netbox-community/netbox-operator#77: it claims the address before it adds the finalizer.
func netbox(a *at, owner *thing) error {
	if owner == nil || owner.GetDeletionTimestamp() != nil {
		return keepsPlot(true)(a, owner)
	}
	if err := a.plot(owner); err != nil {
		return err
	}
	_, err := a.holds(owner)
	return err
}

// queues creates a Work for its owner.
func queues(a *at, owner *thing) error {
	if len(a.own(owner)) > 0 {
		return nil
	}
	return a.create(a.bare(owner, owner.GetName()+"-work"))
}

// kueue is kubernetes-sigs/kueue#10901: the controller ends a Work whose owner is not in its cache yet.
func kueue(live bool) idiom {
	return func(a *at, work *thing) error {
		ref := metav1.GetControllerOf(work)
		if ref == nil || stringAt(work, "status", "phase") != "" {
			return nil
		}
		owner := a.cachedAt(gardens, work.GetNamespace()+"/"+ref.Name)
		if owner == nil && live {
			var err error
			if owner, err = a.live(gardens, work.GetNamespace(), ref.Name); err != nil {
				return err
			}
		}
		if owner == nil {
			return a.reports(work, "phase", "OwnerNotFound")
		}
		return a.reports(work, "phase", "Admitted")
	}
}

// certificates is cert-manager/cert-manager#4956: with an outdated list and a generated name, it creates two requests,
// and then issues nothing more.
func certificates(a *at, owner *thing) error {
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

// composes is crossplane/crossplane#1910: it creates the dependent and then records its name. With first, it records
// the name before it creates the dependent.
func composes(first bool) idiom {
	return func(a *at, owner *thing) error {
		name := stringAt(owner, "status", "composed")
		d := a.dependent(owner, name)
		switch {
		case name != "":
			return a.ensure(owner, d)
		case first:
			return a.reports(owner, "composed", owner.GetName()+"-bucket")
		}
		d.SetGenerateName(owner.GetName() + "-")
		made, err := a.env.Client.Create(a, a.typed(d))
		if err != nil {
			return err
		}
		return a.reports(owner, "composed", made.(metav1.Object).GetName())
	}
}

// cleansOrphans is stackabletech/operator-rs#861: it deletes unwanted objects with its labels, even if another operator
// has created them with copied labels. With own, it deletes only objects that it controls.
func cleansOrphans(own bool) idiom {
	return func(a *at, owner *thing) error {
		for _, d := range a.seen(a.kind) {
			if d.GetLabels()[ownerLabel] == owner.GetName() && d.GetDeletionTimestamp() == nil &&
				!slices.Contains(wanted(owner), d.GetName()) && (!own || metav1.IsControlledBy(d, owner)) {
				if err := a.remove(d); err != nil {
					return err
				}
			}
		}
		for _, name := range wanted(owner) {
			d := a.dependent(owner, name)
			d.SetLabels(map[string]string{ownerLabel: owner.GetName()})
			if err := a.ensure(owner, d); err != nil {
				return err
			}
		}
		return nil
	}
}

// scales is kedacore/keda#1123: its update removes the owner reference, so the dependent is not deleted with its owner.
func scales(keeps bool) idiom {
	return func(a *at, owner *thing) error {
		next := a.dependent(owner, "hpa-"+owner.GetName())
		next.Object["data"] = map[string]any{"size": strconv.FormatInt(intAt(owner, "spec", "size"), 10)}
		was := a.cached(next.GetName())
		switch {
		case was == nil:
			return a.create(next)
		case keeps && !metav1.IsControlledBy(was, owner):
			return taken(was)
		case alike(was, next):
			return nil
		case !keeps:
			next.SetOwnerReferences(nil)
		}
		next.SetFinalizers(was.GetFinalizers())
		next.SetResourceVersion(was.GetResourceVersion())
		return a.update(next)
	}
}

// plantsOfColor creates a ConfigMap without a reference, whose name contains the owner's color.
func plantsOfColor(a *at, owner *thing) error {
	next := a.dependent(owner, owner.GetName()+"-"+stringAt(owner, "spec", "color"))
	next.SetOwnerReferences(nil)
	next.SetLabels(map[string]string{ownerLabel: fullLabel(owner)})
	if a.cached(next.GetName()) != nil {
		return nil
	}
	return ignoreAlreadyExists(a.create(next))
}

// removesOfColor deletes the ConfigMap of the owner's present color only.
func removesOfColor(a *at, owner *thing) error {
	name := owner.GetName() + "-" + stringAt(owner, "spec", "color")
	return ignoreNotFound(a.env.Client.Delete(a, parts, owner.GetNamespace(), name, metav1.DeleteOptions{}))
}

// storesForEach creates a claim for each of the owner's members. Claims of earlier members stay.
func storesForEach(a *at, owner *thing) error {
	for _, name := range wanted(owner) {
		c := claim(owner, name)
		if a.cached(name) != nil {
			continue
		}
		if err := ignoreAlreadyExists(a.create(c)); err != nil {
			return err
		}
	}
	return nil
}

// removesStores deletes the claims of the owner's present members only.
func removesStores(a *at, owner *thing) error {
	for _, name := range wanted(owner) {
		if err := ignoreNotFound(a.env.Client.Delete(a, claims, owner.GetNamespace(), name, metav1.DeleteOptions{})); err != nil {
			return err
		}
	}
	return nil
}

// publicBug is a bug of a public operator, and the operator with the fix. The code is written from the description in
// the issue; it is not the operator's code.
type publicBug struct {
	issue        string
	wrong, right []host.Controller
	where, law   string // the case and the law that find the bug
}

var publicBugs = []publicBug{
	{"cert-manager/cert-manager#4956", by(certificates), by(requests), "new-owner", "exact-sum"},
	{"crossplane/crossplane#1910", by(composes(false)), by(composes(true)), "new-owner", "exact-sum"},
	{"stackabletech/operator-rs#861", by(cleansOrphans(false)), by(cleansOrphans(true)), "somebody-elses", "dont-interfere"},
	{"kedacore/keda#1123", by(scales(false)), by(scales(true)), "scale", "release-non-matching"},
	{"pingcap/tidb-operator#6532", []host.Controller{reconciler("tidb", gardens, keepsPlot(false), plots)},
		[]host.Controller{reconciler("tidb", gardens, keepsPlot(true), plots)}, "deleted/unseen", "expect"},
	{"netbox-community/netbox-operator#77", []host.Controller{reconciler("netbox", gardens, netbox, plots)},
		nil, "deleted/early", "expect"}, // the fix is the same as for tidb-operator
	{"kubernetes-sigs/kueue#10901", admitted(kueue(false)), admitted(kueue(true)), "new-owner", "same-end"},
	{"rajsinghtech/garage-operator#392", by(restores(false)), by(restores(true)), "relabelled", "exact-sum"},
	{"argoproj/argo-rollouts#2778", by(rewrites("color")), by(rewrites()), "one-owner", "expect"},
	{"splunk/splunk-operator#164", []host.Controller{reconciler("splunk", gardens, finalized(ifSame(setsUp), removesSet(removesAllClaims)),
		statefulSets, claims)}, nil, "deleted/background", "expect"},
	{"two owners with one slot", by(slots(false)), by(slots(true)), "two-owners", "different-values"},
	{"counts objects of other owners", by(counts(false)), by(counts(true)), "somebody-elses", "expect"},
	{"adopts a terminating object by name", by(createsOrUpdates), by(adoptsByName), "terminating-orphan",
		"skip-terminating-orphans"},
	{"a reference to an owner in another namespace", []host.Controller{reconciler("afar", gardens, living(refersAfar), parts)}, nil,
		"one-owner", "take-ownership"}, // the fix is a finalizer: see plantsAfar
	{"a cluster-scoped object for a name in all namespaces", []host.Controller{reconciler("names", gardens,
		finalized(plotOfName, removesPlotOfName), plots)}, []host.Controller{reconciler("names", gardens, keepsPlot(true), plots)},
		"other-namespace", "expect"},
	{"kuadrant/authorino-operator#348", []host.Controller{reconciler("authorino", gardens,
		finalized(overwritesPlotOfName, removesPlotOfName), plots)},
		[]host.Controller{reconciler("authorino", gardens, keepsPlot(true), plots)}, "other-namespace", "never-fight"},
	{"percona/everest-operator#418", by(belongsToFirst), by(needsNames), "one-owner", "take-ownership"},
	{"owners overwrite a shared object each minute", []host.Controller{reconciler("overwrites", gardens, living(marksShared(true)))},
		[]host.Controller{reconciler("overwrites", gardens, living(marksShared(false)))}, "two-owners", "never-fight"},
	{"open-telemetry/opentelemetry-operator#3055", []host.Controller{reconciler("otel", gardens, living(publishesGreen(false)), parts, services)},
		[]host.Controller{reconciler("otel", gardens, living(publishesGreen(true)), parts, services)}, "edit", "expect"},
	{"deletes by name what is turned off", by(exports(false)), by(exports(true)), "replaced", "same-incarnation"},
	{"overwrites the finalizers of a dependent", by(replacesAll(false)), by(replacesAll(true)), "dependent-held", "finalizers-hold"},
	{"tigera/operator#3480", []host.Controller{reconciler("tigera", gardens, finalized(replacesPlot(false), removesPlots(true)), plots)},
		[]host.Controller{reconciler("tigera", gardens, finalized(replacesPlot(true), removesPlots(true)), plots)},
		"dependent-held", "finalizers-hold"},
	{"opendatahub-io/opendatahub-operator#455", []host.Controller{reconciler("colors", gardens, finalized(plantsOfColor, removesOfColor), parts)},
		[]host.Controller{reconciler("colors", gardens, finalized(plantsOfColor, removesLabelled(parts)), parts)}, "edited-and-deleted", "expect"},
	{"strimzi/strimzi-kafka-operator#476", []host.Controller{reconciler("stores", gardens, finalized(storesForEach, removesStores), claims)},
		[]host.Controller{reconciler("stores", gardens, finalized(storesForEach, removesLabelled(claims)), claims)},
		"edited-and-deleted", "expect"},
	{"ray-project/kuberay#715", []host.Controller{remembering("generates", generates(false), works)}, []host.Controller{remembering("generates", generates(true), works)}, "one-owner", "never-too-many"},
	{"dragonflydb/dragonfly-operator#592", by(turnsOffUnseen(false)), by(turnsOffUnseen(true)), "name-taken", "dont-interfere"},
	{"ai-dynamo/grove#782", []host.Controller{remembering("grove", expectsGeneration(false), parts)},
		[]host.Controller{remembering("grove", expectsGeneration(true), parts)}, "recreated/background", "exact-sum"},
	{"kubevirt/hyperconverged-cluster-operator#1813", by(seesLabelled(false)), by(seesLabelled(true)), "relabelled", "always-settle"},
	{"stacklok/toolhive#5064", variables(false), variables(true), "one-owner", "never-fight"},
	{"cuts long names", by(cuts(false)), by(cuts(true)), "long-names", "exact-sum"},
	{"waits for ever for what it created", []host.Controller{remembering("expects", expects(true), parts)},
		[]host.Controller{onEdits(remembering("expects", expects(false), parts))}, "dependent-unseen", "exact-sum"},
}

// createsOrUpdates writes its dependents like controllerutil.CreateOrUpdate with SetControllerReference: it adopts any
// object that has the name and no controller, also a terminating one.
func createsOrUpdates(a *at, owner *thing) error {
	for _, name := range wanted(owner) {
		next := a.dependent(owner, name)
		err := a.upsert(next, func(is *thing) error {
			is.Object["data"] = next.Object["data"]
			if ref := metav1.GetControllerOf(is); ref != nil {
				return mine(owner, is)
			}
			is.SetOwnerReferences(append(is.GetOwnerReferences(), *metav1.NewControllerRef(owner, a.of)))
			return nil
		})
		if err != nil {
			return err
		}
	}
	return a.prune(owner)
}

// promises reports the generation of the owner. If early is set, it reports it first, and updates its dependents only for
// a generation that it has not reported: after a crash in between, it never updates them.
func promises(early bool) idiom {
	return func(a *at, owner *thing) error {
		known := early && intAt(owner, "status", "observed") == owner.GetGeneration()
		report := func() error { return a.reports(owner, "observed", owner.GetGeneration()) }
		if early {
			if err := report(); err != nil {
				return err
			}
		}
		for _, name := range wanted(owner) {
			next := a.dependent(owner, name)
			err := a.upsert(next, func(is *thing) error {
				if !known {
					is.Object["data"] = next.Object["data"]
				}
				return mine(owner, is)
			})
			if err != nil {
				return err
			}
		}
		if err := a.prune(owner); err != nil || early {
			return err
		}
		return report()
	}
}

// collects creates a dependent for each color that it sees, and deletes none.
func collects(a *at, owner *thing) error {
	return a.ensure(owner, a.dependent(owner, owner.GetName()+"-"+stringAt(owner, "spec", "color")))
}

// A crash between the report and the work leaves the dependents as they were before the edit. The dependents of a right
// controller may also depend on the edits that it has seen.
func TestEndAfterEdits(t *testing.T) {
	for _, x := range []struct {
		name string
		sync idiom
		want string
	}{{"reports first", promises(true), "same-end"}, {"reports last", promises(false), ""}, {"keeps all", collects, ""}} {
		c := placed(t, prepared(t, subjectOf(t, by(x.sync)...)), "edit")
		c.Schedules = 300
		found, err := c.Explore(t.Context(), t.Name())
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if len(found.Failures) > 0 {
			got = found.Failures[0].Law
		}
		if got != x.want {
			t.Errorf("%s: %q, want %q\n%s", x.name, got, x.want, found.Text())
		}
	}
}

// exports creates a second ConfigMap for a green owner, and deletes it for other owners. If sure is set, it deletes only the
// object that it has seen and that the owner controls.
func exports(sure bool) idiom {
	return func(a *at, owner *thing) error {
		if err := a.ensure(owner, a.bare(owner, owner.GetName())); err != nil {
			return err
		}
		export := a.bare(owner, owner.GetName()+"-export")
		is := a.cached(export.GetName())
		switch {
		case stringAt(owner, "spec", "color") == "green":
			return a.ensure(owner, export)
		case is == nil || !metav1.IsControlledBy(is, owner):
			return nil
		case sure:
			return a.remove(is)
		}
		return ignoreNotFound(a.env.Client.Delete(a, parts, is.GetNamespace(), is.GetName(), metav1.DeleteOptions{}))
	}
}

// exportsOwn is like exports. An object of another owner with the name of the export is an error.
func exportsOwn(a *at, owner *thing) error {
	if is := a.cached(owner.GetName() + "-export"); is != nil {
		if err := mine(owner, is); err != nil {
			return err
		}
	}
	return exports(true)(a, owner)
}

// replacesAll replaces a dependent that differs from the wanted one. The wanted one has no finalizers; if keeps is set, it
// has those of the existing dependent.
func replacesAll(keeps bool) idiom {
	return func(a *at, owner *thing) error {
		for _, name := range wanted(owner) {
			next := a.dependent(owner, name)
			is := a.cached(name)
			if is == nil {
				if err := a.create(next); err != nil {
					return err
				}
				continue
			}
			if err := mine(owner, is); err != nil {
				return err
			}
			if reflect.DeepEqual(is.Object["data"], next.Object["data"]) {
				continue
			}
			next.SetResourceVersion(is.GetResourceVersion())
			if keeps {
				next.SetFinalizers(is.GetFinalizers())
			}
			if err := a.update(next); err != nil {
				return err
			}
		}
		return a.prune(owner)
	}
}

// refersAfar creates a ConfigMap in another namespace than its owner, with a ControllerRef to the owner.
func refersAfar(a *at, owner *thing) error {
	next := a.dependent(owner, owner.GetNamespace()+"-"+owner.GetName())
	next.SetNamespace("kube-system")
	if a.cachedAt(a.kind, key(next)) != nil {
		return nil
	}
	return ignoreAlreadyExists(a.create(next))
}

// plotOfName creates a plot whose name contains the owner's name, but not its namespace.
func plotOfName(a *at, owner *thing) error { return a.plotNamed(owner, owner.GetName()+"-plot") }

// claimsPlotOfName is like plotOfName. The owner's status says whether the plot belongs to another owner.
func claimsPlotOfName(a *at, owner *thing) error {
	if err := plotOfName(a, owner); err != nil {
		return err
	}
	is, err := a.env.Client.Get(a, plots, "", owner.GetName()+"-plot")
	if err != nil {
		return ignoreNotFound(err)
	}
	theirs := is.(metav1.Object).GetLabels()[ownerLabel] != fullLabel(owner)
	return a.reports(owner, "conflict", theirs)
}

// belongsToFirst gives the owner a reference to its first dependent.
func belongsToFirst(a *at, owner *thing) error {
	first := a.cached(wanted(owner)[0])
	if first == nil || len(owner.GetOwnerReferences()) > 0 {
		return needsNames(a, owner)
	}
	owner.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: parts.Kind, Name: first.GetName(), UID: first.GetUID()}})
	return a.update(owner)
}

// overwritesPlotOfName is like plotOfName, but also takes over the plot of an owner with the same name in another namespace.
func overwritesPlotOfName(a *at, owner *thing) error {
	p := object(plots, "", owner.GetName()+"-plot")
	p.SetLabels(map[string]string{ownerLabel: fullLabel(owner)})
	return a.upsert(p, func(is *thing) error {
		is.SetLabels(p.GetLabels())
		return nil
	})
}

// marksShared writes the name of its owner to one plot, each minute, without a watch. Without overwrites, the first owner
// stays there.
func marksShared(overwrites bool) idiom {
	return func(a *at, owner *thing) error {
		a.env.Queue.AddAfter(a.namespace+"/"+owner.GetName(), time.Minute)
		plot, err := a.live(plots, "", "shared")
		if err != nil {
			return err
		}
		by := map[string]string{"by": owner.GetName()}
		switch {
		case plot == nil:
			plot = object(plots, "", "shared")
			plot.SetLabels(by)
			return ignoreAlreadyExists(a.create(plot))
		case !overwrites || plot.GetLabels()["by"] == owner.GetName():
			return nil
		}
		plot.SetLabels(by)
		return a.update(plot)
	}
}

// publishesGreen creates a Service for a green owner. After an edit of the color, the Service stays, unless hides is set.
func publishesGreen(hides bool) idiom {
	return func(a *at, owner *thing) error {
		next := a.dependent(owner, owner.GetName())
		if err := a.fills(owner, next); err != nil {
			return err
		}
		if stringAt(owner, "spec", "color") == "green" {
			svc := object(services, owner.GetNamespace(), owner.GetName())
			svc.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(owner, a.of)})
			svc.Object["spec"] = map[string]any{"ports": []any{map[string]any{"port": int64(80)}}}
			return a.ensure(owner, svc)
		}
		svc := a.cachedAt(services, a.namespace+"/"+owner.GetName())
		if !hides || svc == nil || !metav1.IsControlledBy(svc, owner) {
			return nil
		}
		return a.remove(svc)
	}
}

// removesPlotOfName deletes the plot of plotOfName.
func removesPlotOfName(a *at, owner *thing) error {
	return ignoreNotFound(a.env.Client.Delete(a, plots, "", owner.GetName()+"-plot", metav1.DeleteOptions{}))
}

// cuts shortens the names of its dependents to 40 bytes. With hashes, a shortened name ends with a hash of the long one.
// Without hashes, it does not report that another owner has the name.
func cuts(hashes bool) idiom {
	return func(a *at, owner *thing) error {
		name := owner.GetName() + "-settings"
		if len(name) > 40 {
			h := fnv.New32a()
			fmt.Fprint(h, name)
			name = name[:31]
			if hashes {
				name += fmt.Sprintf("-%08x", h.Sum32())
			}
		}
		if d := a.cached(name); d != nil && !hashes && !metav1.IsControlledBy(d, owner) {
			return nil
		}
		return a.ensure(owner, a.dependent(owner, name))
	}
}

// counts reports how many dependents have the owner's label. With owned, it counts only those of the owner.
func counts(owned bool) idiom {
	return func(a *at, owner *thing) error {
		for _, name := range wanted(owner) {
			d := a.dependent(owner, name)
			d.SetLabels(map[string]string{"garden": owner.GetName()})
			if err := ignoreAlreadyExists(a.ensure(owner, d)); err != nil {
				return err
			}
		}
		if err := a.prune(owner); err != nil {
			return err
		}
		list := slices.DeleteFunc(a.seen(a.kind), func(o *thing) bool {
			return o.GetLabels()["garden"] != owner.GetName() || owned && !metav1.IsControlledBy(o, owner)
		})
		return a.reports(owner, "ready", int64(len(list)))
	}
}

// restores restores the label of its wanted dependents. Without owned, it deletes only surplus dependents with the label.
func restores(owned bool) idiom {
	return func(a *at, owner *thing) error {
		for _, name := range wanted(owner) {
			d := a.dependent(owner, name)
			d.SetLabels(map[string]string{ownerLabel: owner.GetName()})
			err := a.upsert(d, func(is *thing) error {
				if err := mine(owner, is); err != nil {
					return err
				}
				return unstructured.SetNestedField(is.Object, owner.GetName(), "metadata", "labels", ownerLabel)
			})
			if err != nil {
				return err
			}
		}
		return a.removeAll(slices.DeleteFunc(a.own(owner), func(d *thing) bool {
			return slices.Contains(wanted(owner), d.GetName()) || d.GetDeletionTimestamp() != nil ||
				!owned && d.GetLabels()[ownerLabel] != owner.GetName()
		}))
	}
}

func admitted(sync idiom) []host.Controller {
	return []host.Controller{reconciler("queue", gardens, living(queues), works), reconciler("work", works, living(sync), gardens)}
}

// slots reports a slot for each owner. Without reserves, it takes the lowest slot that is free in the cache. With
// reserves, it creates an object with the slot's name, which only one owner can do.
func slots(reserves bool) idiom {
	return func(a *at, owner *thing) error {
		slot := intAt(owner, "status", "slot")
		if reserves {
			reserved, err := a.reserve(owner)
			if err != nil || reserved == slot {
				return err
			}
			return a.reports(owner, "slot", reserved)
		}
		if slot != 0 {
			return nil
		}
		used := map[int64]bool{}
		for _, o := range a.seen(gardens) {
			used[intAt(o, "status", "slot")] = true
		}
		for slot = 1; used[slot]; slot++ {
		}
		return a.reports(owner, "slot", slot)
	}
}

// reserve returns the slot whose ConfigMap the owner controls. If there is none, it takes the lowest free slot.
func (a *at) reserve(owner *thing) (int64, error) {
	all, err := a.list(parts, owner.GetNamespace(), "")
	if err != nil {
		return 0, err
	}
	used := map[string]bool{}
	for _, m := range all {
		used[m.GetName()] = true
		if n, is := strings.CutPrefix(m.GetName(), "slot-"); is && metav1.IsControlledBy(m, owner) {
			return strconv.ParseInt(n, 10, 64)
		}
	}
	for n := int64(1); ; n++ {
		if name := "slot-" + strconv.FormatInt(n, 10); !used[name] {
			return n, a.create(a.dependent(owner, name))
		}
	}
}

// expects creates one dependent, and sets the owner's color on it. With waits, it waits until it has seen the
// dependent. If the dependent is created and deleted during a watch gap, it waits forever. Without waits, it creates
// the dependent at the next edit.
func expects(waits bool) func(env *host.Env) idiom {
	return func(*host.Env) idiom {
		unseen := map[string]bool{}
		return func(a *at, owner *thing) error {
			next := a.dependent(owner, owner.GetName()+"-only")
			missing := a.cached(next.GetName()) == nil
			if missing && waits && unseen[next.GetName()] {
				return nil
			}
			unseen[next.GetName()] = missing
			return ignoreAlreadyExists(a.fills(owner, next))
		}
	}
}

// onEdits makes a controller ignore changes of its owner that are not edits of the spec, for example a label.
func onEdits(c host.Controller) host.Controller {
	wake := c.Routes[0].Do
	c.Routes[0].Do = func(v host.View, e host.Event, out *host.Effect) {
		if e.Old == nil || e.New == nil || e.Old.(metav1.Object).GetGeneration() != e.New.(metav1.Object).GetGeneration() {
			wake(v, e, out)
		}
	}
	return c
}

// ofBug returns the subject of a bug: a Garden with one dependent.
func ofBug(t *testing.T, controllers []host.Controller) Subject {
	s := subjectOf(t, controllers...)
	s.Samples = []string{sampleFile(t, gardenOf("{size: 1, color: green}"))}
	s.Schedules = 20
	return s
}

// The case for a bug finds it with only the sample. The operator with the fix passes all cases.
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
			}
			if b.right == nil {
				return
			}
			t.Run("fixed", func(t *testing.T) {
				fixed := ofBug(t, b.right)
				fixed.Schedules = 8
				Test(t, fixed)
			})
		})
	}
}
