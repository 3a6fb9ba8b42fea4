package fakeapi

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Who writes again what he wrote changes nothing, however often, by whatever way, and
// whatever time it is; who noted what of the object stays in one order.
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
					t.Errorf("%s, %s to %q by %s: the revision moves from %s to %s by %s", kind.GVK.Kind, how,
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

// A create that is not carried out uses no uid up, and the uid that a dry run shows is
// nobody's: not that of the object made afterwards, nor of another dry run.
func TestUIDsOfCreatesThatAreNotCarriedOut(t *testing.T) {
	uid := func(s *Server, dryRun ...string) types.UID {
		r, _ := create(s, pod("a"), dryRun...)
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		return r.Object.(*corev1.Pod).UID
	}
	plain, s := New(Options{}), New(Options{})
	dry, again := uid(s, metav1.DryRunAll), uid(s, metav1.DryRunAll)
	bad := pod("a")
	bad.Spec.Containers = nil
	if r, _ := create(s, bad); r.Code != 422 {
		t.Fatal(r.Err)
	}
	made := uid(s)
	if dry == again || made == dry || made == again {
		t.Errorf("dry runs show %s and %s, and then there is %s", dry, again, made)
	}
	if want := uid(plain); made != want {
		t.Errorf("after dry runs and refusals it is %s, without %s", made, want)
	}
}
