package conversion

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// same refuses an answer that is about another object.
func same(in, out *object) error {
	for _, is := range [...]struct{ what, want, got string }{
		{"kind", in.GetKind(), out.GetKind()}, {"name", in.GetName(), out.GetName()},
		{"namespace", in.GetNamespace(), out.GetNamespace()}, {"UID", string(in.GetUID()), string(out.GetUID())},
	} {
		if is.want != is.got {
			return fmt.Errorf("must have the same %s: %v != %v", is.what, is.want, is.got)
		}
	}
	return nil
}

// restoreMeta gives the answer the metadata that was sent: only labels and
// annotations are its to change.
func restoreMeta(in, out *object) error {
	sent, ok := out.Object["metadata"]
	if !ok {
		return errors.New("missing metadata in converted object")
	}
	answered, ok := sent.(map[string]any)
	if !ok {
		return fmt.Errorf("invalid metadata of type %T in converted object", sent)
	}
	own := map[string]any{}
	if had, ok := in.Object["metadata"]; ok {
		if own, ok = runtime.DeepCopyJSONValue(had).(map[string]any); !ok {
			return fmt.Errorf("invalid metadata of type %T in input object", had)
		}
	}
	out.Object["metadata"] = own
	for _, name := range [...]string{"labels", "annotations"} {
		if answered[name] == nil {
			delete(own, name)
			continue
		}
		if err := restoreField(own, answered, name); err != nil {
			return err
		}
	}
	return nil
}

func restoreField(own, answered map[string]any, name string) error {
	now, ok := answered[name].(map[string]any)
	if !ok {
		return fmt.Errorf("invalid metadata.%s of type %T in converted object", name, answered[name])
	}
	was, ok := own[name].(map[string]any)
	if !ok && own[name] != nil {
		return fmt.Errorf("invalid metadata.%s of type %T in original object", name, own[name])
	}
	texts, changed := make(map[string]string, len(now)), len(was) != len(now)
	for _, key := range slices.Sorted(maps.Keys(now)) {
		text, ok := now[key].(string)
		if !ok {
			return fmt.Errorf("metadata.%s[%s] must be a string, but is %T in converted object", name, key, now[key])
		}
		texts[key], changed = text, changed || was[key] != any(text)
	}
	var errs field.ErrorList
	switch {
	case !changed:
	case name == "labels":
		errs = metav1validation.ValidateLabels(texts, field.NewPath("metadata", "labels"))
	default:
		errs = apivalidation.ValidateAnnotations(texts, field.NewPath("metadata", "annotation"))
	}
	if len(errs) > 0 {
		return errs.ToAggregate()
	}
	own[name] = now
	return nil
}
