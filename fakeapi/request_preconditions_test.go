package fakeapi

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A precondition is the uid or the revision of the object itself, not of another field of that name.
func TestPreconditions(t *testing.T) {
	uid, version := types.UID("u"), "7"
	for _, c := range []struct {
		form    types.PatchType
		patch   string
		uid     types.UID
		version string
	}{
		{types.MergePatchType, `{"metadata":{"uid":"u","resourceVersion":"7"}}`, uid, version},
		{types.MergePatchType, `{"metadata":{"labels":{"uid":"x","resourceVersion":"y"}}}`, "", ""},
		{types.MergePatchType, `{"metadata":{"uid":null},"data":{"resourceVersion":"7"}}`, "", ""},
		{types.MergePatchType, `{"spec":{"replicas":1},"metadata":{"uid":"u"}}`, uid, ""},
		{types.MergePatchType, `{"metadata":{"UID":"u"},"spec":{}}`, "", ""},
		{types.StrategicMergePatchType, `{"metadata":{"ownerReferences":[{"uid":"o"}],"uid":"u"}}`, uid, ""},
		{types.StrategicMergePatchType, `{"metadata":{"ownerReferences":[{"$patch":"delete","uid":"o"}]}}`, "", ""},
		{types.StrategicMergePatchType, `{"metadata":`, "", ""},
		{types.JSONPatchType, `[{"op":"test","path":"/metadata/uid","value":"u"},
			{"op":"replace","path":"/metadata/resourceVersion","value":"7"}]`, uid, version},
		{types.JSONPatchType, `[{"op":"add","path":"/metadata/labels/uid","value":"u"},
			{"op":"remove","path":"/metadata/uid"}]`, "", ""},
		{types.MergePatchType, `{"metadata":{"uid":"u"},"metadata":{"labels":{"a":"b"}}}`, "", ""},
		{types.MergePatchType, `{"metadata":{"uid":"u","\u0075id":null}}`, "", ""},
		{types.MergePatchType, `{"metadata":{"labels":{"a":1},"\u0075id":"u"}}`, uid, ""},
		{types.JSONPatchType, `[{"op":"replace","path":"/metadata","value":{"uid":"u","resourceVersion":"7"}}]`, uid,
			version},
		{types.ApplyPatchType, "metadata:\n  name: a\n  uid: u\n", uid, ""},
		{types.ApplyPatchType, "metadata:\n  labels:\n    resourceVersion: \"7\"\n", "", ""},
	} {
		u, v := (&Request{Verb: Patch, PatchType: c.form, Patch: []byte(c.patch)}).Preconditions()
		if u != c.uid || v != c.version {
			t.Errorf("%s: %q and %q", c.patch, u, v)
		}
	}
	only := metav1.Preconditions{UID: &uid}
	deletion := &Request{Verb: Delete, Delete: metav1.DeleteOptions{Preconditions: &only}}
	if u, v := deletion.Preconditions(); u != uid || v != "" {
		t.Errorf("a deletion: %q and %q", u, v)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: uid, ResourceVersion: version}}
	if u, v := (&Request{Verb: Update, Object: pod}).Preconditions(); u != uid || v != version {
		t.Errorf("an update: %q and %q", u, v)
	}
}
