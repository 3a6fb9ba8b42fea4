package kubectltest

import (
	"context"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi"
)

// timesAsFast is the unit of the ratio.
const timesAsFast = "times-as-fast"

const ownerUID = "5c2fd0a8-0000-4000-8000-000000000000"

// adoption is the patch by which the ReplicaSet controller adopts a Pod.
func adoption(uid types.UID) []byte {
	return []byte(`{"metadata":{"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","uid":"` +
		ownerUID +
		`","controller":true,"blockOwnerDeletion":true}],"uid":"` + string(uid) + `"}}`)
}

// BenchmarkAdoptCycle compares the cycle create an orphan, adopt it, get it,
// delete it: this server through Do and through client-go, and
// controller-runtime's fake client. The sub-benchmark "ratio" runs both in turn
// and reports how many times as fast Do is.
func BenchmarkAdoptCycle(b *testing.B) {
	b.Run("do", func(b *testing.B) { perCycle(b, doCycle(b)) })
	b.Run("client-go", func(b *testing.B) { perCycle(b, clientCycle(b)) })
	b.Run("controller-runtime-fake", func(b *testing.B) { perCycle(b, rivalCycle(b)) })
	b.Run("ratio", ratio)
}

// ratio runs both in turn, so that both meet the same machine.
func ratio(b *testing.B) {
	ours, rivals := doCycle(b), rivalCycle(b)
	var spent [2]time.Duration
	for b.Loop() {
		for i, cycle := range []func(){ours, rivals} {
			began := time.Now()
			cycle()
			spent[i] += time.Since(began)
		}
	}
	b.ReportMetric(float64(spent[1])/float64(spent[0]), timesAsFast)
}

func perCycle(b *testing.B, cycle func()) {
	b.ReportAllocs()
	for b.Loop() {
		cycle()
	}
}

// doCycle goes through Server.Do, without encoding.
func doCycle(b *testing.B) func() {
	s := fakeapi.New(fakeapi.Options{})
	kind := s.Kind(corev1.SchemeGroupVersion.WithKind("Pod"))
	orphan := pod("p", map[string]string{"app": "web"})
	do := func(req fakeapi.Request) runtime.Object {
		req.Kind, req.Namespace, req.Name = kind, "default", "p"
		resp, _ := s.Do(today, &req)
		if resp.Err != nil {
			b.Fatal(resp.Err)
		}
		return resp.Object
	}
	return func() {
		p := do(fakeapi.Request{Verb: fakeapi.Create, Object: orphan}).(*corev1.Pod)
		do(fakeapi.Request{Verb: fakeapi.Patch, PatchType: types.StrategicMergePatchType, Patch: adoption(p.UID)})
		got := do(fakeapi.Request{Verb: fakeapi.Get}).(*corev1.Pod)
		if metav1.GetControllerOfNoCopy(got) == nil {
			b.Fatal("it is not adopted")
		}
		do(fakeapi.Request{Verb: fakeapi.Delete})
	}
}

// clientCycle goes through client-go's typed clientset, in protobuf, over the
// transport inside the process.
func clientCycle(b *testing.B) func() {
	h := httpapi.New(fakeapi.New(fakeapi.Options{}), func() time.Time { return today })
	config := &rest.Config{Host: address, Transport: http.RoundTripper(h.Transport()), QPS: -1}
	config.ContentType, config.AcceptContentTypes = protobufMedia, protobufMedia
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		b.Fatal(err)
	}
	pods, ctx := c.CoreV1().Pods("default"), context.Background()
	orphan := pod("p", map[string]string{"app": "web"})
	return func() {
		p, err := pods.Create(ctx, orphan, metav1.CreateOptions{})
		check(b, err)
		_, err = pods.Patch(ctx, "p", types.StrategicMergePatchType, adoption(p.UID), metav1.PatchOptions{})
		check(b, err)
		got, err := pods.Get(ctx, "p", metav1.GetOptions{})
		check(b, err)
		if metav1.GetControllerOfNoCopy(got) == nil {
			b.Fatal("it is not adopted")
		}
		check(b, pods.Delete(ctx, "p", metav1.DeleteOptions{}))
	}
}

// rivalCycle is the same with controller-runtime's fake client.
func rivalCycle(b *testing.B) func() {
	c, ctx := fake.NewClientBuilder().WithScheme(scheme.Scheme).Build(), context.Background()
	return func() {
		p := pod("p", map[string]string{"app": "web"})
		check(b, c.Create(ctx, p))
		check(b, c.Patch(ctx, p, client.RawPatch(types.StrategicMergePatchType, adoption(p.UID))))
		got := &corev1.Pod{}
		check(b, c.Get(ctx, client.ObjectKeyFromObject(p), got))
		if metav1.GetControllerOfNoCopy(got) == nil {
			b.Fatal("it is not adopted")
		}
		check(b, c.Delete(ctx, got))
	}
}

func check(b *testing.B, err error) {
	if err != nil {
		b.Fatal(err)
	}
}
