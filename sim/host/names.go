package host

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// keyOf is namespace/name, or the bare name of a cluster-scoped object.
func keyOf(m metav1.Object) string {
	if ns := m.GetNamespace(); ns != "" {
		return ns + "/" + m.GetName()
	}
	return m.GetName()
}

func metaOf(obj runtime.Object) metav1.Object { return obj.(metav1.Object) }

// refOf names one incarnation of an object.
func refOf(k *fakeapi.Kind, m metav1.Object) sim.Ref {
	return sim.Ref{Kind: k.GVK.Kind, Namespace: m.GetNamespace(), Name: m.GetName(), UID: string(m.GetUID())}
}

// splitKey is the inverse of keyOf.
func splitKey(key string) (namespace, name string) {
	if ns, n, ok := strings.Cut(key, "/"); ok {
		return ns, n
	}
	return "", key
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// apiserver is the process name of what the server does by itself.
const apiserver = "apiserver"
