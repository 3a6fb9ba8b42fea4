// Package history keeps the earlier templates of a set as ControllerRevisions, for StatefulSet and DaemonSet: a
// revision's content and name, a set's revisions, and how many are kept.
//
// A revision holds the template as a strategic merge patch that restores it. It is found by these bytes, not by name:
// the name ends in a hash of them and may be taken.
package history

import (
	"bytes"
	"cmp"
	"encoding/json"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// Kind is the kind of a revision.
var Kind = appsv1.SchemeGroupVersion.WithKind("ControllerRevision")

// HashLabel is the label of a StatefulSet's revision with the hash in its name.
const HashLabel = "controller.kubernetes.io/hash"

// Data returns the content of a template's revision. It depends on the template only, byte for byte. Fields are sorted
// by name, as upstream's are, so both produce equal revisions and names.
func Data(template *corev1.PodTemplateSpec) []byte {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(template)
	if err != nil {
		panic("history: a template that the server took did not convert: " + err.Error())
	}
	fields["$patch"] = "replace"
	data, err := json.Marshal(map[string]any{"spec": map[string]any{"template": fields}})
	if err != nil {
		panic("history: a template that the server took did not encode: " + err.Error())
	}
	return data
}

// Memo caches the content of a template's revision by the set's key.
type Memo map[string]memorized

type memorized struct {
	uid        types.UID
	generation int64
	data       []byte
}

// Data returns [Data] of a set's template, cached by the set's generation.
func (m Memo) Data(key string, set metav1.Object, template *corev1.PodTemplateSpec) []byte {
	e, ok := m[key]
	if !ok || e.uid != set.GetUID() || e.generation != set.GetGeneration() {
		e = memorized{set.GetUID(), set.GetGeneration(), Data(template)}
		m[key] = e
	}
	return e.data
}

// Restore returns a set at a revision: with the template and everything else that the revision holds. It returns an
// error if the revision is not a patch of such a set, as a hand-made one may be.
func Restore[Set any](set *Set, revision *appsv1.ControllerRevision) (*Set, error) {
	now, err := json.Marshal(set)
	if err != nil {
		panic("history: a set that the server took did not encode: " + err.Error())
	}
	then, err := strategicpatch.StrategicMergePatch(now, revision.Data.Raw, *set)
	if err != nil {
		return nil, err
	}
	restored := new(Set)
	return restored, json.Unmarshal(then, restored)
}

// Hash returns a hash of a revision's data, of at most ten characters, for its name. Another collision count gives
// another hash; nil differs from 0.
func Hash(data []byte, collisions *int32) string {
	h := fnv.New32()
	h.Write(data)
	if collisions != nil {
		h.Write(strconv.AppendInt(nil, int64(*collisions), 10))
	}
	return Safe(h.Sum32())
}

// Safe formats a hash in characters that form no words: consonants and few digits.
func Safe(hash uint32) string {
	const letters = "bcdfghjklmnpqrstvwxz2456789"
	text := strconv.AppendUint(nil, uint64(hash), 10)
	for i, c := range text {
		text[i] = letters[int(c)%len(letters)]
	}
	return string(text)
}

// Name is the name of a revision of a set. Of the set's name so much is taken that
// there is room for the hash.
func Name(set, hash string) string {
	const room = 223
	return set[:min(len(set), room)] + "-" + hash
}

// Sort sorts revisions, the oldest first: by number; where that is the same, by
// when they were made, then by name.
func Sort(revisions []*appsv1.ControllerRevision) {
	slices.SortStableFunc(revisions, func(a, b *appsv1.ControllerRevision) int {
		return cmp.Or(
			cmp.Compare(a.Revision, b.Revision),
			a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
			strings.Compare(a.Name, b.Name),
		)
	})
}

// Next is the number of the next revision after these, which are sorted.
func Next(revisions []*appsv1.ControllerRevision) int64 {
	if len(revisions) == 0 {
		return 1
	}
	return revisions[len(revisions)-1].Revision + 1
}

// Holding returns those of the revisions that hold the data, in their order.
func Holding(revisions []*appsv1.ControllerRevision, data []byte) []*appsv1.ControllerRevision {
	var same []*appsv1.ControllerRevision
	for _, r := range revisions {
		if bytes.Equal(r.Data.Raw, data) {
			same = append(same, r)
		}
	}
	return same
}
