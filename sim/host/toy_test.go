package host

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	corelisters "k8s.io/client-go/listers/core/v1"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

var (
	podGVK       = corev1.SchemeGroupVersion.WithKind("Pod")
	configMapGVK = corev1.SchemeGroupVersion.WithKind("ConfigMap")
)

// toy is a controller that keeps as many pods with the label app=NAME as the data of a ConfigMap says. It lists pods
// from its cache, so a stale cache makes it create too many.
type toy struct {
	env   *Env
	pods  corelisters.PodLister
	maps  corelisters.ConfigMapLister
	spoil bool // changes a cached pod
}

func toyController(spoil bool) Controller {
	return Controller{
		Name: "toy", Era: "v1", For: configMapGVK, Owns: nil,
		New: func(env *Env) Reconciler {
			return &toy{env: env, spoil: spoil,
				pods: corelisters.NewPodLister(env.Informer(podGVK).GetIndexer()),
				maps: corelisters.NewConfigMapLister(env.Informer(configMapGVK).GetIndexer())}
		},
		Routes: []Route{
			{Kind: configMapGVK, Do: func(_ View, e Event, out *Effect) {
				if e.New != nil {
					out.Keys = append(out.Keys, keyOf(e.New.(metav1.Object)))
				}
			}},
			{Kind: podGVK, Do: func(v View, e Event, out *Effect) {
				obj := e.New
				if obj == nil {
					obj = e.Old
				}
				if app := obj.(metav1.Object).GetLabels()["app"]; v.Get(configMapGVK, "default", app) != nil {
					out.Keys = append(out.Keys, "default/"+app)
				}
			}},
		},
	}
}

func (t *toy) Sync(ctx context.Context, key string) error {
	ns, name := splitKey(key)
	cm, err := t.maps.ConfigMaps(ns).Get(name)
	if err != nil {
		return nil
	}
	pods, err := t.pods.Pods(ns).List(labels.SelectorFromSet(labels.Set{"app": name}))
	if err != nil {
		return err
	}
	if t.spoil && len(pods) > 0 {
		pods[0].Labels["spoilt"] = "yes"
	}
	var want int
	fmt.Sscan(cm.Data["replicas"], &want)
	for i := len(pods); i < want; i++ {
		if _, err := t.env.Client.Create(ctx, toyPod(name)); err != nil {
			return err
		}
	}
	for i := want; i < len(pods); i++ {
		if err := t.env.Client.Delete(ctx, podGVK, ns, pods[i].Name, metav1.DeleteOptions{}); err != nil {
			return err
		}
	}
	return nil
}

func toyPod(app string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: app + "-",
			Labels: map[string]string{"app": app}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
}

// newToyCluster returns a cluster with a ConfigMap "web" that wants this number of pods.
func newToyCluster(t testing.TB, c sim.Choices, replicas int) *Cluster {
	t.Helper()
	cl := NewCluster(sim.New(c), fakeapi.New(fakeapi.Options{}))
	cl.createMap(t, "web", replicas)
	return cl
}

func (c *Cluster) createMap(t testing.TB, name string, replicas int) {
	t.Helper()
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Data: map[string]string{"replicas": fmt.Sprint(replicas)}}
	r := c.As("user",
		&fakeapi.Request{Verb: fakeapi.Create, Kind: c.kind(configMapGVK), Namespace: "default", Name: name,
			Object: cm})
	if r.Err != nil {
		t.Fatal(r.Err)
	}
}

// run takes steps until only faults are possible. The test fails if more than limit steps are needed.
func run(t testing.TB, w *sim.World, limit int) {
	t.Helper()
	for range limit {
		if !w.Step() {
			return
		}
	}
	t.Fatalf("not quiet after %d steps", limit)
}

func podNames(c *Cluster) []string {
	var out []string
	s := c.state(c.kind(podGVK))
	for _, k := range sortedKeys(s.latest) {
		if s.latest[k].obj != nil {
			out = append(out, k)
		}
	}
	return out
}
