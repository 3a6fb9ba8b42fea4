package fakeapi

import (
	"reflect"

	registration "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi/internal/crd"
	"github.com/threelaws/threelaws/fakeapi/internal/registry"
)

// builtin lists the built-in kinds in their storage versions. The index of a kind is its ordinal.
var builtin = kindsOf(registry.Builtin)

// known lists the built-in kinds in all versions.
var known = withVersions(builtin, registry.OtherVersions)

var builtinTypes = typesOf(known)

// Built-in kinds that the server's code refers to.
var (
	namespaceKind  = kindOf(&corev1.Namespace{})
	podKind        = kindOf(&corev1.Pod{})
	nodeKind       = kindOf(&corev1.Node{})
	jobKind        = kindOf(&batchv1.Job{})
	definitionKind = kindOf(&crd.Definition{})
	budgetKind     = kindOf(&policyv1.PodDisruptionBudget{})
	serviceKind    = kindOf(&corev1.Service{})
	sliceKind      = kindOf(&discoveryv1.EndpointSlice{})
)

// Built-in kinds that admission refers to.
var (
	quotaKind         = kindOf(&corev1.ResourceQuota{})
	limitRangeKind    = kindOf(&corev1.LimitRange{})
	priorityClassKind = kindOf(&schedulingv1.PriorityClass{})
	storageClassKind  = kindOf(&storagev1.StorageClass{})
	runtimeClassKind  = kindOf(&nodev1.RuntimeClass{})
	ingressClassKind  = kindOf(&networkingv1.IngressClass{})
	cidrKind          = kindOf(&networkingv1.ServiceCIDR{})
	mutatingHooks     = kindOf(&registration.MutatingWebhookConfiguration{})
	validatingHooks   = kindOf(&registration.ValidatingWebhookConfiguration{})
	policyKind        = kindOf(&registration.ValidatingAdmissionPolicy{})
	policyBindings    = kindOf(&registration.ValidatingAdmissionPolicyBinding{})
)

func kindsOf(rows []*registry.Row) []*Kind {
	kinds := make([]*Kind, len(rows))
	for i, r := range rows {
		kinds[i] = newKind(r, i)
	}
	return kinds
}

func withVersions(kinds []*Kind, versions []*registry.Row) []*Kind {
	all := kinds[:len(kinds):len(kinds)]
	for _, r := range versions {
		for _, stored := range kinds {
			if stored.row == r.View.Stored {
				k := newKind(r, stored.ordinal)
				k.stored = stored
				all = append(all, k)
			}
		}
	}
	return all
}

func typesOf(kinds []*Kind) map[reflect.Type]*Kind {
	types := make(map[reflect.Type]*Kind, len(kinds))
	for _, k := range kinds {
		types[reflect.TypeOf(k.New())] = k
	}
	return types
}

func kindOf(obj runtime.Object) *Kind { return builtinTypes[reflect.TypeOf(obj)] }
