package trial

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

func actorOf(process string, c *host.Controller) law.Actor {
	return law.Actor{Process: process, Controller: c.Name, For: c.For, Owns: c.Owns, Contract: c.Contract,
		Opaque: c.Hosted()}
}

// served returns a function that looks up the kinds of a server. An empty apiVersion matches any.
func served(s *fakeapi.Server) func(apiVersion, kind string) (namespaced, ok bool) {
	return func(apiVersion, kind string) (namespaced, ok bool) {
		if apiVersion == "" {
			for _, k := range s.Kinds() {
				if k.GVK.Kind == kind {
					return k.Namespaced, true
				}
			}
			return false, false
		}
		k := s.Kind(schema.FromAPIVersionAndKind(apiVersion, kind))
		return k != nil && k.Namespaced, k != nil
	}
}
