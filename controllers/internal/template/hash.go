// Package template compares pod templates as their controllers do, and hashes them for the names of ReplicaSets.
package template

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash"
	"hash/adler32"
	"hash/fnv"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/dump"

	"github.com/threelaws/threelaws/controllers/internal/history"
)

// HashLabel is the label that distinguishes the pods of a Deployment's ReplicaSets.
const HashLabel = appsv1.DefaultDeploymentUniqueLabelKey

// Hash returns the hash of a template that kube-controller-manager uses in names. Each collision count gives another
// hash. nil means that there was no collision.
func Hash(t *corev1.PodTemplateSpec, collisions *int32) string {
	h := fnv.New32a()
	write(h, t)
	if collisions != nil {
		var count [8]byte // upstream hashes eight bytes, of which it sets four
		binary.LittleEndian.PutUint32(count[:], uint32(*collisions))
		h.Write(count[:])
	}
	return history.Safe(h.Sum32())
}

// OldHash returns the hash of a template that Kubernetes 1.5 and before used in names.
func OldHash(t *corev1.PodTemplateSpec) string {
	h := adler32.New()
	write(h, t)
	return fmt.Sprint(h.Sum32())
}

// write writes every field in a debug format, which distinguishes an empty list from a missing one. Therefore it first
// converts the template to its stored form.
func write(h hash.Hash, t *corev1.PodTemplateSpec) {
	data, err := t.Marshal()
	if err != nil {
		panic("template: a stored template does not encode: " + err.Error())
	}
	var stored corev1.PodTemplateSpec
	if err := stored.Unmarshal(data); err != nil {
		panic("template: an encoded template does not decode: " + err.Error())
	}
	fmt.Fprintf(h, "%v", dump.ForHash(stored))
}

// Same reports whether two templates are equal except for the hash label. A ReplicaSet's template has the label and its
// Deployment's does not, and another server version may compute another hash.
func Same(a, b *corev1.PodTemplateSpec) bool {
	if !maps.Equal(Plain(a.Labels), Plain(b.Labels)) {
		return false
	}
	x, y := a.ObjectMeta, b.ObjectMeta
	x.Labels, y.Labels = nil, nil
	return equality.Semantic.DeepEqual(&x, &y) && sameSpec(&a.Spec, &b.Spec)
}

// sameSpec compares encodings first. They are usually equal, and comparing them is much faster than comparing fields.
func sameSpec(a, b *corev1.PodSpec) bool {
	x, errX := a.Marshal()
	y, errY := b.Marshal()
	return errX == nil && errY == nil && bytes.Equal(x, y) || equality.Semantic.DeepEqual(a, b)
}

// Plain returns labels without the hash label.
func Plain(labels map[string]string) map[string]string {
	if _, hashed := labels[HashLabel]; hashed {
		labels = maps.Clone(labels)
		delete(labels, HashLabel)
	}
	return labels
}
