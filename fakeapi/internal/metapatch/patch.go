// Package metapatch applies the most frequent patches of controllers without decoding JSON, to save time. These patches
// change replicas, or metadata for ownership. The general patch code applies all others.
package metapatch

import (
	"maps"
	"math"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// Patch is a merge patch or strategic merge patch of metadata for ownership. Controllers adopt, release and finalize
// objects with such patches.
type Patch struct {
	uid, version        *string
	labels, annotations *mapPatch
	owners              *ownersPatch
	finalizers          *stringsPatch
	unfinalize          []string // the finalizers to remove: the list $deleteFromPrimitiveList/finalizers of the patch
}

// Names returns the uid and the resourceVersion in the patch; "" for a field that is not in the patch.
func (p *Patch) Names() (uid, version string) { return ptr.Deref(p.uid, ""), ptr.Deref(p.version, "") }

// mapPatch sets each key to the value with the same index. A nil value deletes the key. With null, all are deleted.
type mapPatch struct {
	null   bool
	keys   []string
	values []*string
}

type stringsPatch struct {
	null  bool
	items []string
}

type ownersPatch struct {
	null    bool
	replace bool
	items   []ownerPatch
}

type ownerPatch struct {
	remove                      bool
	apiVersion, kind, name, uid *string
	controller, block           *bool
	clearController, clearBlock bool
}

// Apply patches m. It copies the maps and lists that it changes, because a stored object may share them. If the general
// patch code must apply the patch, Apply returns false, and m is only partly patched.
func (p *Patch) Apply(m metav1.Object, strategic bool) bool {
	if p.uid != nil {
		m.SetUID(types.UID(*p.uid))
	}
	if p.version != nil {
		m.SetResourceVersion(*p.version)
	}
	if p.labels != nil {
		m.SetLabels(p.labels.apply(m.GetLabels()))
	}
	if p.annotations != nil {
		m.SetAnnotations(p.annotations.apply(m.GetAnnotations()))
	}
	if len(p.unfinalize) > 0 {
		m.SetFinalizers(without(m.GetFinalizers(), p.unfinalize))
	}
	if f := p.finalizers; f != nil {
		switch have := m.GetFinalizers(); {
		case f.null:
			m.SetFinalizers(nil)
		case !strategic || len(have) == 0:
			m.SetFinalizers(f.items)
		default:
			m.SetFinalizers(mergeStrings(have, f.items))
		}
	}
	if p.owners == nil {
		return true
	}
	refs, ok := p.owners.apply(m.GetOwnerReferences(), strategic)
	m.SetOwnerReferences(refs)
	return ok
}

func (p *mapPatch) apply(have map[string]string) map[string]string {
	if p.null {
		return nil
	}
	now := make(map[string]string, len(have)+len(p.keys))
	maps.Copy(now, have)
	for i, k := range p.keys {
		if p.values[i] == nil {
			delete(now, k)
		} else {
			now[k] = *p.values[i]
		}
	}
	if len(now) == 0 {
		return nil
	}
	return now
}

func without(have, gone []string) []string {
	var kept []string
	for _, f := range have {
		if !slices.Contains(gone, f) {
			kept = append(kept, f)
		}
	}
	return kept
}

// mergeStrings merges two sets of strings. The result has the same order as after a strategic merge.
func mergeStrings(have, patch []string) []string {
	rest := without(have, patch)
	return interleave(rest, patch, func(f string) int { return slices.Index(have, f) })
}

// interleave merges left (items of the stored object) and right (items of the patch) in the order of the stored list.
// An item that is only in right comes before the remaining items of left.
func interleave[T any](left, right []T, position func(T) int) []T {
	out := make([]T, 0, len(left)+len(right))
	for len(left) > 0 && len(right) > 0 {
		l, r := position(left[0]), position(right[0])
		if l >= 0 && r >= 0 && l < r {
			out, left = append(out, left[0]), left[1:]
		} else {
			out, right = append(out, right[0]), right[1:]
		}
	}
	return append(append(out, left...), right...)
}

func (p *ownersPatch) apply(have []metav1.OwnerReference, strategic bool) ([]metav1.OwnerReference, bool) {
	if p.null {
		return nil, true
	}
	if !strategic || len(have) == 0 || p.replace {
		return p.fresh(), true
	}
	return p.merge(have)
}

func (p *ownersPatch) fresh() []metav1.OwnerReference {
	var refs []metav1.OwnerReference
	for i := range p.items {
		if !p.items[i].remove {
			refs = append(refs, p.items[i].over(metav1.OwnerReference{}))
		}
	}
	return refs
}

// merge merges owner references by uid. It returns false if a uid occurs twice in a list.
func (p *ownersPatch) merge(have []metav1.OwnerReference) ([]metav1.OwnerReference, bool) {
	kept := make([]metav1.OwnerReference, 0, len(have))
	for i := range have {
		if position(have[:i], have[i].UID) >= 0 {
			return nil, false
		}
		if !p.removes(have[i].UID) {
			kept = append(kept, have[i])
		}
	}
	var ours []metav1.OwnerReference
	for i := range p.items {
		item := &p.items[i]
		if item.remove {
			continue
		}
		uid := types.UID(*item.uid)
		if position(ours, uid) >= 0 {
			return nil, false
		}
		base := metav1.OwnerReference{}
		if at := position(kept, uid); at >= 0 {
			base = kept[at]
		}
		ours = append(ours, item.over(base))
	}
	var rest []metav1.OwnerReference
	for i := range kept {
		if position(ours, kept[i].UID) < 0 {
			rest = append(rest, kept[i])
		}
	}
	return interleave(rest, ours, func(r metav1.OwnerReference) int { return position(kept, r.UID) }), true
}

func position(refs []metav1.OwnerReference, uid types.UID) int {
	return slices.IndexFunc(refs, func(r metav1.OwnerReference) bool { return r.UID == uid })
}

func (p *ownersPatch) removes(uid types.UID) bool {
	return slices.ContainsFunc(p.items, func(o ownerPatch) bool { return o.remove && types.UID(*o.uid) == uid })
}

func (o *ownerPatch) over(ref metav1.OwnerReference) metav1.OwnerReference {
	set := func(to *string, from *string) {
		if from != nil {
			*to = *from
		}
	}
	set(&ref.APIVersion, o.apiVersion)
	set(&ref.Kind, o.kind)
	set(&ref.Name, o.name)
	if o.uid != nil {
		ref.UID = types.UID(*o.uid)
	}
	if o.controller != nil || o.clearController {
		ref.Controller = o.controller
	}
	if o.block != nil || o.clearBlock {
		ref.BlockOwnerDeletion = o.block
	}
	return ref
}

// ParseReplicas parses a patch {"spec":{"replicas":n}}. ok is false for any other text.
func ParseReplicas(text []byte) (n int32, ok bool) {
	s := scan{text: text}
	s.need('{')
	s.needWord(`"spec"`)
	s.need(':')
	s.need('{')
	s.needWord(`"replicas"`)
	s.need(':')
	n = s.int32()
	s.need('}')
	s.need('}')
	s.space()
	return n, !s.bad && s.at == len(s.text)
}

func (s *scan) needWord(w string) {
	if !s.word(w) {
		s.bad = true
	}
}

// int32 reads an integer with up to nine digits and no leading zeros.
func (s *scan) int32() int32 {
	negative := s.take('-')
	if !negative {
		s.space()
	}
	start, n := s.at, int64(0)
	for !s.bad && s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9' && n < math.MaxInt32 {
		n = 10*n + int64(s.text[s.at]-'0')
		s.at++
	}
	digits := s.at - start
	if digits == 0 || digits > 9 || digits > 1 && s.text[start] == '0' {
		s.bad = true
	}
	if negative {
		n = -n
	}
	return int32(n)
}
