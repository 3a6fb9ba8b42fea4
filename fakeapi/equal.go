package fakeapi

import (
	"bytes"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// unchanged says whether an edit leaves the object as it is stored: then
// nothing is written and the resourceVersion stays.
func (c *call) unchanged(ed *edit, obj runtime.Object, old *entry, m metav1.Object) bool {
	if old.lazy || !sameMeta(m, old.meta) {
		return false
	}
	if ed.onlyMeta {
		return true
	}
	now, typed := obj.(encoded)
	was, both := old.obj.(encoded)
	if typed && both {
		return sameEncoding(now, was)
	}
	return equality.Semantic.DeepEqual(obj, old.obj)
}

// encoded is what the generated types of the API have: a deterministic
// encoding, which is what the real server stores and compares.
type encoded interface {
	Size() int
	MarshalToSizedBuffer(data []byte) (int, error)
}

// buffers are the encodings of two values that are being compared.
type buffers struct{ a, b []byte }

var spareBuffers = sync.Pool{New: func() any { return new(buffers) }}

// sameEncoding says whether two values of one type are stored as the same bytes.
func sameEncoding(a, b encoded) bool {
	size := a.Size()
	if size != b.Size() {
		return false
	}
	spare := spareBuffers.Get().(*buffers)
	spare.a, spare.b = encodeTo(a, size, spare.a), encodeTo(b, size, spare.b)
	same := bytes.Equal(spare.a, spare.b)
	spareBuffers.Put(spare)
	return same
}

func encodeTo(v encoded, size int, buf []byte) []byte {
	if cap(buf) < size {
		buf = make([]byte, 2*size)
	}
	buf = buf[:size]
	if _, err := v.MarshalToSizedBuffer(buf); err != nil {
		panic("fakeapi: an object does not encode: " + err.Error())
	}
	return buf
}

// same says whether two parts of objects mean the same. What is stored as the
// same bytes does; the rest is compared by meaning, as quantities have several
// forms.
func same(a, b encoded) bool { return sameEncoding(a, b) || equality.Semantic.DeepEqual(a, b) }

// sameMeta compares everything in metadata that a client can change.
func sameMeta(a, b metav1.Object) bool {
	return a.GetGeneration() == b.GetGeneration() &&
		sameTime(a.GetDeletionTimestamp(), b.GetDeletionTimestamp()) &&
		sameInt(a.GetDeletionGracePeriodSeconds(), b.GetDeletionGracePeriodSeconds()) &&
		sameMap(a.GetLabels(), b.GetLabels()) && sameMap(a.GetAnnotations(), b.GetAnnotations()) &&
		sameStrings(a.GetFinalizers(), b.GetFinalizers()) && sameRefs(a.GetOwnerReferences(), b.GetOwnerReferences()) &&
		a.GetGenerateName() == b.GetGenerateName() && a.GetSelfLink() == b.GetSelfLink() &&
		(len(a.GetManagedFields()) == 0 && len(b.GetManagedFields()) == 0 ||
			equality.Semantic.DeepEqual(a.GetManagedFields(), b.GetManagedFields()))
}

func sameTime(a, b *metav1.Time) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(b)
}

func sameInt(a, b *int64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

func sameMap(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if w, ok := b[k]; !ok || w != v {
			return false
		}
	}
	return true
}

func sameStrings(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func sameRefs(a, b []metav1.OwnerReference) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !sameRef(&a[i], &b[i]) {
			return false
		}
	}
	return true
}
