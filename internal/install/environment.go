package install

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
)

// variableOf is an environment variable. Its value can be a field of the pod.
type variableOf struct {
	name, value string
	field       string // the pod's field with the value, such as "metadata.name"; "" if value is set
}

// Process contains the arguments and the environment of the operator in one pod.
type Process struct {
	Pod  string   // the pod's name
	Args []string // the arguments of the operator's program, without its name
	Env  []string // "NAME=value", in the order of the manifest, without duplicate names
}

// Process returns the arguments and the environment of a replica. Replicas count from 0.
func (w *Workload) Process(replica int) Process {
	p := Process{Pod: fmt.Sprintf("%s-%d", w.GetName(), replica)}
	values := map[string]string{}
	for _, v := range w.env {
		value := expandEnv(v.value, values)
		if v.field != "" {
			value = w.field(v.field, p.Pod, replica)
		}
		if _, again := values[v.name]; again {
			p.Env = slices.DeleteFunc(p.Env, func(have string) bool { return strings.HasPrefix(have, v.name+"=") })
		}
		values[v.name] = value
		p.Env = append(p.Env, v.name+"="+value)
	}
	for i, word := range w.command {
		if word = expandEnv(word, values); i > 0 {
			p.Args = append(p.Args, word)
		}
	}
	return p
}

// keyed matches a field path with a key: metadata.labels['app'].
var keyed = regexp.MustCompile(`^metadata\.(labels|annotations)\['(.*)'\]$`)

func (w *Workload) field(field, pod string, replica int) string {
	if m := keyed.FindStringSubmatch(field); m != nil {
		return map[string]map[string]string{"labels": w.Pod.Labels, "annotations": w.Pod.Annotations}[m[1]][m[2]]
	}
	switch field {
	case "metadata.name":
		return pod
	case "metadata.namespace":
		return w.GetNamespace()
	case "metadata.uid":
		return fmt.Sprintf("00000000-0000-4000-8000-%012d", replica+1)
	case "spec.serviceAccountName":
		return serviceAccount(w.Pod)
	case "spec.nodeName":
		return "node"
	case "status.podIP", "status.podIPs":
		return fmt.Sprintf("10.0.0.%d", replica+1)
	case "status.hostIP", "status.hostIPs":
		return "10.1.0.1"
	}
	return ""
}

var reference = regexp.MustCompile(`\$\$|\$\([^)]*\)`)

// expandEnv replaces $(NAME) like the kubelet: unknown names stay, and $$ becomes $.
func expandEnv(text string, values map[string]string) string {
	return reference.ReplaceAllStringFunc(text, func(ref string) string {
		if ref == "$$" {
			return "$"
		}
		if value, ok := values[ref[2:len(ref)-1]]; ok {
			return value
		}
		return ref
	})
}

// literal escapes a value so that expandEnv does not change it.
func literal(value string) string { return strings.ReplaceAll(value, "$", "$$") }

// mostPods is the maximal number of the operator's pods in a world.
const mostPods = 2

// Own returns the workload and its Pods. Some operators use them as owners of a lock or a Secret. The workload is
// changed so that no controller has to act: a Deployment is paused, and a StatefulSet has no replicas.
func (w *Workload) Own() []*unstructured.Unstructured {
	workload := w.DeepCopy()
	switch w.GetKind() {
	case "Deployment":
		_ = unstructured.SetNestedField(workload.Object, true, "spec", "paused")
	case "StatefulSet":
		_ = unstructured.SetNestedField(workload.Object, int64(0), "spec", "replicas")
	}
	all := []*unstructured.Unstructured{workload}
	for i := range mostPods {
		pod := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod", "spec": map[string]any{
			"containers": []any{map[string]any{"name": w.Container.Name, "image": cmp.Or(w.Container.Image, "operator")}}}}}
		pod.SetNamespace(w.GetNamespace())
		pod.SetName(w.Process(i).Pod)
		pod.SetLabels(w.Pod.Labels)
		all = append(all, pod)
	}
	return all
}

func (f *finder) readEnv(w *Workload) {
	for _, from := range w.Container.EnvFrom {
		if r := from.ConfigMapRef; r != nil {
			f.readAll(w, from.Prefix, "ConfigMap", r.Name, isTrue(r.Optional))
		}
		if r := from.SecretRef; r != nil {
			f.readAll(w, from.Prefix, "Secret", r.Name, isTrue(r.Optional))
		}
	}
	for _, e := range w.Container.Env {
		v := variableOf{name: e.Name}
		why := ""
		switch from := e.ValueFrom; {
		case e.Name == "":
			continue
		case from == nil:
			v.value = f.defaults(w, f.watched(e.Name, e.Value))
		case from.FieldRef != nil:
			v.field = from.FieldRef.FieldPath
		case from.ResourceFieldRef != nil:
			v.value, why = limit(w.Container, from.ResourceFieldRef)
		case from.ConfigMapKeyRef != nil:
			r := from.ConfigMapKeyRef
			v.value, why = f.key("ConfigMap", w.GetNamespace(), r.Name, r.Key, isTrue(r.Optional))
		case from.SecretKeyRef != nil:
			r := from.SecretKeyRef
			v.value, why = f.key("Secret", w.GetNamespace(), r.Name, r.Key, isTrue(r.Optional))
		default:
			why = "its source is not known"
		}
		switch why {
		case "":
			w.env = append(w.env, v)
		case "optional":
		default:
			f.note("variable %s is not set: %s; --with FILE gives it, --env sets it", e.Name, why)
		}
	}
}

// watched returns the value of a variable. The variable of the watched namespaces may have a placeholder, such as
// WATCH_NAMESPACE_VALUE, which an installation replaces. The operator then watches all namespaces.
func (f *finder) watched(name, value string) string {
	if strings.Contains(value, "$") || name != "WATCH_NAMESPACE" && name != "WATCH_NAMESPACES" {
		return value
	}
	for _, namespace := range strings.Split(value, ",") {
		if why := validation.IsDNS1123Label(strings.TrimSpace(namespace)); value != "" && len(why) > 0 {
			f.note("%s=%s names no namespace: it is empty, so the operator watches all namespaces; --env sets it", name, value)
			return ""
		}
	}
	return value
}

// readAll adds a variable for each key of a Secret or ConfigMap.
func (f *finder) readAll(w *Workload, prefix, kind, name string, optional bool) {
	if name == "" {
		return
	}
	data, ok := f.data(kind, w.GetNamespace(), name)
	if !ok && !optional {
		f.note("%s %s, from which the operator takes its environment, is not in the manifests: left out", kind, name)
	}
	for _, key := range slices.Sorted(maps.Keys(data)) {
		w.env = append(w.env, variableOf{name: prefix + key, value: literal(data[key])})
	}
}

// data returns the content of a Secret or ConfigMap in the manifests.
func (f *finder) data(kind, namespace, name string) (map[string]string, bool) {
	for _, o := range f.Objects {
		if o.GetKind() != kind || o.GetAPIVersion() != "v1" || o.GetNamespace() != namespace || o.GetName() != name {
			continue
		}
		all := map[string]string{}
		data, _, _ := unstructured.NestedMap(o.Object, "data")
		for key, value := range data {
			text, _ := value.(string)
			if kind == "Secret" {
				if decoded, err := base64.StdEncoding.DecodeString(text); err == nil {
					text = string(decoded)
				}
			}
			all[key] = text
		}
		plain, _, _ := unstructured.NestedStringMap(o.Object, "stringData")
		maps.Copy(all, plain)
		return all, true
	}
	return nil, false
}

// key returns the escaped value of a key in a Secret or ConfigMap. If there is none, why is the reason, or "optional".
func (f *finder) key(kind, namespace, name, key string, optional bool) (value, why string) {
	data, ok := f.data(kind, namespace, name)
	if value, has := data[key]; has {
		return literal(value), ""
	}
	switch {
	case optional:
		return "", "optional"
	case !ok:
		return "", fmt.Sprintf("%s %s is not in the manifests", kind, name)
	default:
		return "", fmt.Sprintf("%s %s has no key %s", kind, name, key)
	}
}

// limit returns a resource limit or request, divided by the divisor and rounded up. If there is none, it returns a
// reason.
func limit(container *corev1.Container, ref *corev1.ResourceFieldSelector) (value, why string) {
	kind, name, _ := strings.Cut(ref.Resource, ".")
	list := map[string]corev1.ResourceList{"limits": container.Resources.Limits,
		"requests": container.Resources.Requests}[kind]
	quantity, has := list[corev1.ResourceName(name)]
	if !has {
		return "", fmt.Sprintf("the container has no %s", ref.Resource)
	}
	divisor := ref.Divisor
	if divisor.IsZero() {
		divisor = resource.MustParse("1")
	}
	if name == "cpu" {
		return fmt.Sprint((quantity.MilliValue() + divisor.MilliValue() - 1) / divisor.MilliValue()), ""
	}
	return fmt.Sprint((quantity.Value() + divisor.Value() - 1) / divisor.Value()), ""
}
