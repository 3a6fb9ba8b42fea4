package cli

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
)

// attended says which controllers act on the objects of a kind, and what is lacking where
// none of them runs.
type attended struct {
	by      []string // names of controllers
	lacking string
}

// attendants are, by kind, the controllers of a registry that act on its objects: those
// that sync them, and a few that have no kind of their own.
func attendants(g *scenarios.Registry) map[schema.GroupKind]attended {
	all := map[schema.GroupKind]attended{
		{Kind: "Pod"}:       {[]string{"kubelet"}, "it is not run"},
		{Kind: "Namespace"}: {[]string{"namespace"}, "it is not emptied when it is deleted, and stays"},
		{Kind: "PersistentVolumeClaim"}: {[]string{"persistentvolumeclaim-protection"},
			"it keeps its finalizer when it is deleted, and stays"},
	}
	for _, c := range g.Controllers {
		at := c.For.GroupKind()
		if c.For.Empty() || slices.Contains(all[at].by, c.Name) {
			continue
		}
		all[at] = attended{append(all[at].by, c.Name), "nothing acts on it"}
	}
	return all
}

// unattended are the kinds on whose objects none of the chosen controllers acts.
type unattended map[schema.GroupKind]attended

// unattendedBy leaves out the kinds that one of the controllers is for, whether the server runs it or a
// program does its work.
func unattendedBy(g *scenarios.Registry, chosen []host.Controller) unattended {
	all := unattended(attendants(g))
	for at, a := range all {
		if slices.ContainsFunc(chosen, func(c host.Controller) bool { return slices.Contains(a.by, c.Name) }) {
			delete(all, at)
		}
	}
	return all
}

// resources names those of them that a server has: "deployments (deployment)".
func (u unattended) resources(s *fakeapi.Server) (list []string) {
	for _, k := range s.Kinds() {
		if a, is := u[k.GVK.GroupKind()]; is {
			list = append(list, k.Resource+" ("+strings.Join(a.by, " or ")+")")
		}
	}
	slices.Sort(list)
	return list
}

// warning is what whoever creates an object of a kind is warned of; "" where a controller
// acts on it, or would in no cluster. Pods are left out: they come in numbers, from
// controllers, which cannot do anything about it.
func (u unattended) warning(k *fakeapi.Kind) string {
	if why := k.Inert(); why != "" {
		return "this server only stores " + k.Resource + ": " + why
	}
	a, is := u[k.GVK.GroupKind()]
	if !is || k.GVK.Kind == "Pod" {
		return ""
	}
	return "no " + strings.Join(a.by, " or ") + " controller runs in this server: " + a.lacking
}
