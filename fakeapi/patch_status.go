package fakeapi

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	kjson "sigs.k8s.io/json"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/typedpatch"
)

// patchStatus applies a strategic merge patch of a status and of nothing else, as kubelets
// send it, without turning the rest of the object into maps and back: that comes out as it
// was, and takes longer than all else that is done with the request. It returns nil when the
// patch is not of that sort, or when there is something to say about it; [call.patchWhole]
// then does it, and says it.
func (c *call) patchStatus(old *entry) runtime.Object {
	if c.req.PatchType != types.StrategicMergePatchType || c.req.Subresource != "status" || c.s.manages(old.meta) {
		return nil
	}
	if _, ok := old.obj.(metav1.ObjectMetaAccessor); !ok {
		return nil
	}
	patch := map[string]any{}
	if found, err := kjson.UnmarshalStrict(c.req.Patch, &patch); err != nil || len(found) > 0 {
		return nil
	}
	obj := old.obj.DeepCopyObject()
	if !takeNames(patch, metadata.Of(obj)) || len(patch) != 1 || !mergeStatus(obj, patch["status"]) {
		return nil
	}
	obj.GetObjectKind().SetGroupVersionKind(c.k.GVK)
	if c.decoded(obj) != nil {
		return nil
	}
	return obj
}

// takeNames moves what a patch says of which object it is for to that object. It returns
// false where the patch's metadata say more.
func takeNames(patch map[string]any, m metav1.Object) bool {
	meta, is := patch["metadata"]
	if !is {
		return true
	}
	delete(patch, "metadata")
	fields, ok := meta.(map[string]any)
	if !ok {
		return false
	}
	for name, value := range fields { //detcheck:ordered each goes where it belongs
		text, ok := value.(string)
		switch {
		case ok && name == "uid":
			m.SetUID(types.UID(text))
		case ok && name == "resourceVersion":
			m.SetResourceVersion(text)
		default:
			return false
		}
	}
	return true
}

// mergeStatus merges a patch of a status into an object's. It returns false where the patch
// cannot be merged so, or has fields that a status does not have.
func mergeStatus(obj runtime.Object, patch any) bool {
	fields, ok := patch.(map[string]any)
	status := reflect.ValueOf(obj).Elem().FieldByName("Status")
	if !ok || !status.IsValid() {
		return false
	}
	return typedpatch.Merge(status, fields)
}
