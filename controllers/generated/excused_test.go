package generated_test

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// wrong are controllers of which no cause may say that upstream's own would do the same: each runs in a world in
// which what a cause is about has happened, and breaks a law of that cause there for a reason of its own.
var wrong = []struct {
	what    string
	subject *subject
	seed    uint64
	cause   func(w *world, b *law.Breach) bool
	near    func(w *world, b *law.Breach) bool // a part of what the cause asks of a world
	change  func(obj runtime.Object) []runtime.Object
}{
	{"asks for three pods more", &deployments, 15, unseenWrite, someWriteUnseen, larger},
	{"asks for three pods more", &deployments, 84, unseenWrite, someWriteUnseen, larger},
	{"makes pods of no revision", &daemonSets, 2, hashEmptied, someHashEmptied, unlabelled},
	{"makes pods of no revision", &daemonSets, 49, hashEmptied, someHashEmptied, unlabelled},
	{"never makes the first pod", &statefulSets, 56, staleClaim, someClaimStale, notTheFirst},
	{"makes each slice twice", &endpoints, 260, crowded, many, twice},
	{"makes no slice", &endpoints, 260, crowded, many, noSlice},
}

// TestCausesExcuseNobodyElse holds the causes that look at a whole world, and not at the write that a verdict is
// about, to what they say: who is wrong for another reason is accused beside them.
func TestCausesExcuseNobodyElse(t *testing.T) {
	for _, c := range wrong {
		t.Run(c.subject.name+" "+c.what, func(t *testing.T) {
			s := *c.subject
			s.generations = s.generations[len(s.generations)-1:]
			s.made = func(w *world) host.Controller { return changed(w.controller(s.name), c.change) }
			w, met := play(t, &s, c.seed, *tell, asked...), 0
			for _, b := range w.Judge.Breaches() {
				if b.Strength == law.Committed || !excusable(c.cause, w, &b) || !c.near(w, &b) {
					continue
				}
				if met++; !w.explained(&b) {
					return
				}
			}
			t.Errorf("world %d: none of %d breaches is told", c.seed, met)
		})
	}
}

// excusable reports whether a breach is of a law that the cause may excuse.
func excusable(when func(*world, *law.Breach) bool, w *world, b *law.Breach) bool {
	return slices.ContainsFunc(open, func(c *cause) bool {
		return c.controller == w.subject.name &&
			reflect.ValueOf(c.when).Pointer() == reflect.ValueOf(when).Pointer() &&
			slices.Contains(strings.Fields(c.laws), b.Law.Name)
	})
}

// changed is a controller that sends, in the place of each object that it creates or updates, what change makes of it.
func changed(c host.Controller, change func(runtime.Object) []runtime.Object) host.Controller {
	inner := c.New
	c.New = func(env *host.Env) host.Reconciler {
		e := *env
		e.Client = careless{env.Client, change}
		return inner(&e)
	}
	return c
}

type careless struct {
	host.Client
	change func(runtime.Object) []runtime.Object
}

func (c careless) Create(ctx context.Context, obj runtime.Object) (runtime.Object, error) {
	return each(ctx, obj, c.change, c.Client.Create)
}

func (c careless) Update(ctx context.Context, obj runtime.Object) (runtime.Object, error) {
	return each(ctx, obj, c.change, c.Client.Update)
}

func each(ctx context.Context, obj runtime.Object, change func(runtime.Object) []runtime.Object,
	send func(context.Context, runtime.Object) (runtime.Object, error)) (answer runtime.Object, err error) {
	answer = obj
	for _, o := range change(obj.DeepCopyObject()) {
		if answer, err = send(ctx, o); err != nil {
			return nil, err
		}
	}
	return answer, nil
}

func larger(obj runtime.Object) []runtime.Object {
	if rs, is := obj.(*appsv1.ReplicaSet); is {
		*rs.Spec.Replicas += 3
	}
	return []runtime.Object{obj}
}

func unlabelled(obj runtime.Object) []runtime.Object {
	if p, is := obj.(*corev1.Pod); is {
		delete(p.Labels, appsv1.ControllerRevisionHashLabelKey)
	}
	return []runtime.Object{obj}
}

func notTheFirst(obj runtime.Object) []runtime.Object {
	if p, is := obj.(*corev1.Pod); is && strings.HasSuffix(p.Name, "-0") {
		return nil
	}
	return []runtime.Object{obj}
}

func twice(obj runtime.Object) []runtime.Object {
	if s, is := obj.(*discoveryv1.EndpointSlice); is && s.ResourceVersion == "" {
		return []runtime.Object{obj, obj.DeepCopyObject()}
	}
	return []runtime.Object{obj}
}

func noSlice(obj runtime.Object) []runtime.Object {
	if _, is := obj.(*discoveryv1.EndpointSlice); is {
		return nil
	}
	return []runtime.Object{obj}
}

// someWriteUnseen: something that the controller has made of a ReplicaSet of the Deployment's had not been shown when
// the sync began.
func someWriteUnseen(w *world, b *law.Breach) bool {
	owner, began := w.ownerAt(b), w.begun(b.Record)
	return anyOf(w.commits(0, began), func(i int, r *sim.Record) bool {
		return r.Process == w.subject.name && r.Object.Kind == "ReplicaSet" && controls(owner, r.After) &&
			!anyOf(w.shown(i, began), func(_ int, d *sim.Record) bool {
				return d.Object.Kind == "ReplicaSet" && d.Version >= r.Version
			})
	})
}

// someHashEmptied: a user has emptied the label of one of the set's revisions.
func someHashEmptied(w *world, b *law.Breach) bool {
	owner := w.ownerAt(b)
	return anyOf(w.commits(0, b.Record), func(_ int, r *sim.Record) bool {
		return r.Process == law.User && r.Object.Kind == "ControllerRevision" && r.Before != nil &&
			r.After != nil && controls(owner, r.Before) &&
			object(r.After).GetLabels()[appsv1.ControllerRevisionHashLabelKey] == ""
	})
}

// someClaimStale: a claim of the set's belongs to a pod that is not there any more.
func someClaimStale(w *world, b *law.Breach) bool {
	set, _ := w.about(b).(*appsv1.StatefulSet)
	all := w.storedAt(b.Record)
	return set != nil && slices.ContainsFunc([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, func(n int) bool {
		return isStale(all, set, n)
	})
}

// many: more than a hundred pods have the labels that the Service selects.
func many(w *world, b *law.Breach) bool {
	all := w.storedAt(b.Record)
	svc, _ := all.with(w.ownerAt(b)).(*corev1.Service)
	return svc != nil && selected(all, svc) > 100
}

// selected is how many pods have the labels that a Service selects.
func selected(all storedAt, svc *corev1.Service) (pods int) {
	for _, o := range all {
		if o.ref.Kind == "Pod" && labels.SelectorFromSet(svc.Spec.Selector).Matches(labels.Set(o.GetLabels())) {
			pods++
		}
	}
	return pods
}
