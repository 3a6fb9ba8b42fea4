package fakeapi

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// builtin are the built-in kinds, by ordinal: those of which objects are stored.
var builtin = kindsOf(builtinRows)

// known are the built-in kinds and further versions of them.
var known = withVersions(builtin, otherVersions)

// builtinTypes finds a kind by the Go type of its objects.
var builtinTypes = typesOf(known)

// The built-in kinds that the server knows by name.
var (
	namespaceKind  = kindOf(&corev1.Namespace{})
	definitionKind = kindOf(&definition{})
	budgetKind     = kindOf(&policyv1.PodDisruptionBudget{})
)

func kindsOf(rows []*row) []*Kind {
	kinds := make([]*Kind, len(rows))
	for i, r := range rows {
		kinds[i] = newKind(r, i)
	}
	return kinds
}

// withVersions puts further versions of kinds behind the kinds.
func withVersions(kinds []*Kind, versions []*row) []*Kind {
	all := kinds[:len(kinds):len(kinds)]
	for _, r := range versions {
		for _, stored := range kinds {
			if stored.row == r.view.stored {
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

// kindOf is the built-in kind of a Go type.
func kindOf(obj runtime.Object) *Kind { return builtinTypes[reflect.TypeOf(obj)] }
