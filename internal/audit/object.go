package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/internal/render"
)

// Object is one version of an object, from a body in the log. Fields that no law reads stay unparsed.
type Object struct {
	metav1.ObjectMeta
	Body uint64 // a digest of everything except the metadata

	apiVersion, kind string
	spec, status     []byte   // JSON, nil when dropped; spec has all members except type, metadata and status
	specSum          uint64   // a digest of spec
	managers         []string // the field managers that wrote owner references; nil if parseObject did not read them
	partial          bool     // the body is a PartialObjectMetadata
}

// GetObjectKind returns the object's apiVersion and kind.
func (o *Object) GetObjectKind() schema.ObjectKind {
	return &metav1.TypeMeta{APIVersion: o.apiVersion, Kind: o.kind}
}

// DeepCopyObject returns a copy. The copy shares the JSON bytes of spec and status, which never change.
func (o *Object) DeepCopyObject() runtime.Object {
	c := *o
	o.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	return &c
}

var seed = maphash.MakeSeed()

const partialKind = "PartialObjectMetadata"

// MarshalJSON encodes the known parts of the object like the API server.
func (o *Object) MarshalJSON() ([]byte, error) {
	members := o.UnstructuredContent()
	members["metadata"] = &o.ObjectMeta
	if o.kind != "" {
		members["kind"] = o.kind
	}
	if o.apiVersion != "" {
		members["apiVersion"] = o.apiVersion
	}
	return json.Marshal(members)
}

// UnstructuredContent returns the known members except type and metadata. The map is empty if the body was dropped.
func (o *Object) UnstructuredContent() map[string]any {
	members := map[string]any{}
	if o.spec != nil {
		_ = json.Unmarshal(o.spec, &members) // the bytes are valid JSON, because they were parsed before
	}
	if o.status != nil {
		var status any
		_ = json.Unmarshal(o.status, &status)
		members["status"] = status
	}
	return members
}

// parseObject parses an object. It returns nil for anything else, such as a Status, a Table or a list.
func (n names) parseObject(b []byte, managers bool) *Object {
	o := &Object{}
	var rest [][2][]byte
	found := false
	err := members(b, func(key, value []byte) bool {
		switch string(key) {
		case "apiVersion":
			o.apiVersion = n.text(value)
		case "kind":
			o.kind = n.text(value)
		case "metadata":
			found = true
			n.parseMeta(o, value, managers)
		default:
			rest = append(rest, [2][]byte{key, value})
		}
		return true
	})
	if err != nil || !found || o.kind == "Status" || o.kind == "Table" || o.Name == "" {
		return nil
	}
	if o.partial = o.kind == partialKind; !o.partial {
		i := slices.IndexFunc(rest, func(m [2][]byte) bool { return string(m[0]) == "status" })
		if i >= 0 {
			o.status = bytes.Clone(rest[i][1])
			rest = slices.Delete(rest, i, i+1)
		}
		o.spec = joined(rest)
		o.specSum = maphash.Bytes(seed, o.spec)
		o.Body = o.specSum ^ maphash.Bytes(seed, o.status)
	}
	return o
}

// rescale sets spec.replicas from a Scale. If the object or the Scale lacks this field, the content becomes unknown.
func (o *Object) rescale(scale *Object) {
	if replicas := member(member(scale.spec, "spec"), "replicas"); replicas != nil {
		if old := member(member(o.spec, "spec"), "replicas"); old != nil {
			at := cap(o.spec) - cap(old) // the offset of old, which is a slice of o.spec
			o.spec = slices.Concat(o.spec[:at], replicas, o.spec[at+len(old):])
			o.Body ^= o.specSum
			o.specSum = maphash.Bytes(seed, o.spec)
			o.Body ^= o.specSum
			return
		}
	}
	o.Body, o.specSum = ^o.Body, ^o.specSum
	o.spec, o.status = nil, nil
}

// joined encodes members as one JSON object.
func joined(rest [][2][]byte) []byte {
	size := 2
	for _, m := range rest {
		size += len(m[0]) + len(m[1]) + 4
	}
	b := make([]byte, 0, size)
	b = append(b, '{')
	for i, m := range rest {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), m[0]...), '"', ':')
		b = append(b, m[1]...)
	}
	return append(b, '}')
}

func (n names) parseMeta(o *Object, b []byte, managers bool) {
	_ = members(b, func(key, value []byte) bool {
		switch string(key) {
		case "name":
			o.Name = text(value)
		case "generateName":
			o.GenerateName = n.text(value)
		case "namespace":
			o.Namespace = n.text(value)
		case "uid":
			o.UID = types.UID(text(value))
		case "resourceVersion":
			o.ResourceVersion = text(value)
		case "generation":
			o.Generation = int64(number(value))
		case "deletionTimestamp":
			if at, err := time.Parse(time.RFC3339, text(value)); err == nil {
				o.DeletionTimestamp = &metav1.Time{Time: at}
			}
		case "deletionGracePeriodSeconds":
			s := int64(number(value))
			o.DeletionGracePeriodSeconds = &s
		case "labels":
			o.Labels = n.parseMap(value)
		case "annotations":
			o.Annotations = n.parseMap(value)
		case "finalizers":
			elements(value, func(v []byte) { o.Finalizers = append(o.Finalizers, n.text(v)) })
		case "ownerReferences":
			elements(value, func(v []byte) { o.OwnerReferences = append(o.OwnerReferences, n.parseOwner(v)) })
		case "managedFields":
			if managers {
				o.managers = n.ownerManagers(value)
			}
		}
		return true
	})
}

func (n names) parseOwner(b []byte) (r metav1.OwnerReference) {
	_ = members(b, func(key, value []byte) bool {
		switch string(key) {
		case "apiVersion":
			r.APIVersion = n.text(value)
		case "kind":
			r.Kind = n.text(value)
		case "name":
			r.Name = n.text(value)
		case "uid":
			r.UID = types.UID(n.text(value))
		case "controller":
			is := string(value) == "true"
			r.Controller = &is
		case "blockOwnerDeletion":
			is := string(value) == "true"
			r.BlockOwnerDeletion = &is
		}
		return true
	})
	return r
}

// long is the maximal length in bytes of a label or annotation value. Longer values are replaced by a digest.
const long = 200

func (n names) parseMap(b []byte) map[string]string {
	var m map[string]string
	_ = members(b, func(key, value []byte) bool {
		if m == nil {
			m = map[string]string{}
		}
		if len(value) > long {
			m[n.intern(key)] = fmt.Sprintf("#%016x", maphash.Bytes(seed, value))
			return true
		}
		m[n.intern(key)] = n.text(value)
		return true
	})
	return m
}

func (n names) ownerManagers(b []byte) (who []string) {
	if !bytes.Contains(b, []byte(`"f:ownerReferences"`)) {
		return nil
	}
	elements(b, func(entry []byte) {
		if !bytes.Contains(entry, []byte(`"f:ownerReferences"`)) {
			return
		}
		_ = members(entry, func(key, value []byte) bool {
			if string(key) == "manager" {
				who = append(who, n.text(value))
				return false
			}
			return true
		})
	})
	return who
}

func (o *Object) controller() *metav1.OwnerReference {
	if o == nil {
		return nil
	}
	return metav1.GetControllerOfNoCopy(o)
}

func (o *Object) deleting() bool { return o != nil && o.DeletionTimestamp != nil }

// gone reports whether a write removed the object: it has a deletion timestamp, but no finalizers and no grace period.
func (o *Object) gone() bool {
	return o.deleting() && len(o.Finalizers) == 0 &&
		(o.DeletionGracePeriodSeconds == nil || *o.DeletionGracePeriodSeconds == 0)
}

// undeleted returns the object as it was before its deletion was requested. It also removes the finalizers of deletion
// policies (orphan, foregroundDeletion), even if a client set them earlier.
func (o *Object) undeleted() *Object {
	c := *o
	c.DeletionTimestamp, c.DeletionGracePeriodSeconds = nil, nil
	c.Finalizers = slices.DeleteFunc(slices.Clone(o.Finalizers), func(f string) bool {
		return f == metav1.FinalizerOrphanDependents || f == metav1.FinalizerDeleteDependents
	})
	return &c
}

// groupKind formats an owner's kind: "Kind" or "Kind.group".
func groupKind(ref *metav1.OwnerReference) string {
	if g, _, ok := strings.Cut(ref.APIVersion, "/"); ok {
		return ref.Kind + "." + g
	}
	return ref.Kind
}

// names stores strings that occur often, so that equal strings share memory.
type names map[string]string

const mostNames = 1 << 14

func (n names) intern(b []byte) string {
	if s, ok := n[string(b)]; ok {
		return s
	}
	if len(n) >= mostNames {
		clear(n)
	}
	s := render.Plain(string(b))
	n[string(b)] = s
	return s
}

// text returns the same as the function [text], but equal strings share memory.
func (n names) text(value []byte) string {
	if len(value) >= 2 && value[0] == '"' && bytes.IndexByte(value, '\\') < 0 {
		return n.intern(value[1 : len(value)-1])
	}
	return text(value)
}
