// Package history keeps the past templates of a set as ControllerRevisions, which
// StatefulSet and DaemonSet share: what a revision holds, what it is called, which
// revisions are a set's, and how many of them are kept.
//
// A revision holds the template as a strategic merge patch that puts it back. It
// is found again by these bytes, not by its name: the name ends in a hash of them
// and is only likely to be free.
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

// HashLabel is the label by which a StatefulSet's revision says the hash in its name.
const HashLabel = "controller.kubernetes.io/hash"

// Data is what a revision of a template holds. It depends on the template alone,
// byte for byte: fields are sorted by name, as upstream's are, so that its
// revisions are ours and have equal names.
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

// Memo remembers by its set's key what a revision of a template holds: what it holds was worked
// out from the template, and can be again.
type Memo map[string]memorized

type memorized struct {
	uid        types.UID
	generation int64
	data       []byte
}

// Data is [Data] of a set's template, which is another one only in another generation of the
// set.
func (m Memo) Data(key string, set metav1.Object, template *corev1.PodTemplateSpec) []byte {
	e, ok := m[key]
	if !ok || e.uid != set.GetUID() || e.generation != set.GetGeneration() {
		e = memorized{set.GetUID(), set.GetGeneration(), Data(template)}
		m[key] = e
	}
	return e.data
}

// Restore returns a set as it was at a revision: with the template, and whatever
// else the revision holds, put back. It returns an error where the revision holds
// no patch of such a set, as one made by hand may.
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

// Hash is a hash of a revision's data in ten characters or fewer that name it.
// Another number of collisions gives another hash of the same data; nil is none,
// which is not the same as 0.
func Hash(data []byte, collisions *int32) string {
	h := fnv.New32()
	h.Write(data)
	if collisions != nil {
		h.Write(strconv.AppendInt(nil, int64(*collisions), 10))
	}
	return Safe(h.Sum32())
}

// Safe writes a hash in characters that make no words: consonants and few digits.
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
