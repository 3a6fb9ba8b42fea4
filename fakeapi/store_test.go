package fakeapi

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

func makePod(t testing.TB, s *Server, name string) *corev1.Pod {
	return mustDo(t, s, &Request{Verb: Create, Kind: podKind, Namespace: "default",
		Object: pod(name)}).Object.(*corev1.Pod)
}

func names(objects []runtime.Object) (all []string) {
	for _, obj := range objects {
		all = append(all, obj.(metav1.Object).GetName())
	}
	return all
}

func listed(t testing.TB, s *Server) []string {
	return names(mustDo(t, s, &Request{Verb: List, Kind: podKind, Namespace: "default"}).Items)
}

func TestForksAreIndependent(t *testing.T) {
	s := New(Options{})
	makePod(t, s, "a")
	f := s.Fork()
	makePod(t, f, "b")
	makePod(t, s, "c")
	g := f.Fork()
	mustDo(t, g, &Request{Verb: Delete, Kind: podKind, Namespace: "default", Name: "a"})
	for _, c := range []struct {
		s    *Server
		want []string
	}{{s, []string{"a", "c"}}, {f, []string{"a", "b"}}, {g, []string{"b"}}} {
		if got := listed(t, c.s); !slices.Equal(got, c.want) {
			t.Errorf("pods %v, want %v", got, c.want)
		}
	}
	if a, b := s.Lookup(podKind, "default", "a"), f.Lookup(podKind, "default", "a"); a != b {
		t.Error("the fork has copied objects")
	}
	if s.Version() != f.Version() {
		t.Errorf("after one write each, the revisions are %d and %d", s.Version(), f.Version())
	}
	events, err := f.Since(podKind, 0)
	if err != nil || len(events) != 2 || events[1].Key != "default/b" {
		t.Errorf("the fork's changes are %v, %v", events, err)
	}
}

func TestSnapshotAt(t *testing.T) {
	s := New(Options{})
	makePod(t, s, "b")
	first := s.Version()
	makePod(t, s, "a")
	second := s.Version()
	mustDo(t, s, &Request{Verb: Patch, Kind: podKind, Namespace: "default", Name: "b", PatchType: types.MergePatchType,
		Patch: []byte(`{"metadata":{"labels":{"app":"db"}}}`)})
	third := s.Version()
	mustDo(t, s, &Request{Verb: Delete, Kind: podKind, Namespace: "default", Name: "b"})
	for _, c := range []struct {
		at    uint64
		names []string
		label string
	}{{first, []string{"b"}, "web"}, {second, []string{"a", "b"}, "web"}, {third, []string{"a", "b"}, "db"},
		{s.Version(), []string{"a"}, ""}} {
		got, err := s.SnapshotAt(podKind, c.at)
		if err != nil || !slices.Equal(names(got), c.names) {
			t.Errorf("at %d: %v, %v, want %v", c.at, names(got), err, c.names)
			continue
		}
		if last := got[len(got)-1].(*corev1.Pod); c.label != "" && last.Labels["app"] != c.label {
			t.Errorf("at %d b has label %s, want %s", c.at, last.Labels["app"], c.label)
		}
	}
}

func TestCompactExpires(t *testing.T) {
	s := New(Options{})
	makePod(t, s, "a")
	old := s.Version()
	makePod(t, s, "b")
	kept := s.Version()
	makePod(t, s, "c")
	f := s.Fork()
	if oldest := s.Oldest(podKind); oldest != 0 {
		t.Errorf("the oldest revision is %d before any compaction", oldest)
	}
	s.Compact(kept)
	if oldest := s.Oldest(podKind); oldest != kept {
		t.Errorf("the oldest revision is %d, want %d", oldest, kept)
	}
	if _, err := s.Since(podKind, old); !apierrors.IsResourceExpired(err) {
		t.Errorf("since a compacted revision: %v", err)
	}
	if _, err := s.SnapshotAt(podKind, old); !apierrors.IsResourceExpired(err) {
		t.Errorf("snapshot at a compacted revision: %v", err)
	}
	if events, err := s.Since(podKind, kept); err != nil || len(events) != 1 || events[0].Key != "default/c" {
		t.Errorf("since the compaction: %v, %v", events, err)
	}
	if events, err := f.Since(podKind, 0); err != nil || len(events) != 3 {
		t.Errorf("a compaction has changed the server's fork: %v, %v", events, err)
	}
}

func TestRequestsAreNotKept(t *testing.T) {
	s := New(Options{})
	p := pod("a")
	made := mustDo(t, s, &Request{Verb: Create, Kind: podKind, Namespace: "default", Object: p}).Object.(*corev1.Pod)
	if p.UID != "" || p.Spec.DNSPolicy != "" {
		t.Error("create has changed the caller's object")
	}
	p.Labels["app"], p.Spec.Containers[0].Image = "x", "x"
	if made.Labels["app"] == "x" || made.Spec.Containers[0].Image == "x" {
		t.Error("create stores the caller's object")
	}
}

func TestListByIndexIsListByScan(t *testing.T) {
	s := New(Options{})
	for i := range 40 {
		p := pod("p" + strconv.Itoa(i))
		p.Labels = map[string]string{"app": []string{"a", "b"}[i%2], "n": strconv.Itoa(i % 5)}
		mustDo(t, s, &Request{Verb: Create, Kind: podKind, Namespace: []string{"default", "kube-system"}[i%3%2],
			Object: p})
	}
	for _, ns := range []string{"", "default", "kube-system"} {
		for _, text := range []string{"app=a", "app=b,n=3", "n in (2)", "n in (1,2)", "app!=a", "app=none"} {
			sel, err := s.selectors(podKind, &metav1.ListOptions{LabelSelector: text})
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			s.EachIn(podKind, ns, func(obj runtime.Object) bool {
				if sel.match(obj) {
					want = append(want, obj.(metav1.Object).GetName())
				}
				return true
			})
			got := names(mustDo(t, s, &Request{Verb: List, Kind: podKind, Namespace: ns,
				List: metav1.ListOptions{LabelSelector: text}}).Items)
			if !slices.Equal(got, want) {
				t.Errorf("%q in %q: %v, want %v", text, ns, got, want)
			}
		}
	}
}

// ForgetNames drops the names of deleted objects. Objects that are created later still get new uids.
func TestForgetNames(t *testing.T) {
	s := New(Options{})
	seen := map[types.UID]bool{}
	once := func(name string) {
		p := makePod(t, s, name)
		if seen[p.UID] {
			t.Fatalf("%s has the uid %s, which was used before", name, p.UID)
		}
		seen[p.UID] = true
		mustDo(t, s, &Request{Verb: Delete, Kind: podKind, Namespace: "default", Name: p.Name})
	}
	for round := range 4 {
		for range round + 1 {
			once("again")
		}
		for i := range 10 {
			once(fmt.Sprintf("once-%d-%d", round, i))
		}
		made := pod("")
		made.GenerateName = "made-"
		p := mustDo(t, s, &Request{Verb: Create, Kind: podKind, Namespace: "default", Object: made}).Object
		if want := fmt.Sprintf("made-%d", round+1); p.(interface{ GetName() string }).GetName() != want {
			t.Errorf("generated %v, want %s", p, want)
		}
		if got := s.tables[podKind.ordinal].past.Len(); got != 11 {
			t.Errorf("%d names are kept before ForgetNames, want 11", got)
		}
		l := mustDo(t, s, &Request{Verb: Create, Kind: limitRangeKind, Namespace: "default", Object: &corev1.LimitRange{}})
		name := l.Object.(*corev1.LimitRange).Name
		if seen[types.UID(name)] {
			t.Errorf("a LimitRange has the name %s, which was used before", name)
		}
		seen[types.UID(name)] = true
		mustDo(t, s, &Request{Verb: Delete, Kind: limitRangeKind, Namespace: "default", Name: name})
		s.ForgetNames(s.Version())
		if table := s.tables[podKind.ordinal]; table.past.Len() != 0 || table.made.Len() != 0 {
			t.Errorf("%d names and %d prefixes are kept after ForgetNames", table.past.Len(), table.made.Len())
		}
	}
}

// A repeated write changes nothing, with every verb and at any time. The order of managedFields stays the same.
func TestWritesThatChangeNothing(t *testing.T) {
	const template = `"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i:1",` +
		`"resources":{"requests":{"cpu":"0.5"}}}]}}`
	selected := `{"selector":{"matchLabels":{"a":"b"}},` + template + `}`
	const status = `{"replicas":1,` +
		`"conditions":[{"type":"X","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z"}]}`
	for kind, spec := range map[*Kind]string{
		kindOf(&appsv1.StatefulSet{}): `{"serviceName":"s",` + selected[1:],
		kindOf(&appsv1.Deployment{}):  selected, kindOf(&appsv1.ReplicaSet{}): selected,
		kindOf(&corev1.ReplicationController{}): `{"selector":{"a":"b"},` + template + `}`,
	} {
		s, now := New(Options{ManagedFields: true}), noon
		about := fmt.Sprintf(`"apiVersion":%q,"kind":%q,"metadata":{"name":"x"}`, kind.GVK.GroupVersion(),
			kind.GVK.Kind)
		write := func(manager, subresource string, how types.PatchType, body string) {
			last := ""
			for i := range 3 {
				now = now.Add(1500 * time.Millisecond)
				req := &Request{Verb: Patch, Kind: kind, Subresource: subresource, Namespace: "default", Name: "x",
					PatchType: how, Patch: []byte(body), PatchO: metav1.PatchOptions{FieldManager: manager}}
				if how == types.ApplyPatchType {
					req.PatchO.Force = new(true)
				}
				r, events := s.Do(now, req)
				if r.Err != nil {
					t.Fatalf("%s %s %s: %v", kind.GVK.Kind, how, body, r.Err)
				}
				version := r.Object.(metav1.Object).GetResourceVersion()
				if i > 0 && (version != last || len(events) > 0) {
					t.Errorf("%s, %s to %q by %s: the revision changes from %s to %s by %s", kind.GVK.Kind, how,
						subresource, manager, last, version, body)
				}
				last = version
			}
		}
		write("a", "", types.ApplyPatchType, "{"+about+`,"spec":`+spec+"}")
		for _, manager := range []string{"b", "c", "a"} {
			write(manager, "status", types.MergePatchType, `{"status":`+status+`}`)
			write(manager, "status", types.MergePatchType, `{"status":{"conditions":[]}}`)
			write(manager, "status", types.StrategicMergePatchType,
				`{"spec":{"replicas":7},"metadata":{"labels":{"z":"y"}}}`)
			write(manager, "", types.MergePatchType, `{"status":{"replicas":9}}`)
			write(manager, "", types.MergePatchType, `{"metadata":{"labels":{"l":"m"}}}`)
			write(manager, "", types.ApplyPatchType, "{"+about+`,"spec":`+spec+"}")
			write(manager, "status", types.ApplyPatchType, "{"+about+`,"status":`+status+"}")
			write(manager, "scale", types.MergePatchType, `{"spec":{"replicas":3}}`)
			write(manager, "scale", types.ApplyPatchType,
				`{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"x"},"spec":{"replicas":3}}`)
		}
	}
}
