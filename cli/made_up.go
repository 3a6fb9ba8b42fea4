package cli

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/check"
)

// madeUp is the name of the file of an object that check has made up.
const madeUp = "no file"

// madeCRDs returns CRDs without schemas for the kinds that the operator did not find, and that no file defines. They are
// kinds of other projects.
func (op *operator) madeCRDs(said string) (all []*check.File) {
	for _, match := range unmatched.FindAllStringSubmatch(said, -1) {
		kind, group, version := match[1], match[2], match[3]
		known := operator{CRDs: slices.Concat(op.CRDs, all)}
		if known.hasKind(group, kind) || slices.ContainsFunc(ownKinds().Served(), func(k *fakeapi.Kind) bool { return k.GVK.Group == group }) {
			continue
		}
		versions := []any{madeVersion(version, true)}
		for _, other := range []string{"v1", "v1beta1", "v1alpha1"} { // a program may look for another version than it watches
			if other != version {
				versions = append(versions, madeVersion(other, false))
			}
		}
		plural, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Group: group, Version: version, Kind: kind})
		crd := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
			"metadata": map[string]any{"name": plural.Resource + "." + group,
				"annotations": map[string]any{"api-approved.kubernetes.io": "unapproved, made up"}},
			"spec": map[string]any{"group": group, "scope": "Namespaced",
				"names":    map[string]any{"kind": kind, "plural": plural.Resource},
				"versions": versions}}}
		all = append(all, &check.File{Name: madeUp, Objects: []check.Object{{Unstructured: crd, Line: 1}}})
	}
	return all
}

func madeVersion(name string, stored bool) map[string]any {
	return map[string]any{"name": name, "served": true, "storage": stored,
		"subresources": map[string]any{"status": map[string]any{}},
		"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object",
			"x-kubernetes-preserve-unknown-fields": true}}}
}

// made returns an object that the operator looks for and that no file has: a small PersistentVolumeClaim, an empty Secret or
// an empty ConfigMap, if the spec of the sample names it, a Node that the sample names or that has the sample's name, or a
// Namespace. A user has such an object before the sample. For other kinds it returns nil, because their content is unknown.
func made(sample *check.File, kind, name, home string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1"}}
	kind = strings.TrimSuffix(kind, "s")
	switch o.SetName(name); kind {
	case "persistentvolumeclaim":
		o.SetKind("PersistentVolumeClaim")
		o.Object["spec"] = map[string]any{"accessModes": []any{"ReadWriteOnce"},
			"resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}}}
	case "secret":
		o.SetKind("Secret")
	case "configmap":
		o.SetKind("ConfigMap")
	case "node":
		o.SetKind("Node")
	case "namespace":
		o.SetKind("Namespace")
		return o
	default:
		return nil
	}
	if kind != "node" {
		o.SetNamespace(home)
	}
	if first := sample.Objects[0]; kind == "node" && name == first.GetName() || specNames(first, name, hints[kind]) {
		return o
	}
	return nil
}

// ofCluster returns an object that almost every cluster has, if the operator did nothing and found no object of this kind.
func ofCluster(err error, sample *check.File) *unstructured.Unstructured {
	idle := (*check.Idle)(nil)
	if !errors.As(err, &idle) {
		return nil
	}
	for _, o := range []*unstructured.Unstructured{
		{Object: map[string]any{"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "provisioner": "kubernetes.io/no-provisioner",
			"metadata": map[string]any{"name": "standard",
				"annotations": map[string]any{"storageclass.kubernetes.io/is-default-class": "true"}}}},
		{Object: map[string]any{"apiVersion": "v1", "kind": "Node",
			"metadata": map[string]any{"name": "node", "labels": map[string]any{"kubernetes.io/hostname": "node", "kubernetes.io/os": "linux",
				"kubernetes.io/arch": "amd64"}},
			"status": map[string]any{
				"allocatable": map[string]any{"cpu": "4", "memory": "8Gi", "pods": "110"},
				"capacity":    map[string]any{"cpu": "4", "memory": "8Gi", "pods": "110"},
				"conditions":  []any{map[string]any{"type": "Ready", "status": "True", "reason": "KubeletReady"}}}}},
	} {
		if slices.Contains(idle.Without, o.GetKind()) && !has(sample, o) {
			return o
		}
	}
	return nil
}

// specNames reports whether the spec of a sample contains the name in a field whose path matches hint.
func specNames(sample check.Object, name string, hint *regexp.Regexp) bool {
	return mentions(sample.Object["spec"], "", func(path, value string) bool { return value == name && hint.MatchString(path) })
}

// hints contains, by kind, what the fields that name an object contain: their own names, or those of their parents.
var hints = map[string]*regexp.Regexp{
	"secret":                regexp.MustCompile(`(?i)secret|credential|password|token|cert|tls|key|auth`),
	"configmap":             regexp.MustCompile(`(?i)config|script`),
	"persistentvolumeclaim": anyPath,
	"node":                  anyPath,
}

var anyPath = regexp.MustCompile("")

// mentions reports whether f returns true for a string in v, the value of a field with this path, or in one of its parts.
func mentions(v any, path string, f func(path, value string) bool) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if mentions(v[key], path+"."+key, f) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(x any) bool { return mentions(x, path, f) })
	case string:
		return f(path, v)
	}
	return false
}

// nameless matches a message about a Secret or ConfigMap that does not exist. It need not contain the object's name.
var nameless = regexp.MustCompile(`(?im)^.*\b\w*(secret|configmap)\w*\b.*\b(not found|does not exist|doesn't exist|is missing)\b.*$`)

// unnamed returns an object that can be made up, if the operator says that one is missing, but not which.
func (op *operator) unnamed(said string, sample *check.File) *unstructured.Unstructured {
	for _, match := range nameless.FindAllStringSubmatch(said, -1) {
		if missed.MatchString(match[0]) {
			continue // it says which one
		}
		kind := strings.ToLower(match[1])
		var found *unstructured.Unstructured
		mentions(sample.Objects[0].Object["spec"], "", func(path, name string) bool {
			if !hints[kind].MatchString(path) || len(validation.IsDNS1123Subdomain(name)) > 0 || !endsInName.MatchString(path) {
				return false
			}
			o := made(sample, kind, name, op.home(sample))
			if o == nil || has(sample, o) {
				return false
			}
			found = o
			return true
		})
		if found != nil {
			return found
		}
	}
	return nil
}

// endsInName matches the path of a field that contains the name of a Secret or ConfigMap.
var endsInName = regexp.MustCompile(`(?i)(name|secret|configmap|ref)$`)
