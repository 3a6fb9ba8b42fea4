package fakeapi

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

// FuzzServer decodes requests from bytes, and checks properties that every API server has.
func FuzzServer(f *testing.F) {
	f.Add([]byte("the quick brown fox jumps over the lazy dog"))
	f.Add([]byte{0, 1, 2, 3, 0, 0, 9, 9, 4, 4, 4, 4, 8, 1, 6, 6, 6, 7, 200, 100, 50, 25, 12, 6, 3})
	f.Add([]byte("\x00\x00\x00\x30\x00\x00\x00\x31\x40\x41\x42\x43\x50\x51\x52\x53"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := New(Options{})
		b := &bytesSource{data: data}
		now := noon
		for range 60 {
			if len(b.data) == 0 {
				return
			}
			now = now.Add(1e9)
			req := b.request(s)
			before := s.Fork()
			r, events := s.Do(now, req)
			checkAnswer(t, before, s, req, r, events)
			if b.pick(16) == 0 {
				s = s.Fork()
			}
		}
	})
}

type bytesSource struct{ data []byte }

func (b *bytesSource) pick(n int) int {
	if len(b.data) == 0 {
		return 0
	}
	x := int(b.data[0])
	b.data = b.data[1:]
	return x % n
}

func (b *bytesSource) of(words ...string) string { return words[b.pick(len(words))] }

func (b *bytesSource) request(s *Server) *Request {
	k := []*Kind{podKind, podKind, configMapKind, replicaSetKind, replicationControllerKind, namespaceKind}[b.pick(6)]
	req := &Request{Kind: k, Namespace: b.of("default", "default", "other"), Name: b.of("a", "b", "c")}
	if !k.Namespaced {
		req.Name = b.of("other", "other", "default")
	}
	switch b.pick(8) {
	case 0, 1:
		req.Verb = Create
		req.Object = b.object(k, req)
	case 2:
		req.Verb, req.Subresource = Update, b.of("", "", "status")
		if old := s.Lookup(k, req.Namespace, req.Name); old != nil {
			req.Object = old.DeepCopyObject()
			b.metadata(metadata.Of(req.Object))
		} else {
			req.Object = b.object(k, req)
		}
	case 3, 4:
		req.Verb, req.Subresource = Patch, b.of("", "", "status", "nothing")
		req.PatchType = []types.PatchType{types.StrategicMergePatchType, types.MergePatchType,
			types.JSONPatchType}[b.pick(3)]
		req.Patch = b.patch()
	case 5, 6:
		req.Verb = Delete
		b.deletion(&req.Delete)
	case 7:
		req.Verb = DeleteCollection
		req.List.LabelSelector = b.of("", "app=x", "app in (x,y)", "=", "app!=x")
		b.deletion(&req.Delete)
	}
	return req
}

func (b *bytesSource) object(k *Kind, req *Request) runtime.Object {
	obj := k.New()
	m := metadata.Of(obj)
	m.SetName(req.Name)
	b.metadata(m)
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "x"}},
		Spec: pod("t").Spec}
	switch obj := obj.(type) {
	case *corev1.Pod:
		obj.Spec = template.Spec
		obj.Spec.NodeName = b.of("", "node", "Bad Name")
	case *corev1.ReplicationController:
		obj.Spec.Template = &template
	}
	return obj
}

func (b *bytesSource) metadata(m metav1.Object) {
	m.SetLabels(map[string]string{"app": b.of("x", "y", "not valid")})
	if b.pick(3) == 0 {
		m.SetFinalizers([]string{b.of("x/f", "orphan", "foregroundDeletion", "bad")})
	}
	if b.pick(3) == 0 {
		var refs []metav1.OwnerReference
		for i := range b.pick(4) {
			refs = append(refs, metav1.OwnerReference{APIVersion: b.of("v1", "apps/v1", ""), Kind: "K",
				Name: fmt.Sprint(i), UID: types.UID(b.of("u1", "u2", "u3")), Controller: new(true)})
		}
		m.SetOwnerReferences(refs)
	}
	if b.pick(4) == 0 {
		m.SetResourceVersion(b.of("", "1", "abc", "0"))
	}
	if b.pick(8) == 0 {
		m.SetUID(types.UID(b.of("", "wrong")))
	}
}

func (b *bytesSource) patch() []byte {
	switch b.pick(6) {
	case 0:
		n := b.pick(40)
		return b.data[:min(len(b.data), n)]
	case 1:
		return fmt.Appendf(nil,
			`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"K","name":"o","uid":%q,"controller":%s}]}}`,
			b.of("u1", "u2", ""), b.of("true", "false", "null", `"x"`))
	case 2:
		return fmt.Appendf(nil, `{"metadata":{"ownerReferences":[{"$patch":%q,"uid":%q}],"uid":%q}}`,
			b.of("delete", "replace", "bogus"), b.of("u1", "u2"), b.of("wrong", ""))
	case 3:
		return fmt.Appendf(nil, `{"metadata":{"finalizers":%s}}`,
			b.of("null", "[]", `["x/f"]`, `["x/g","x/f"]`, `["orphan"]`))
	case 4:
		return fmt.Appendf(nil, `[{"op":%q,"path":%q,"value":%s}]`, b.of("add", "remove", "replace", "test", "x"),
			b.of("/metadata/labels/app", "/metadata/ownerReferences/-", "/metadata/finalizers", "/spec/replicas",
				"/metadata/name", "/metadata/deletionTimestamp"),
			b.of(`"x"`, `null`, `["x/f"]`, `{"apiVersion":"v1","kind":"K","name":"p","uid":"u3","controller":true}`,
				"-1"))
	}
	return fmt.Appendf(nil, `{"spec":%s,"status":%s,"metadata":{"labels":{"app":%q}}}`,
		b.of("{}", "null", `{"replicas":3}`, `{"containers":[]}`), b.of("{}", `{"phase":"Failed"}`, `{"replicas":1}`),
		b.of("x", "y"))
}

func (b *bytesSource) deletion(o *metav1.DeleteOptions) {
	if p := metav1.DeletionPropagation(b.of("", "", "Orphan", "Foreground", "Background", "Bogus")); p != "" {
		o.PropagationPolicy = &p
	}
	if b.pick(4) == 0 {
		grace := int64(b.pick(40) - 5)
		o.GracePeriodSeconds = &grace
	}
	if b.pick(6) == 0 {
		o.Preconditions = metav1.NewUIDPreconditions("wrong")
	}
	if b.pick(8) == 0 {
		o.DryRun = []string{b.of("All", "Bogus")}
	}
}

func checkAnswer(t *testing.T, before, s *Server, req *Request, r Response, events []Event) {
	t.Helper()
	what := fmt.Sprintf("%s %s/%s %s", req.Verb, req.Kind.Resource, req.Subresource, req.Name)
	if r.Err != nil && r.Code != int(r.Err.ErrStatus.Code) || r.Code == 0 {
		t.Fatalf("%s: code %d, error %v", what, r.Code, r.Err)
	}
	if r.Err != nil && req.Verb != DeleteCollection && (len(events) > 0 || s.Version() != before.Version()) {
		t.Fatalf("%s: refused with %v, but the version went from %d to %d", what, r.Err, before.Version(), s.Version())
	}
	last := before.Version()
	for i := range events {
		ev := &events[i]
		if ev.Version != last+1 {
			t.Fatalf("%s: version %d after %d", what, ev.Version, last)
		}
		last = ev.Version
		checkEvent(t, what, ev)
	}
	if s.Version() != last {
		t.Fatalf("%s: version %d, last event %d", what, s.Version(), last)
	}
	for _, k := range s.Kinds() {
		s.Each(k, func(obj runtime.Object) bool {
			checkStored(t, what, before, s, k, metadata.Of(obj))
			return true
		})
	}
}

func checkEvent(t *testing.T, what string, ev *Event) {
	t.Helper()
	shown := ev.After
	if shown == nil {
		shown = ev.Last
	}
	if got := metadata.Of(shown).GetResourceVersion(); got != fmt.Sprint(ev.Version) {
		t.Fatalf("%s: event %d shows resourceVersion %s", what, ev.Version, got)
	}
	if ev.Before == nil || ev.After == nil {
		return
	}
	old, now := metadata.Of(ev.Before), metadata.Of(ev.After)
	if old.GetUID() != now.GetUID() || now.GetGeneration() < old.GetGeneration() {
		t.Fatalf("%s: the uid changed or the generation decreased", what)
	}
	if old.GetDeletionTimestamp() == nil {
		return
	}
	if now.GetDeletionTimestamp() == nil {
		t.Fatalf("%s: the deletion timestamp was removed", what)
	}
	for _, f := range now.GetFinalizers() {
		standard := f == metav1.FinalizerOrphanDependents || f == metav1.FinalizerDeleteDependents
		if !slices.Contains(old.GetFinalizers(), f) && !standard {
			t.Fatalf("%s: finalizer %s was added to a terminating object", what, f)
		}
	}
}

func checkStored(t *testing.T, what string, before, s *Server, k *Kind, m metav1.Object) {
	t.Helper()
	controllers := 0
	for _, ref := range m.GetOwnerReferences() {
		if ref.Controller != nil && *ref.Controller {
			controllers++
		}
	}
	if controllers > 1 {
		t.Fatalf("%s: %s has %d controllers", what, m.GetName(), controllers)
	}
	grace := m.GetDeletionGracePeriodSeconds()
	if m.GetDeletionTimestamp() != nil && len(m.GetFinalizers()) == 0 && (grace == nil || *grace == 0) &&
		k.row.Held == nil {
		t.Fatalf("%s: %s is terminating without finalizers, but still exists", what, m.GetName())
	}
	old := before.Lookup(k, m.GetNamespace(), m.GetName())
	if old != nil && metadata.Of(old).GetResourceVersion() == m.GetResourceVersion() &&
		old != s.Lookup(k, m.GetNamespace(), m.GetName()) {
		t.Fatalf("%s: %s changed without a new resourceVersion", what, m.GetName())
	}
}
