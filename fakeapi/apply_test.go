package fakeapi_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
)

// A server without managedFields accepts an apply, and then tracks the applied fields. The next apply removes fields
// that it leaves out, and keeps the fields of other managers.
func TestApplyWithoutManagedFields(t *testing.T) {
	s := fakeapi.New(fakeapi.Options{})
	kind := s.KindNamed("cm")
	do := func(req *fakeapi.Request) *corev1.ConfigMap {
		t.Helper()
		req.Kind, req.Namespace, req.Name = kind, "default", "a"
		resp, _ := s.Do(time.Unix(0, 0), req)
		if resp.Err != nil {
			t.Fatal(resp.Err)
		}
		return resp.Object.(*corev1.ConfigMap)
	}
	apply := func(data string) *corev1.ConfigMap {
		t.Helper()
		force := true
		return do(&fakeapi.Request{Verb: fakeapi.Patch, PatchType: types.ApplyPatchType,
			PatchO: metav1.PatchOptions{FieldManager: "m", Force: &force},
			Patch:  []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":` + data + `}`)})
	}
	do(&fakeapi.Request{Verb: fakeapi.Create,
		Object: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Data: map[string]string{"theirs": "1"}}})
	apply(`{"x":"1","y":"1"}`)
	m := do(&fakeapi.Request{Verb: fakeapi.Patch, PatchType: types.MergePatchType, Patch: []byte(`{"data":{"z":"2"}}`),
		UserAgent: "user"})
	if len(m.ManagedFields) < 2 {
		t.Errorf("managers: %v", m.ManagedFields)
	}
	m = apply(`{"x":"2"}`)
	if len(m.Data) != 3 || m.Data["x"] != "2" || m.Data["z"] != "2" || m.Data["theirs"] != "1" {
		t.Errorf("%v", m.Data)
	}
	if again := apply(`{"x":"2"}`); again.ResourceVersion != m.ResourceVersion {
		t.Error("an apply that changes nothing got a new revision")
	}
}

// Each duplicate key of an applied configuration is a warning of its own.
func TestApplyWarnsOfDuplicateKeys(t *testing.T) {
	s := fakeapi.New(fakeapi.Options{})
	resp, _ := s.Do(time.Unix(0, 0), &fakeapi.Request{Verb: fakeapi.Patch, PatchType: types.ApplyPatchType,
		Kind: s.KindNamed("cm"), Namespace: "default", Name: "a", PatchO: metav1.PatchOptions{FieldManager: "m"},
		Patch: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  x: a\n  x: b\nkind: ConfigMap\n")})
	want := []string{`line 6: key "x" already set in map`, `line 7: key "kind" already set in map`}
	if resp.Err != nil || !slices.Equal(resp.Warnings, want) {
		t.Errorf("%v, warnings %q", resp.Err, resp.Warnings)
	}
}
