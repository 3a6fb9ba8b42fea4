package controllermanager_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi"
)

// cluster is a server on which kube-controller-manager runs, with a kubelet that acts at once.
type cluster struct {
	*kubernetes.Clientset
	dynamic dynamic.Interface
	config  *rest.Config
	changed chan struct{} // not empty after a write
}

var it *cluster

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "controllermanager")
	if err != nil {
		panic(err)
	}
	it = start(dir)
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func start(dir string) *cluster {
	server := fakeapi.New(fakeapi.Options{ManagedFields: true})
	c := &cluster{changed: make(chan struct{}, 1)}
	h := httpapi.New(server, func() time.Time { return time.Now().UTC() })
	h.Execute = func(req *fakeapi.Request) fakeapi.Response {
		before := server.Version()
		resp, _ := server.Do(time.Now().UTC(), req)
		if server.Version() != before {
			select {
			case c.changed <- struct{}{}:
			default:
			}
		}
		return resp
	}
	url := httptest.NewServer(h).URL
	c.config = &rest.Config{Host: url, QPS: -1}
	c.Clientset = kubernetes.NewForConfigOrDie(c.config)
	c.dynamic = dynamic.NewForConfigOrDie(c.config)
	define(c)
	go c.kubelet()
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(kubeconfig, fmt.Appendf(nil, kubeconfigText, url), 0o600); err != nil {
		panic(err)
	}
	manager := app.NewControllerManagerCommand()
	// These two controllers work for kubeadm, and need objects that it creates.
	manager.SetArgs([]string{"--kubeconfig=" + kubeconfig, "--leader-elect=false", "--secure-port=0",
		"--controllers=*,-bootstrap-signer-controller,-token-cleaner-controller",
		"--kube-api-qps=1000", "--kube-api-burst=1000"})
	go func() {
		panic(fmt.Sprint("kube-controller-manager has ended: ", manager.ExecuteContext(context.Background())))
	}()
	return c
}

const kubeconfigText = `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: %q}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
users: [{name: u, user: {}}]
current-context: c
`

var ctx = context.Background()

// patience is the maximum time of a wait: the slowest controllers poll every half minute.
const patience = 2 * time.Minute

// until waits until so returns true. It checks after each write.
func (c *cluster) until(t *testing.T, what string, so func() (bool, any)) {
	t.Helper()
	end := time.After(patience)
	for {
		ok, have := so()
		if ok {
			return
		}
		select {
		case <-c.changed:
		case <-end:
			raw, _ := json.MarshalIndent(have, "", " ")
			t.Fatalf("%s: not within %v: %s", what, patience, raw)
		}
	}
}

func (c *cluster) namespace(t *testing.T) string {
	name := strings.ToLower(t.Name())
	must(c.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}},
		metav1.CreateOptions{}))
	return name
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// kubelet runs every Pod when it appears. The Pods of Jobs succeed at once.
func (c *cluster) kubelet() {
	for {
		w, err := c.CoreV1().Pods("").Watch(ctx, metav1.ListOptions{})
		if err != nil {
			panic(err)
		}
		for ev := range w.ResultChan() {
			if pod, ok := ev.Object.(*corev1.Pod); ok && ev.Type == watch.Added {
				c.run(pod)
			}
		}
	}
}

func (c *cluster) run(pod *corev1.Pod) {
	phase, ready := corev1.PodRunning, corev1.ConditionTrue
	if owner := metav1.GetControllerOf(pod); owner != nil && owner.Kind == "Job" {
		phase, ready = corev1.PodSucceeded, corev1.ConditionFalse
	}
	now := metav1.Now()
	var containers []corev1.ContainerStatus
	for _, c := range pod.Spec.Containers {
		containers = append(containers, corev1.ContainerStatus{Name: c.Name, Image: c.Image,
			Ready: ready == corev1.ConditionTrue,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}})
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.UID}, "status": corev1.PodStatus{
		Phase: phase, StartTime: &now, ContainerStatuses: containers,
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready, LastTransitionTime: now}}}})
	if err != nil {
		panic(err)
	}
	// Ignore an error: a Pod that is gone needs no kubelet.
	_, _ = c.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch,
		metav1.PatchOptions{}, "status")
}

func labels(name string) map[string]string { return map[string]string{"app": name} }

func selector(name string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: labels(name)}
}

func template(name string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels(name)},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i:1"}}}}
}

func named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }
