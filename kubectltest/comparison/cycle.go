package main

import (
	"context"
	"fmt"
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

const timesAsFast = "times-as-fast"

const ownerUID = "5c2fd0a8-0000-4000-8000-000000000000"

var today = time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)

func orphan() *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default", Labels: map[string]string{"app": "web"}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "nginx"}}}}
}

func adoption(uid types.UID) []byte {
	return []byte(`{"metadata":{"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","uid":"` +
		ownerUID +
		`","controller":true,"blockOwnerDeletion":true}],"uid":"` + string(uid) + `"}}`)
}

// cycles prints the duration of a cycle: create an orphan, adopt it, get it and delete it. It measures Do, client-go,
// and controller-runtime's fake client. It also prints the ratio of Do to the fake client, measured in turns.
func cycles() {
	perCycle("do", doCycle)
	perCycle("client-go", clientCycle)
	perCycle("controller-runtime-fake", rivalCycle)
	fmt.Println(timesAsFast, testing.Benchmark(ratio).Extra[timesAsFast])
}

// ratio alternates Do and the fake client, so that both run under the same load.
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

func perCycle(name string, start func(*testing.B) func()) {
	r := testing.Benchmark(func(b *testing.B) {
		cycle := start(b)
		for b.Loop() {
			cycle()
		}
	})
	fmt.Println(name, r, r.MemString())
}

// doCycle uses Server.Do, without encoding.
func doCycle(b *testing.B) func() {
	s := fakeapi.New(fakeapi.Options{})
	kind := s.Kind(corev1.SchemeGroupVersion.WithKind("Pod"))
	pod := orphan()
	do := func(req fakeapi.Request) runtime.Object {
		req.Kind, req.Namespace, req.Name = kind, "default", "p"
		resp, _ := s.Do(today, &req)
		if resp.Err != nil {
			b.Fatal(resp.Err)
		}
		return resp.Object
	}
	return func() {
		p := do(fakeapi.Request{Verb: fakeapi.Create, Object: pod}).(*corev1.Pod)
		do(fakeapi.Request{Verb: fakeapi.Patch, PatchType: types.StrategicMergePatchType, Patch: adoption(p.UID)})
		got := do(fakeapi.Request{Verb: fakeapi.Get}).(*corev1.Pod)
		if metav1.GetControllerOfNoCopy(got) == nil {
			b.Fatal("it is not adopted")
		}
		do(fakeapi.Request{Verb: fakeapi.Delete})
	}
}

// clientCycle uses client-go's typed clientset, with protobuf, in the same process.
func clientCycle(b *testing.B) func() {
	h := httpapi.New(fakeapi.New(fakeapi.Options{}), func() time.Time { return today })
	config := &rest.Config{Host: "http://localhost", Transport: http.RoundTripper(h.Transport()), QPS: -1}
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		b.Fatal(err)
	}
	pods, ctx := c.CoreV1().Pods("default"), context.Background()
	pod := orphan()
	return func() {
		p, err := pods.Create(ctx, pod, metav1.CreateOptions{})
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

func rivalCycle(b *testing.B) func() {
	c, ctx := fake.NewClientBuilder().WithScheme(scheme.Scheme).Build(), context.Background()
	return func() {
		p := orphan()
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
