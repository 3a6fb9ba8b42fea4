package scenarios_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
	"github.com/threelaws/threelaws/sim/host"
)

// noting returns a controller that creates the ConfigMap result when it sees the ConfigMap a. The result contains what
// finds returns at that time.
func noting(name string, finds func(ctx context.Context, env *host.Env) (string, error)) host.Controller {
	secret := corev1.SchemeGroupVersion.WithKind("Secret")
	return host.Controller{Name: name, For: configMap,
		Routes: []host.Route{{Kind: configMap, Do: func(_ host.View, e host.Event, out *host.Effect) {
			if e.New != nil && e.New.(metav1.Object).GetName() == "a" {
				out.Keys = append(out.Keys, "default/a")
			}
		}}},
		New: func(env *host.Env) host.Reconciler {
			env.Informer(configMap)
			env.Informer(secret)
			return host.SyncFunc(func(ctx context.Context, _ string) error {
				text, err := finds(ctx, env)
				if err != nil {
					return err
				}
				m := &corev1.ConfigMap{Data: map[string]string{"is": text}}
				m.Namespace, m.Name = "default", "result"
				if _, err = env.Client.Create(ctx, m); apierrors.IsAlreadyExists(err) {
					return nil
				}
				return err
			})
		}}
}

// beside returns a controller that is not under test.
func beside(c host.Controller) host.Controller {
	c.Contract.Exempt = true
	return c
}

// failed returns a program that does nothing, and has printed the same error five times.
func failed() host.Controller {
	return host.Hosting(host.Controller{Name: "failed", For: configMap},
		func(*host.Cluster, string) host.Program { return printing{} })
}

type printing struct{}

func (printing) Start()                         {}
func (printing) Kill()                          {}
func (printing) Asked() []*host.Call            { return nil }
func (printing) Queried() []host.Query          { return nil }
func (printing) Ended() (error, bool)           { return nil, false }
func (printing) Answer(*host.Call)              {}
func (printing) Send(*host.Stream, watch.Event) {}

func (printing) Printed(int) []string {
	return slices.Repeat([]string{"2017-03-01T00:00:00Z\tINFO\tconnects", "2017-03-01T00:00:00Z\tERROR\tno such host"}, 5)
}

// The settled world is compared with those of quiet runs. Late events must not change the result; another order of two
// user actions may change it.
func TestSameEnd(t *testing.T) {
	secret := corev1.SchemeGroupVersion.WithKind("Secret")
	cached := func(_ context.Context, env *host.Env) (string, error) {
		return strconv.Itoa(len(env.Informer(secret).GetStore().List())), nil
	}
	live := func(ctx context.Context, env *host.Env) (string, error) {
		list, err := env.Client.List(ctx, secret, "default", metav1.ListOptions{})
		return strconv.Itoa(len(list)), err
	}
	more := func(ctx context.Context, env *host.Env) (string, error) {
		if len(env.Informer(secret).GetStore().List()) > 0 {
			return "", nil
		}
		m := &corev1.ConfigMap{}
		m.Namespace, m.Name = "default", "more"
		_, err := env.Client.Create(ctx, m)
		if apierrors.IsAlreadyExists(err) {
			err = nil
		}
		return "", err
	}
	ready := func(ctx context.Context, env *host.Env, name, status string) error {
		o, err := env.Client.Get(ctx, corev1.SchemeGroupVersion.WithKind("Pod"), "default", name)
		if err != nil {
			return err
		}
		p := o.DeepCopyObject().(*corev1.Pod)
		p.Status.Conditions = []corev1.PodCondition{{Type: "Ready", Status: corev1.ConditionStatus(status)}}
		_, err = env.Client.UpdateStatus(ctx, p)
		return err
	}
	reports := func(seen string) func(context.Context, *host.Env) (string, error) {
		return func(ctx context.Context, env *host.Env) (string, error) {
			if len(env.Informer(secret).GetStore().List()) == 0 {
				return "", nil
			}
			return "", ready(ctx, env, "p", seen)
		}
	}
	reportsToo := func(ctx context.Context, env *host.Env) (string, error) {
		if err := ready(ctx, env, "q", "True"); err != nil || len(env.Informer(secret).GetStore().List()) > 0 {
			return "", err
		}
		return "", ready(ctx, env, "p", "True")
	}
	// sized creates a ReplicationController with one replica more if the cache has the Secret.
	sized := func(autoscaler bool) func(context.Context, *host.Env) (string, error) {
		return func(ctx context.Context, env *host.Env) (string, error) {
			n := int32(1 + len(env.Informer(secret).GetStore().List()))
			at := metav1.ObjectMeta{Namespace: "default", Name: "sized"}
			of := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
			all := []runtime.Object{&corev1.ReplicationController{ObjectMeta: at, Spec: corev1.ReplicationControllerSpec{Replicas: &n, Template: &of}}}
			if autoscaler {
				all = append(all, &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: at, Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
					MaxReplicas: 3, ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{
						APIVersion: "v1", Kind: "ReplicationController", Name: at.Name}}})
			}
			for _, o := range all {
				if _, err := env.Client.Create(ctx, o); err != nil && !apierrors.IsAlreadyExists(err) {
					return "", err
				}
			}
			return "", nil
		}
	}
	issued := func(before, after string) func(context.Context, *host.Env) (string, error) {
		return func(ctx context.Context, env *host.Env) (string, error) {
			text, err := cached(ctx, env)
			return before + text + after, err
		}
	}
	named := func(name string) func(context.Context, *host.Env) (string, error) {
		return func(context.Context, *host.Env) (string, error) { return name, nil }
	}
	// versioned returns the resourceVersion of an object that is written once more if the cache lacks the Secret.
	versioned := func(ctx context.Context, env *host.Env) (string, error) {
		o, err := env.Client.Get(ctx, configMap, "default", "a")
		if err != nil {
			return "", err
		}
		m := o.DeepCopyObject().(*corev1.ConfigMap)
		if len(env.Informer(secret).GetStore().List()) == 0 && m.Annotations == nil {
			m.Annotations = map[string]string{"seen": "early"}
			if o, err = env.Client.Update(ctx, m); err != nil {
				return "", err
			}
		}
		return o.(metav1.Object).GetResourceVersion(), nil
	}
	for _, c := range []struct {
		name        string
		left, right host.Controller
		says        string // a part of the violation's text; "" for none
		leaves      string // what is excluded from the comparison
	}{
		{"kept", noting("left", live), noting("right", live), "", ""},
		{"violated: what the cache lacks decides", noting("left", cached), noting("right", cached), "cm/result: data.is is 0, and 1 in a quiet run", ""},
		{"violated: an object more", noting("left", more), noting("right", more),
			"there are 3 objects of kind ConfigMap, and 2 in a quiet run; only here: cm/more", ""},
		{"looks wrong: the first of two decides", noting("left", named("left")), noting("right", named("right")), "",
			"left out, since quiet runs differ there: ConfigMap data.is"},
		{"violated: a condition that was not seen", noting("left", reports("True")), noting("right", named("")),
			"status.conditions[Ready].status is True in fewer objects of kind Pod than in a quiet run; " +
				"status.conditions[Ready].type is Ready in fewer objects of kind Pod than in a quiet run", ""},
		{"violated: a condition of one object more", noting("left", reportsToo), noting("right", named("")),
			"status.conditions[Ready].status is True in 2 objects of kind Pod, and in 1 in a quiet run; " +
				"status.conditions[Ready].type is Ready in 2 objects of kind Pod, and in 1 in a quiet run", ""},
		{"looks wrong: a condition that only a controller beside writes", beside(noting("left", reports("True"))), beside(noting("right", named(""))),
			"", ""},
		{"looks wrong: a condition that is over", noting("left", reports("False")), noting("right", named("")), "", ""},
		{"looks wrong: a condition that is not known", noting("left", reports("False")), noting("right", reports("Unknown")), "", ""},
		{"violated: a number of replicas", noting("left", sized(false)), noting("right", named("")),
			"rc/sized: spec.replicas is 1, and 2 in a quiet run", ""},
		{"looks wrong: the replicas of an autoscaler's target", noting("left", sized(true)), noting("right", named("")), "", ""},
		{"looks wrong: a status of a program that fails for ever", noting("left", reports("True")), failed(), "",
			"the status is left out, since a quiet run ends while failed retries after an error"},
		{"violated: data that was not seen, and a program that fails for ever", noting("left", cached), failed(),
			"cm/result: data.is is 0, and 1 in a quiet run",
			"the status is left out, since a quiet run ends while failed retries after an error"},
		{"looks wrong: a resourceVersion", noting("left", versioned), noting("right", versioned), "",
			"left out, since quiet runs differ there: ConfigMap data.is"},
		{"looks wrong: a time in a text", noting("left", issued("made at 2017-03-01 00:00:0", ".5 +0000 UTC")),
			noting("right", issued("made at 2017-03-01 00:00:0", ".5 +0000 UTC")), "", ""},
		{"looks wrong: a time", noting("left", issued("2017-03-01T00:00:0", "Z")), noting("right", issued("2017-03-01T00:00:0", "Z")), "", ""},
		{"looks wrong: a certificate", noting("left", issued("-----BEGIN CERTIFICATE-----\n", "")),
			noting("right", issued("-----BEGIN CERTIFICATE-----\n", "")), "", ""},
		{"looks wrong: a certificate in base64", noting("left", issued("LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk", "")),
			noting("right", issued("LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk", "")), "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := builtin.Complete(&scenarios.Registry{Controllers: []host.Controller{c.left, c.right}})
			f, err := scenarios.Parse("same-end.txtar", []byte("controllers "+c.left.Name+" "+c.right.Name+"\nsettle quiet\napply world.yaml\nsettle\n"+
				"ensure same-end\n-- world.yaml --\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\n---\napiVersion: v1\n"+
				"kind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"+
				"spec: {containers: [{name: c, image: i}]}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: q}\n"+
				"spec: {containers: [{name: c, image: i}]}\n"))
			must(t, err)
			x, err := scenarios.Explore(t.Context(), f, -1, g, scenarios.ExploreOptions{Schedules: 100})
			must(t, err)
			if x.Uncompared != c.leaves {
				t.Errorf("the comparison leaves out %q", x.Uncompared)
			}
			if c.says == "" {
				if len(x.Failures) > 0 {
					t.Errorf("came to\n%s", x.Text())
				}
				return
			}
			if len(x.Failures) != 1 || x.Failures[0].Law != "same-end" ||
				x.Failures[0].Text != c.says {
				t.Fatalf("came to\n%s", x.Text())
			}
			if text := string(x.Failures[0].File); !strings.Contains(text, "\n! ensure same-end\n") {
				t.Errorf("the file that replays it is\n%s", text)
			}
		})
	}
}
