package upstream_test

import (
	"testing"

	"github.com/threelaws/threelaws/fakeapi"
)

// What a new server holds is good by kube-apiserver's own rules.
func TestStart(t *testing.T) {
	server := fakeapi.New(fakeapi.Options{ManagedFields: true, Strategies: strategies,
		Start: fakeapi.Start{Namespaces: true, Service: true, PriorityClasses: true, ServiceAccounts: true}})
	if n := server.Len(server.KindNamed("service")); n != 1 {
		t.Errorf("a new server has %d Services, want that of itself", n)
	}
}
