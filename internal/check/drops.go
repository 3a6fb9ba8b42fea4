package check

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
)

// drops returns the fields of the sample's spec that the controller's writes have removed, for example because its type
// in Go lacks them. It leaves out empty values, which such a type may omit, and writes that also add a field: they may
// have moved a deprecated one.
func (r *quiet) drops(owner manifest) (paths [][]string) {
	for _, rec := range r.writes() {
		if rec.Before == nil || rec.After == nil || rec.Object.Kind != owner.GetKind() || rec.Object.Name != owner.GetName() ||
			rec.Object.Namespace != owner.GetNamespace() {
			continue
		}
		before, after := object(rec.Before.(runtime.Object))["spec"], object(rec.After.(runtime.Object))["spec"]
		if len(lost(after, before, nil)) == 0 {
			paths = append(paths, lost(before, after, []string{"spec"})...)
		}
	}
	return slices.DeleteFunc(paths, func(path []string) bool {
		_, set, _ := unstructured.NestedFieldNoCopy(owner.Object, path...)
		return !set
	})
}

// lost lists the paths of values in before that after lacks. It does not look into lists.
func lost(before, after any, path []string) (paths [][]string) {
	was, _ := before.(map[string]any)
	now, is := after.(map[string]any)
	if !is && after != nil {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(was)) {
		at := append(slices.Clone(path), key)
		if value, has := now[key]; has {
			paths = append(paths, lost(was[key], value, at)...)
		} else if !empty(was[key]) {
			paths = append(paths, at)
		}
	}
	return paths
}

// empty reports whether a type in Go with omitempty omits a value.
func empty(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, below := range v { //detcheck:ordered all must be empty
			if !empty(below) {
				return false
			}
		}
		return true
	case []any:
		return len(v) == 0
	}
	return v == nil || v == false || v == "" || v == int64(0) || v == float64(0)
}

// keepsSpec returns a check that the sample still has the fields that the controller removes in a quiet run, or nil if
// there are none.
func (s *operator) keepsSpec(drops [][]string) scenarios.Func {
	if len(drops) == 0 {
		return nil
	}
	return func(user host.Client) error {
		o, err := user.Get(context.Background(), s.owner.GroupVersionKind(), s.owner.GetNamespace(), s.owner.GetName())
		if err != nil || o.(metav1.Object).GetDeletionTimestamp() != nil {
			return nil
		}
		for _, path := range drops {
			if _, has, _ := unstructured.NestedFieldNoCopy(object(o), path...); !has {
				return fmt.Errorf("%s no longer has %s, which the user has set: the controller's write has removed it", s.owner.at(),
					strings.Join(path, "."))
			}
		}
		return nil
	}
}
