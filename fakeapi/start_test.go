package fakeapi

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// namesOf are the names of all that a server holds, in the order of its kinds.
func namesOf(s *Server) string {
	var all []string
	for _, k := range s.Kinds() {
		s.Each(k, func(obj runtime.Object) bool {
			m := obj.(metav1.Object)
			all = append(all, fmt.Sprintf("%s %s/%s", k.GVK.Kind, m.GetNamespace(), m.GetName()))
			return true
		})
	}
	return strings.Join(all, "\n")
}

// Each part of the start is there where it is asked for and not else.
func TestStart(t *testing.T) {
	at := time.Date(2030, 2, 3, 4, 5, 6, 0, time.UTC)
	const always = "Namespace /default\nNamespace /kube-system"
	for want, start := range map[string]Start{
		always: {At: at},
		"Namespace /default\nNamespace /kube-node-lease\nNamespace /kube-public\nNamespace /kube-system": {
			Namespaces: true},
		always + "\nService default/kubernetes\nEndpointSlice default/kubernetes\nEndpoints default/kubernetes": {
			Service: true},
		always + "\nPriorityClass /system-cluster-critical\nPriorityClass /system-node-critical": {
			PriorityClasses: true},
		always + "\nServiceAccount default/default\nServiceAccount kube-system/default": {
			ServiceAccounts: true},
	} {
		s := New(Options{Start: start})
		if got := namesOf(s); got != want {
			t.Errorf("%+v holds\n%s\nwant\n%s", start, got, want)
		}
		made := s.Lookup(namespaceKind, "", "default").(*corev1.Namespace).CreationTimestamp.Time
		if start.At.IsZero() != (made != at) {
			t.Errorf("%+v was made at %s", start, made)
		}
	}
	all := New(Options{ManagedFields: true, Start: Start{Namespaces: true, Service: true, PriorityClasses: true,
		ServiceAccounts: true}})
	if n := strings.Count(namesOf(all), "\n") + 1; n != 13 {
		t.Errorf("a whole start holds %d objects:\n%s", n, namesOf(all))
	}
}

// The service account of a namespace comes with it and comes back, but not while the
// namespace is being deleted.
func TestServiceAccountOfNamespace(t *testing.T) {
	s := New(Options{Start: Start{ServiceAccounts: true}})
	account := func() runtime.Object { return s.Lookup(accountKind, "n", "default") }
	_, events := s.Do(noon, &Request{Verb: Create, Kind: namespaceKind,
		Object: &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n"}}})
	if account() == nil || len(events) != 2 || events[1].Kind != accountKind {
		t.Fatalf("%v after %+v", account(), events)
	}
	first := account().(*corev1.ServiceAccount).UID
	remove := &Request{Verb: Delete, Kind: accountKind, Namespace: "n", Name: "default"}
	mustDo(t, s, remove)
	if account() == nil || account().(*corev1.ServiceAccount).UID == first {
		t.Errorf("deleted, it is %v", account())
	}
	mustDo(t, s, &Request{Verb: Delete, Kind: namespaceKind, Name: "n"})
	mustDo(t, s, remove)
	if account() != nil {
		t.Error("a namespace that is being deleted gets an account")
	}
}
