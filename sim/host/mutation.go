package host

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/difference"
	"github.com/threelaws/threelaws/sim"
)

// mutationOf returns the record of a cached object that was changed in place, with the changed field. The
// original is decoded from its stored encoding.
func mutationOf(k *fakeapi.Kind, v *version) sim.Record {
	r := sim.Record{Op: sim.Mutation, Verb: "mutate", Object: refOf(k, v.meta), After: v.obj}
	r.Message = "a cached object"
	if original := decode(k.New(), v.encoded); original != nil {
		gvk := v.obj.GetObjectKind().GroupVersionKind() // not part of the encoding
		original.GetObjectKind().SetGroupVersionKind(gvk)
		r.Before = original
		if leaves := difference.Of(original, v.obj); len(leaves) > 0 {
			l := leaves[0]
			r.Message = fmt.Sprintf("%s: %s became %s", l.Path, shown(l.Was), shown(l.Is))
			r.Reason = l.Path
		}
	}
	return r
}

func decode(into runtime.Object, data []byte) runtime.Object {
	u, ok := into.(interface{ Unmarshal([]byte) error })
	if !ok || u.Unmarshal(data) != nil {
		return nil
	}
	return into
}

// shown returns a value for a message: text unquoted, anything else as JSON.
func shown(v reflect.Value) string {
	if v = difference.Inside(v); !v.IsValid() {
		return "(absent)"
	}
	if v.Kind() == reflect.String {
		return v.String()
	}
	return difference.JSON(v)
}
