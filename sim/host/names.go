package host

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// keyOf returns namespace/name, or only the name of a cluster-scoped object.
func keyOf(m metav1.Object) string {
	if ns := m.GetNamespace(); ns != "" {
		return ns + "/" + m.GetName()
	}
	return m.GetName()
}

// refOf returns a reference to an object, with its UID.
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

// apiserver is the process name for the server's own changes.
const apiserver = "apiserver"

// Misuse is the value with which the host panics if a controller cannot run under any schedule.
type Misuse string

// Error returns the mistake in one line.
func (m Misuse) Error() string { return "host: " + string(m) }

// strayError is the error of a reconcile that never returns, or whose goroutines outlive it.
type strayError struct{ what string }

func (e *strayError) Error() string { return e.what }

// Stray returns the error for a reconcile of a [Program] that can never return, because no more events are possible.
// The parameter what is the text of the error.
func Stray(what string) error { return &strayError{what} }
