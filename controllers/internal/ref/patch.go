package ref

import (
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// adoptPatch appends a strategic merge patch to buf. The patch makes owner, of the kind gvk, the controller of the
// object with the uid dependent. It adds to the list of owners, so the server accepts only the first adopter (API-1,
// ADOPT-6). If dependent is not empty, the server refuses the patch for a recreated object.
func adoptPatch(buf []byte, dependent types.UID, gvk schema.GroupVersionKind, owner metav1.Object) []byte {
	buf = slices.Grow(buf, adoptSize)
	buf = append(buf, `{"metadata":{"ownerReferences":[{"apiVersion":"`...)
	if gvk.Group != "" {
		buf = append(append(buf, gvk.Group...), '/')
	}
	buf = append(buf, gvk.Version...)
	buf = append(buf, `","kind":`...)
	buf = appendString(buf, gvk.Kind)
	buf = append(buf, `,"name":`...)
	buf = appendString(buf, owner.GetName())
	buf = append(buf, `,"uid":`...)
	buf = appendString(buf, string(owner.GetUID()))
	buf = append(buf, `,"controller":true,"blockOwnerDeletion":true}]`...)
	return appendUID(buf, dependent)
}

// adoptSize is the capacity for a patch of usual length.
const adoptSize = 320

// ReleasePatch appends a strategic merge patch to buf. The patch removes only the owners with these uids from the
// object with the uid dependent (ORPHAN-1). If dependent is empty, the patch has no uid.
func ReleasePatch(buf []byte, dependent types.UID, owners ...types.UID) []byte {
	buf = append(buf, `{"metadata":{"ownerReferences":[`...)
	for i, uid := range owners {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = append(buf, `{"$patch":"delete","uid":`...)
		buf = appendString(buf, string(uid))
		buf = append(buf, '}')
	}
	buf = append(buf, ']')
	return appendUID(buf, dependent)
}

// UnblockPatch appends a strategic merge patch to buf. After the patch, the object's references to the owners with
// these uids no longer block the owners' foreground deletion.
func UnblockPatch(buf []byte, dependent types.UID, owners ...types.UID) []byte {
	buf = append(buf, `{"metadata":{"ownerReferences":[`...)
	for i, uid := range owners {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = append(buf, `{"blockOwnerDeletion":false,"uid":`...)
		buf = appendString(buf, string(uid))
		buf = append(buf, '}')
	}
	buf = append(buf, ']')
	return appendUID(buf, dependent)
}

// clearPatch removes every owner. Only a mutant uses it.
func clearPatch(buf []byte, dependent types.UID) []byte {
	return appendUID(append(buf, `{"metadata":{"ownerReferences":null`...), dependent)
}

// alsoFinalizers makes a patch remove every finalizer. Only a mutant uses it.
func alsoFinalizers(patch []byte) []byte {
	return slices.Insert(patch, len(`{"metadata":{`), []byte(`"finalizers":null,`)...)
}

// withFinalizers inserts a field with a list of finalizers into a patch. Without finalizers it inserts nothing.
func withFinalizers(patch []byte, field string, finalizers []string) []byte {
	if len(finalizers) == 0 {
		return patch
	}
	part := []byte(`"` + field + `":[`)
	for i, f := range finalizers {
		if i > 0 {
			part = append(part, ',')
		}
		part = appendString(part, f)
	}
	return slices.Insert(patch, len(`{"metadata":{`), append(part, `],`...)...)
}

func appendUID(buf []byte, uid types.UID) []byte {
	if uid != "" {
		buf = append(buf, `,"uid":`...)
		buf = appendString(buf, string(uid))
	}
	return append(buf, "}}"...)
}

// appendString appends a JSON string. encoding/json quotes text that needs escapes: references may contain any text.
func appendString(buf []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c >= 0x7f || c == '"' || c == '\\' {
			quoted, err := json.Marshal(s)
			if err != nil {
				panic("ref: a string did not encode as JSON: " + err.Error())
			}
			return append(buf, quoted...)
		}
	}
	buf = append(buf, '"')
	buf = append(buf, s...)
	return append(buf, '"')
}
