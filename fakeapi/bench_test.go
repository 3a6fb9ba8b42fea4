package fakeapi

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

const stored = 50000

// full returns a server with 50,000 Pods: 100 for each owner, and 100 for each label.
func full(b *testing.B) *Server {
	b.Helper()
	s := New(Options{})
	for i := range stored {
		p := pod(fmt.Sprintf("p%05d", i))
		set := fmt.Sprint(i / 100)
		p.Labels = map[string]string{"app": "web", "set": set}
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: set,
			UID: types.UID(set), Controller: new(true)}}
		mustDo(b, s, &Request{Verb: Create, Kind: podKind, Namespace: "default", Object: p})
	}
	b.ReportAllocs()
	b.ResetTimer()
	return s
}

func BenchmarkCreate(b *testing.B) {
	s := full(b)
	p := pod("")
	req := &Request{Verb: Create, Kind: podKind, Namespace: "default", Object: p}
	for i := range b.N {
		p.Name = fmt.Sprintf("n%08d", i)
		if r, _ := s.Do(noon, req); r.Err != nil {
			b.Fatal(r.Err)
		}
	}
}

func BenchmarkGet(b *testing.B) {
	s := full(b)
	req := &Request{Verb: Get, Kind: podKind, Namespace: "default"}
	names := make([]string, 1000)
	for i := range names {
		names[i] = fmt.Sprintf("p%05d", i*37%stored)
	}
	b.ResetTimer()
	for i := range b.N {
		req.Name = names[i%len(names)]
		if r, _ := s.Do(noon, req); r.Err != nil {
			b.Fatal(r.Err)
		}
	}
}

func BenchmarkAdopt(b *testing.B) {
	s := full(b)
	adopt := []byte(
		`{"metadata":{"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"two","uid":"two","controller":true,"blockOwnerDeletion":true}],"uid":"%s"}}`)
	release := []byte(`{"metadata":{"ownerReferences":[{"$patch":"delete","uid":"two"}]}}`)
	mustDo(b, s, &Request{Verb: Create, Kind: podKind, Namespace: "default", Object: pod("orphan")})
	p := s.Lookup(podKind, "default", "orphan").(*corev1.Pod)
	adopt = fmt.Appendf(nil, string(adopt), p.UID)
	req := &Request{Verb: Patch, Kind: podKind, Namespace: "default", Name: "orphan",
		PatchType: types.StrategicMergePatchType}
	b.ResetTimer()
	for i := range b.N {
		req.Patch = adopt
		if i%2 == 1 {
			req.Patch = release
		}
		if r, _ := s.Do(noon, req); r.Err != nil {
			b.Fatal(r.Err)
		}
	}
}

func BenchmarkUpdateStatus(b *testing.B) {
	s := full(b)
	p := s.Lookup(podKind, "default", "p00077").DeepCopyObject().(*corev1.Pod)
	p.ResourceVersion = ""
	req := &Request{Verb: Update, Kind: podKind, Subresource: "status", Namespace: "default", Name: "p00077", Object: p}
	for i := range b.N {
		p.Status.Message = [...]string{"a", "b"}[i%2]
		if r, _ := s.Do(noon, req); r.Err != nil {
			b.Fatal(r.Err)
		}
	}
}

func BenchmarkListOwned(b *testing.B) {
	s := full(b)
	items := make([]runtime.Object, 0, 100)
	for range b.N {
		items = items[:0]
		s.EachOwned(podKind, "77", func(obj runtime.Object) bool { items = append(items, obj); return true })
		if len(items) != 100 {
			b.Fatal(len(items))
		}
	}
}

func BenchmarkListLabel(b *testing.B) {
	s := full(b)
	req := &Request{Verb: List, Kind: podKind, Namespace: "default", List: metav1.ListOptions{LabelSelector: "set=77"}}
	for range b.N {
		if r, _ := s.Do(noon, req); len(r.Items) != 100 {
			b.Fatal(len(r.Items))
		}
	}
}

func BenchmarkDelete(b *testing.B) {
	filled := full(b)
	s := filled.Fork()
	req := &Request{Verb: Delete, Kind: podKind, Namespace: "default"}
	for i := range b.N {
		if i%stored == 0 && i > 0 {
			s = filled.Fork()
		}
		req.Name = fmt.Sprintf("p%05d", i%stored)
		if r, _ := s.Do(noon, req); r.Err != nil {
			b.Fatal(r.Err)
		}
	}
}

func BenchmarkForkWrite(b *testing.B) {
	s := full(b)
	p := pod("n")
	req := &Request{Verb: Create, Kind: podKind, Namespace: "default", Object: p}
	for range b.N {
		if r, _ := s.Fork().Do(noon, req); r.Err != nil {
			b.Fatal(r.Err)
		}
	}
}
