package acquitted_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

// more are other things that operators do.
var more = []struct {
	name string
	c    func() simtest.Case
}{
	{"conflict-ignored", func() simtest.Case { return with(upsertsCase(), conflicts) }},
	{"reads-live", func() simtest.Case { return with(upsertsCase(), reads) }},
	{"events", func() simtest.Case { return with(upsertsCase(), recorder) }},
	{"defaulting", func() simtest.Case { return unasked(with(conditionsCase(), defaulter)) }},
	{"delete-collection", func() simtest.Case { return with(finalizersCase(), collections) }},
	{"autoscaler", autoscalerCase},
	{"two-owners", func() simtest.Case { return unasked(with(mappingsCase(), sharers)) }},
	{"generated-names", generatedCase},
}

// beats never end: each is tried in fewer schedules, as its world goes on for an
// hour before it counts as being at rest.
var beats = []host.Controller{heartbeat, leader}

// What only tells the time is no fight, and keeps no world from being at rest.
func TestBeats(t *testing.T) {
	for _, c := range beats {
		t.Run(c.Name, func(t *testing.T) {
			x := unasked(with(tried(conditionsCase()), c))
			x.Schedules = 10
			simtest.Check(t, x)
		})
	}
}

// Other idioms are acquitted, too.
func TestMoreRightOperators(t *testing.T) {
	for _, x := range more {
		t.Run(x.name, func(t *testing.T) {
			c := tried(x.c())
			c.Schedules /= 4
			simtest.Check(t, c)
		})
	}
}

func with(c simtest.Case, controllers ...host.Controller) simtest.Case {
	c.Controllers = controllers
	return c
}

// unasked is a case in which nothing is asked at rest but the laws.
func unasked(c simtest.Case) simtest.Case {
	c.AtRest = nil
	return c
}

// reads looks at everything live.
var reads = host.Controller{
	Name: "reads", For: appKind, Owns: []schema.GroupVersionKind{configMaps}, Routes: upserts.Routes,
	New: operator(func(ctx context.Context, c client, key string) error {
		name := key[len("default/"):]
		obj, err := c.Get(ctx, appKind, "default", name)
		if err != nil {
			return ignoreNotFound(err)
		}
		app := appOf(obj)
		if app.DeletionTimestamp != nil {
			return nil
		}
		found, err := c.Get(ctx, configMaps, app.Namespace, app.Name)
		if apierrors.IsNotFound(err) {
			m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: app.Name}, Data: map[string]string{"image": app.Spec.Image}}
			if err := controlled(app, m); err != nil {
				return err
			}
			_, err = c.Create(ctx, m)
			return err
		}
		if err != nil {
			return err
		}
		m := found.(*corev1.ConfigMap).DeepCopy()
		if m.Data["image"] == app.Spec.Image && metav1.IsControlledBy(m, app) {
			return nil
		}
		m.Data = map[string]string{"image": app.Spec.Image}
		if err := controlled(app, m); err != nil {
			return err
		}
		_, err = c.Update(ctx, m)
		return err
	}),
}

// heartbeat writes the time into an annotation of its own object.
var heartbeat = host.Controller{
	Name: "heartbeat", For: appKind, Routes: []host.Route{itself(appKind)},
	New: operator(func(ctx context.Context, c client, key string) error {
		app := c.app(key)
		if app == nil || app.DeletionTimestamp != nil {
			return nil
		}
		const beat = "example.com/last-seen"
		last, err := time.Parse(time.RFC3339, app.Annotations[beat])
		if age := c.env.Now().Sub(last); err == nil && age < 10*time.Second {
			c.env.Queue.AddAfter(key, 10*time.Second-age)
			return nil
		}
		metav1.SetMetaDataAnnotation(&app.ObjectMeta, beat, c.env.Now().UTC().Format(time.RFC3339))
		if err := c.updateApp(ctx, app); err != nil {
			return err
		}
		c.env.Queue.AddAfter(key, 10*time.Second)
		return nil
	}),
}

// recorder tells of each look that changes something in an Event.
var recorder = host.Controller{
	Name: "recorder", For: appKind, Owns: []schema.GroupVersionKind{configMaps}, Routes: upserts.Routes,
	New: func(env *host.Env) host.Reconciler {
		sync := upserts.New(env)
		return host.SyncFunc(func(ctx context.Context, key string) error {
			err := sync.Sync(ctx, key)
			app := client{env.Client, env}.app(key)
			if app == nil {
				return err
			}
			reason := "Synced"
			if err != nil {
				reason = "Failed"
			}
			now := metav1.NewTime(env.Now())
			e := &corev1.Event{
				ObjectMeta:     metav1.ObjectMeta{Namespace: app.Namespace, Name: fmt.Sprintf("%s.%x", app.Name, env.Now().UnixNano())},
				InvolvedObject: corev1.ObjectReference{APIVersion: "example.com/v1", Kind: "App", Namespace: app.Namespace, Name: app.Name, UID: app.UID},
				Reason:         reason, Type: "Normal", FirstTimestamp: now, LastTimestamp: now, Count: 1,
			}
			_, _ = env.Client.Create(ctx, e) // an event that is lost is lost
			return err
		})
	},
}

var leases = coordinationv1.SchemeGroupVersion.WithKind("Lease")

// leader renews its lease every ten seconds.
var leader = host.Controller{
	Name: "leader", For: appKind, Routes: []host.Route{itself(appKind)},
	New: func(env *host.Env) host.Reconciler {
		c := client{env.Client, env}
		env.Queue.Add("election")
		return host.SyncFunc(func(ctx context.Context, key string) error {
			if key != "election" {
				return nil
			}
			now := metav1.NewMicroTime(env.Now())
			obj, err := c.Get(ctx, leases, "kube-system", "leader")
			switch {
			case apierrors.IsNotFound(err):
				_, err = c.Create(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "leader"}, Spec: coordinationv1.LeaseSpec{RenewTime: &now}})
			case err == nil:
				l := obj.(*coordinationv1.Lease).DeepCopy()
				l.Spec.RenewTime = &now
				_, err = c.Update(ctx, l)
			}
			if err != nil {
				return err
			}
			env.Queue.AddAfter(key, 10*time.Second)
			return nil
		})
	},
}

// defaulter fills in what the user left out of the spec.
var defaulter = host.Controller{
	Name: "defaulter", For: appKind, Routes: []host.Route{itself(appKind)},
	New: operator(func(ctx context.Context, c client, key string) error {
		app := c.app(key)
		if app == nil || app.DeletionTimestamp != nil || app.Labels["image"] == app.Spec.Image {
			return nil
		}
		metav1.SetMetaDataLabel(&app.ObjectMeta, "image", app.Spec.Image)
		if app.Spec.Replicas < 3 {
			app.Spec.Replicas = 3
		}
		return c.updateApp(ctx, app)
	}),
}

// collections cleans up by one request for all that is labelled with the App's uid.
var collections = host.Controller{
	Name: "collections", For: appKind, Owns: []schema.GroupVersionKind{configMaps}, Finalizers: []string{finalizer},
	Routes: []host.Route{itself(appKind), itsOwner(configMaps)},
	New: operator(func(ctx context.Context, c client, key string) error {
		app := c.app(key)
		if app == nil {
			return nil
		}
		if app.DeletionTimestamp == nil {
			return syncFinalizersLabelled(ctx, c, app)
		}
		if len(app.Finalizers) == 0 {
			return nil
		}
		_, err := c.Do(ctx, &fakeapi.Request{Verb: fakeapi.DeleteCollection, Kind: c.kind(configMaps), Namespace: app.Namespace,
			List: metav1.ListOptions{LabelSelector: labels.Set{"uid": string(app.UID)}.String()}})
		if err != nil {
			return err
		}
		if err := ignoreNotFound(c.Delete(ctx, secrets, "accounts", account(app).Name, metav1.DeleteOptions{})); err != nil {
			return err
		}
		app.Finalizers = nil
		return c.updateApp(ctx, app)
	}),
}

func syncFinalizersLabelled(ctx context.Context, c client, app *App) error {
	if len(app.Finalizers) == 0 {
		app.Finalizers = []string{finalizer}
		return c.updateApp(ctx, app)
	}
	if _, err := c.Create(ctx, account(app)); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: app.Name + "-0", Labels: map[string]string{"uid": string(app.UID)}}}
	if _, ok := cached[*corev1.ConfigMap](c, configMaps, m.Namespace, m.Name); ok {
		return nil
	}
	if err := controlled(app, m); err != nil {
		return err
	}
	if _, err := c.Create(ctx, m); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}

// autoscaler scales, by its office, ReplicaSets that are an App's.
var autoscaler = host.Controller{
	Name: "autoscaler", For: secrets, Tends: []schema.GroupVersionKind{replicaSets},
	Routes: []host.Route{itself(secrets), {Kind: replicaSets, Do: func(v host.View, _ host.Event, out *host.Effect) {
		out.Keys = append(out.Keys, "default/token")
	}}},
	New: operator(func(ctx context.Context, c client, key string) error {
		if key != "default/token" {
			return nil
		}
		for _, name := range c.env.Informer(replicaSets).GetStore().ListKeys() {
			obj, _, _ := c.env.Informer(replicaSets).GetStore().GetByKey(name)
			o := obj.(metav1.Object)
			if o.GetAnnotations()["load"] == "high" {
				continue
			}
			set := obj.(*appsv1.ReplicaSet).DeepCopy()
			metav1.SetMetaDataAnnotation(&set.ObjectMeta, "load", "high")
			_, err := c.Update(ctx, set) // a patch by name would land on a later ReplicaSet of that name
			if ignoreNotFound(err) != nil {
				return err
			}
		}
		return nil
	}),
}

func autoscalerCase() simtest.Case {
	c := referencesCase()
	c.World += "---\n" + token
	c.Controllers = append(c.Controllers, autoscaler)
	return c
}

// sharers gives its ConfigMap a second owner, which does not control it.
var sharers = host.Controller{
	Name: "sharers", For: appKind, Owns: []schema.GroupVersionKind{configMaps}, Routes: mappings.Routes,
	New: operator(func(ctx context.Context, c client, key string) error {
		app := c.app(key)
		if app == nil || app.DeletionTimestamp != nil {
			return nil
		}
		secret, ok := cached[*corev1.Secret](c, secrets, app.Namespace, app.Spec.Secret)
		if !ok {
			return nil
		}
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: app.Name + "-config"}}
		return createOrUpdate(ctx, c, configMaps, m, func(m *corev1.ConfigMap) error {
			m.Data = map[string]string{"user": string(secret.Data["user"])}
			if err := controlled(app, m); err != nil {
				return err
			}
			for _, r := range m.OwnerReferences {
				if r.UID == secret.UID {
					return nil
				}
			}
			m.OwnerReferences = append(m.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "Secret", Name: secret.Name, UID: secret.UID})
			return nil
		})
	}),
}

// generated keeps spec.replicas ConfigMaps by names that the server makes, counted
// live before anything is made or deleted.
var generated = host.Controller{
	Name: "generated", For: appKind, Owns: []schema.GroupVersionKind{configMaps}, Replicas: replicas,
	Routes: []host.Route{itself(appKind), itsOwner(configMaps)},
	New: operator(func(ctx context.Context, c client, key string) error {
		app := c.app(key)
		if app == nil || app.DeletionTimestamp != nil {
			return nil
		}
		list, err := c.List(ctx, configMaps, app.Namespace, metav1.ListOptions{})
		if err != nil {
			return err
		}
		var own []runtime.Object
		for _, o := range list {
			if metav1.IsControlledBy(o.(metav1.Object), app) && o.(metav1.Object).GetDeletionTimestamp() == nil {
				own = append(own, o)
			}
		}
		for i := len(own); i > int(app.Spec.Replicas); i-- {
			if err := c.remove(ctx, configMaps, own[i-1].(*corev1.ConfigMap)); err != nil {
				return err
			}
		}
		for range int(app.Spec.Replicas) - len(own) {
			m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, GenerateName: app.Name + "-"}}
			if err := controlled(app, m); err != nil {
				return err
			}
			if _, err := c.Create(ctx, m); err != nil {
				return err
			}
		}
		return nil
	}),
}

func generatedCase() simtest.Case {
	c := finalizersCase()
	c.Controllers = []host.Controller{generated}
	c.AtRest = nil
	c.User = slices.DeleteFunc(c.User, func(a simtest.Action) bool { return a.Do == nil }) // those are of children by their names
	return c
}
