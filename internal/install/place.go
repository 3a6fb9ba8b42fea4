package install

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/kyaml/openapi"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// place sets missing namespaces, adds Namespaces that the manifests expect, and sorts the objects.
func (f *finder) place(context.Context) error {
	all := f.Objects
	if f.picked != nil {
		all = append(slices.Clone(all), f.picked.Object)
	}
	if f.namespace == "" {
		f.namespace = f.boundNamespace(all)
	}
	have := map[string]bool{"": true, "default": true, "kube-system": true, "kube-public": true, "kube-node-lease": true}
	for _, o := range all {
		if o.GetKind() == "Namespace" && o.GetAPIVersion() == "v1" {
			have[o.GetName()] = true
		}
		if o.GetNamespace() == "" && f.namespaced(o) {
			o.SetNamespace(cmp.Or(f.namespace, "default"))
		}
	}
	for _, o := range all {
		if name := o.GetNamespace(); !have[name] {
			have[name] = true
			ns := &unstructured.Unstructured{}
			ns.SetAPIVersion("v1")
			ns.SetKind("Namespace")
			ns.SetName(name)
			f.Objects = append(f.Objects, Object{Unstructured: ns})
			f.note("namespace %s is added: the manifests expect it, and none of them creates it", name)
		}
	}
	slices.SortStableFunc(f.Objects, func(a, b Object) int { return rank(a) - rank(b) })
	return nil
}

// boundNamespace is the namespace in which bindings expect the workload's service account. In any other namespace the
// operator would have no rights.
func (f *finder) boundNamespace(all []Object) string {
	if f.picked == nil || f.picked.GetNamespace() != "" {
		return ""
	}
	account := serviceAccount(f.picked.pod)
	for _, o := range all {
		if o.GetKind() != "ClusterRoleBinding" && o.GetKind() != "RoleBinding" {
			continue
		}
		subjects, _, _ := unstructured.NestedSlice(o.Object, "subjects")
		for _, s := range subjects {
			s, _ := s.(map[string]any)
			if namespace, _ := s["namespace"].(string); s["kind"] == "ServiceAccount" && s["name"] == account &&
				namespace != "" {
				f.note("namespace %s for manifests that name none, since %s %s expects the service account there",
					namespace, o.GetKind(), o.GetName())
				return namespace
			}
		}
	}
	return ""
}

// namespaced reports whether a kind is known to be namespaced.
func (f *finder) namespaced(o Object) bool {
	if scope, custom := f.scope(o); custom {
		return scope == "Namespaced"
	}
	is, known := openapi.IsNamespaceScoped(yaml.TypeMeta{APIVersion: o.GetAPIVersion(), Kind: o.GetKind()})
	return known && is
}

// rank orders objects: each after what it needs, and webhooks last, since nothing answers them before the operator
// runs.
func rank(o Object) int {
	group := o.GroupVersionKind().Group
	switch kind := o.GetKind(); {
	case kind == "Namespace":
		return 0
	case slices.Contains([]string{"PriorityClass", "StorageClass", "IngressClass", "RuntimeClass", "ResourceQuota",
		"LimitRange"}, kind):
		return 1
	case kind == "ServiceAccount":
		return 2
	case group == "rbac.authorization.k8s.io", group == "" && kind != "Pod":
		return 3
	case group == "admissionregistration.k8s.io":
		return 7
	case group == "apiregistration.k8s.io":
		return 6
	case strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io"):
		return 5
	default:
		return 4
	}
}
