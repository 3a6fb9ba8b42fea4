package check

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// manifest is an object in the form of a YAML file.
type manifest struct{ *unstructured.Unstructured }

// read parses one YAML document. For an empty document, Unstructured is nil.
func read(text []byte) (manifest, error) {
	m := manifest{&unstructured.Unstructured{}}
	data, err := yaml.YAMLToJSON(text)
	if err != nil {
		return m, fmt.Errorf("%s", strings.TrimPrefix(err.Error(), "error converting YAML to JSON: "))
	}
	if string(data) == "null" {
		return manifest{}, nil
	}
	return m, json.Unmarshal(data, &m.Object)
}

// shown converts a stored object to a manifest of this kind.
func shown(obj runtime.Object, kind schema.GroupVersionKind) manifest {
	data, err := json.Marshal(obj)
	if err != nil {
		panic(fmt.Sprintf("check: a stored %s cannot be encoded: %v", kind.Kind, err))
	}
	m := manifest{&unstructured.Unstructured{}}
	if err := json.Unmarshal(data, &m.Object); err != nil {
		panic(fmt.Sprintf("check: a stored %s cannot be decoded: %v", kind.Kind, err))
	}
	m.SetGroupVersionKind(kind)
	return m
}

// typed converts a manifest to the Go type that the server uses for the kind.
func (m manifest) typed(k *fakeapi.Kind) (runtime.Object, error) {
	obj := k.New()
	if u, ok := obj.(*unstructured.Unstructured); ok {
		u.Object = m.DeepCopy().Object
		return u, nil
	}
	return obj, runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(m.Object, obj, true)
}

// copied returns a copy with another name. It has no status, and no metadata except namespace and labels.
func (m manifest) copied(name string) manifest {
	c := manifest{&unstructured.Unstructured{Object: map[string]any{}}}
	for field, value := range m.DeepCopy().Object {
		if field != "status" && field != "metadata" {
			c.Object[field] = value
		}
	}
	c.SetName(name)
	c.SetNamespace(m.GetNamespace())
	c.SetLabels(m.GetLabels())
	c.ungenerate()
	return c
}

// copiedOf is like copied, for another owner: the UID of the dependent's controller is replaced by uid in labels, data and
// all other values.
func (m manifest) copiedOf(uid, name string) manifest {
	c := m.copied(name)
	if ref := metav1.GetControllerOf(m); ref != nil {
		c.Object = withUID(c.Object, string(ref.UID), uid).(map[string]any)
	}
	return c
}

func withUID(value any, from, to string) any {
	switch value := value.(type) {
	case map[string]any:
		for key, v := range value { //detcheck:ordered each key is independent
			value[key] = withUID(v, from, to)
		}
	case []any:
		for i, v := range value {
			value[i] = withUID(v, from, to)
		}
	case string:
		return strings.ReplaceAll(value, from, to)
	}
	return value
}

// ungenerate removes what the server has given to one object only: the addresses and node ports of a Service, and the
// selector and the labels of a Job.
func (m manifest) ungenerate() {
	if m.GroupVersionKind() == (schema.GroupVersionKind{Version: "v1", Kind: "Service"}) {
		if ip, _, _ := unstructured.NestedString(m.Object, "spec", "clusterIP"); ip != "None" {
			unstructured.RemoveNestedField(m.Object, "spec", "clusterIP")
			unstructured.RemoveNestedField(m.Object, "spec", "clusterIPs")
		}
		if ports, has, _ := unstructured.NestedSlice(m.Object, "spec", "ports"); has {
			for _, p := range ports {
				delete(p.(map[string]any), "nodePort")
			}
			_ = unstructured.SetNestedSlice(m.Object, ports, "spec", "ports")
		}
		return
	}
	manual, _, _ := unstructured.NestedBool(m.Object, "spec", "manualSelector")
	if m.GroupVersionKind().GroupKind() != (schema.GroupKind{Group: "batch", Kind: "Job"}) || manual {
		return
	}
	unstructured.RemoveNestedField(m.Object, "spec", "selector")
	for _, name := range []string{"controller-uid", "job-name", "batch.kubernetes.io/controller-uid",
		"batch.kubernetes.io/job-name"} {
		unstructured.RemoveNestedField(m.Object, "metadata", "labels", name)
		unstructured.RemoveNestedField(m.Object, "spec", "template", "metadata", "labels", name)
	}
}

func (m manifest) renamed(name string) manifest {
	c := manifest{m.DeepCopy()}
	c.SetName(name)
	return c
}

// renames appends a suffix to each string in v that is in names.
func renames(v any, names map[string]bool, suffix string) any {
	switch v := v.(type) {
	case map[string]any:
		for key, x := range v {
			v[key] = renames(x, names, suffix)
		}
	case []any:
		for i, x := range v {
			v[i] = renames(x, names, suffix)
		}
	case string:
		if names[v] {
			return v + suffix
		}
	}
	return v
}

func (m manifest) text() string {
	data, err := yaml.Marshal(m.Object)
	if err != nil {
		panic(fmt.Sprintf("check: a manifest that was read cannot be written: %v", err))
	}
	return string(data)
}

// at names the object as in scenario files: "t/cm/web". The kind gets its group if a built-in kind has the same name.
func (m manifest) at() string {
	kind := m.GroupVersionKind()
	if b := builtinKinds(); b.kinds[kind.Kind] && !b.groups[kind.Group] {
		kind.Kind = kind.GroupKind().String()
	}
	return sim.Ref{Kind: kind.Kind, Namespace: m.GetNamespace(), Name: m.GetName()}.String()
}

var builtinKinds = sync.OnceValue(func() (b struct{ kinds, groups map[string]bool }) {
	b.kinds, b.groups = map[string]bool{}, map[string]bool{}
	for _, k := range fakeapi.New(fakeapi.Options{}).Served() {
		b.kinds[k.GVK.Kind], b.groups[k.GVK.Group] = true, true
	}
	return b
})

func world(all ...manifest) string {
	var texts []string
	for _, m := range all {
		texts = append(texts, m.text())
	}
	return documents(texts...)
}

// documents joins YAML texts, of which some may be empty.
func documents(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), "---\n")
}

func appendOnce[T comparable](list []T, item T) []T {
	if slices.Contains(list, item) {
		return list
	}
	return append(list, item)
}

func object(obj runtime.Object) map[string]any {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return u.Object
	}
	return shown(obj, obj.GetObjectKind().GroupVersionKind()).Object
}

// scaledToZero reports whether spec.replicas is 0. To save time, it decodes only workloads and custom objects.
func scaledToZero(obj runtime.Object, kind string) bool {
	if _, custom := obj.(*unstructured.Unstructured); !custom && !slices.Contains(workloads, kind) {
		return false
	}
	n, is, err := unstructured.NestedInt64(object(obj), "spec", "replicas")
	return is && err == nil && n == 0
}

// stopped reports whether an object has 0 replicas.
func stopped(m manifest) bool { return scaledToZero(m.Unstructured, m.GetKind()) }

var workloads = []string{"Deployment", "ReplicaSet", "ReplicationController", "StatefulSet"}
