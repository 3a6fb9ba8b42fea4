// Package template is about pod templates as their controllers compare and name
// them: the hash that is part of the names of ReplicaSets, and when two templates
// are the same but for it.
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

// HashLabel is the label that tells the pods of a Deployment's ReplicaSets apart.
const HashLabel = appsv1.DefaultDeploymentUniqueLabelKey

// Hash is the hash of a template by which kube-controller-manager of today names
// what it makes of it. A collision count, nil for none, makes it another one.
func Hash(t *corev1.PodTemplateSpec, collisions *int32) string {
	h := fnv.New32a()
	write(h, t)
	if collisions != nil {
		var count [8]byte // eight, of which four are used
		binary.LittleEndian.PutUint32(count[:], uint32(*collisions))
		h.Write(count[:])
	}
	return history.Safe(h.Sum32())
}

// OldHash is the hash of Kubernetes 1.5 and before.
func OldHash(t *corev1.PodTemplateSpec) string {
	h := adler32.New()
	write(h, t)
	return fmt.Sprint(h.Sum32())
}

// write writes what is hashed: every field in a notation for debugging, in which a
// list that is empty is another than one that is not there. So it is the template
// as the storage has it, where the two are one.
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

// Same reports whether two templates are the same, whatever hash their labels have:
// a ReplicaSet's has one, that of its Deployment has none, and a later server may
// compute another.
func Same(a, b *corev1.PodTemplateSpec) bool {
	if !maps.Equal(Plain(a.Labels), Plain(b.Labels)) {
		return false
	}
	x, y := a.ObjectMeta, b.ObjectMeta
	x.Labels, y.Labels = nil, nil
	return equality.Semantic.DeepEqual(&x, &y) && sameSpec(&a.Spec, &b.Spec)
}

// sameSpec: two that encode alike are the same, which they mostly do, and which takes a
// fraction of the time that it takes to compare them field by field.
func sameSpec(a, b *corev1.PodSpec) bool {
	x, errX := a.Marshal()
	y, errY := b.Marshal()
	return errX == nil && errY == nil && bytes.Equal(x, y) || equality.Semantic.DeepEqual(a, b)
}

// Plain is labels without the hash.
func Plain(labels map[string]string) map[string]string {
	if _, hashed := labels[HashLabel]; hashed {
		labels = maps.Clone(labels)
		delete(labels, HashLabel)
	}
	return labels
}
