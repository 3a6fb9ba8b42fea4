package cli

import (
	"fmt"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/internal/check"
)

// define adds the CRDs that the objects beside a sample need, and leaves out objects whose kinds or versions no CRD
// serves. It returns a note for each.
func (op *operator) define(sample *check.File) (notes []string) {
	for _, o := range slices.Clone(sample.Objects[1:]) {
		gvk := o.GroupVersionKind()
		if ownKinds().Kind(gvk) != nil || op.serves(gvk) {
			continue
		}
		var found []*check.File
		if !op.hasKind(gvk.Group, gvk.Kind) {
			found = op.crdsOf(gvk.Group, gvk.Kind)
		}
		op.installCRDs(found)
		for _, f := range found {
			notes = append(notes, fmt.Sprintf("CRD %s of %s is added: the sample's file has an object of its kind", f.Objects[0].GetName(), f.Name))
		}
		if !op.serves(gvk) {
			sample.Objects = slices.DeleteFunc(slices.Clone(sample.Objects), func(other check.Object) bool { return other == o })
			notes = append(notes, fmt.Sprintf("%s: %s %s is left out: no CRD serves %s of %s", sample.Name, o.GetKind(), o.GetName(),
				gvk.Kind, o.GetAPIVersion()))
		}
	}
	return notes
}

// serves reports whether a CRD serves a version of a kind.
func (op *operator) serves(gvk schema.GroupVersionKind) bool {
	return slices.ContainsFunc(op.CRDs, func(f *check.File) bool {
		return slices.ContainsFunc(f.Objects, func(o check.Object) bool {
			group, kind := defined(o)
			versions, _, _ := unstructured.NestedSlice(o.Object, "spec", "versions")
			return group == gvk.Group && kind == gvk.Kind && slices.ContainsFunc(versions, func(v any) bool {
				of, _ := v.(map[string]any)
				return of["name"] == gvk.Version && of["served"] == true
			})
		})
	})
}

func (op *operator) hasKind(group, kind string) bool {
	return slices.ContainsFunc(op.CRDs, func(f *check.File) bool {
		return slices.ContainsFunc(f.Objects, func(o check.Object) bool {
			of, name := defined(o)
			return of == group && name == kind
		})
	})
}

// installCRDs moves CRDs to the installed ones.
func (op *operator) installCRDs(added []*check.File) {
	op.OtherCRDs = slices.DeleteFunc(op.OtherCRDs, func(f *check.File) bool { return slices.Contains(added, f) })
	for _, f := range added {
		if i := slices.IndexFunc(op.CRDs, func(other *check.File) bool { return other.Name == f.Name }); i >= 0 {
			op.CRDs[i].Objects = append(op.CRDs[i].Objects, f.Objects...)
		} else {
			op.CRDs = append(op.CRDs, &check.File{Name: f.Name, Path: f.Path, Objects: slices.Clone(f.Objects)})
		}
	}
}

// crdsOf returns the CRDs of a kind that are not installed: those of the repository, otherwise those of its modules.
func (op *operator) crdsOf(group, kind string) (all []*check.File) {
	for _, f := range op.OtherCRDs {
		if of, name := defined(f.Objects[0]); of == group && name == kind {
			all = append(all, f)
		}
	}
	if all == nil && op.ModuleCRDs != nil {
		all = op.ModuleCRDs(group, kind)
	}
	return all
}

// unmatched matches the error of a client that does not find a kind.
var unmatched = regexp.MustCompile(`\bno matches for kind "(\w+)" in version "([\w.-]+)/(\w+)"`)

// lackedCRDs returns the CRDs of kinds that the operator did not find, according to its output: CRDs of the repository, and
// otherwise those of its modules.
func (op *operator) lackedCRDs(said string) (lacked []*check.File) {
	for _, f := range op.OtherCRDs {
		group, kind := defined(f.Objects[0])
		missing := regexp.MustCompile(fmt.Sprintf(`\bno matches for kind "%[1]s" in version "%[2]s/|"kind": ?"%[1]s\.%[2]s"|`+
			`\bcache to be synced for Kind \*\w+\.%[1]s\b`, regexp.QuoteMeta(kind), regexp.QuoteMeta(group)))
		if missing.MatchString(said) {
			lacked = append(lacked, f)
		}
	}
	for _, match := range unmatched.FindAllStringSubmatch(said, -1) {
		found := operator{CRDs: slices.Concat(op.CRDs, lacked)}
		if op.ModuleCRDs != nil && !found.hasKind(match[2], match[1]) {
			lacked = append(lacked, op.ModuleCRDs(match[2], match[1])...)
		}
	}
	return lacked
}

// defined returns the group and the kind that a CRD defines.
func defined(crd check.Object) (group, kind string) {
	group, _, _ = unstructured.NestedString(crd.Object, "spec", "group")
	kind, _, _ = unstructured.NestedString(crd.Object, "spec", "names", "kind")
	return group, kind
}
