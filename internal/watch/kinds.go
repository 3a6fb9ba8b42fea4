package watch

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// passedOver are resources that are watched only if named: nobody owns them, they are contested by design, or few
// should be allowed to read them.
var passedOver = []string{"events", "events.events.k8s.io", "leases.coordination.k8s.io", "secrets"}

// discover lists the kinds that can be listed and watched, and were requested. It notes and skips groups that the
// server does not answer for.
func (r *Reader) discover(first bool) ([]*Kind, error) {
	lists, err := discovery.ServerPreferredResources(r.discovery)
	failed, partly := discovery.GroupDiscoveryFailedErrorGroups(err)
	if err != nil && !partly {
		return nil, err
	}
	var kinds []*Kind
	var there []string
	asked := map[string]bool{}
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for i := range list.APIResources {
			x := &list.APIResources[i]
			k := &Kind{gv.Group, gv.Version, x.Name, x.Kind, x.Namespaced}
			if strings.Contains(x.Name, "/") || !slices.Contains(x.Verbs, "list") || !slices.Contains(x.Verbs, "watch") ||
				r.Namespace != "" && !x.Namespaced {
				continue
			}
			there = append(there, k.String())
			if r.wanted(k, x, asked) {
				kinds = append(kinds, k)
			}
		}
	}
	if !first {
		return kinds, nil
	}
	for gv, err := range failed {
		r.Note(fmt.Sprintf("not looked at: %s: the server does not say what is in it: %v", gv, err))
	}
	for _, name := range r.Kinds {
		if !asked[name] {
			return nil, &Unknown{Kind: name, There: there}
		}
	}
	if len(kinds) == 0 {
		return nil, fmt.Errorf("there is no kind that can be listed and watched")
	}
	return kinds, nil
}

// wanted reports whether to watch a kind, and marks the requested names that match it.
func (r *Reader) wanted(k *Kind, x *metav1.APIResource, asked map[string]bool) bool {
	called := append([]string{x.Name, x.SingularName, strings.ToLower(x.Kind), k.String()}, x.ShortNames...)
	found := len(r.Kinds) == 0 && !slices.Contains(passedOver, k.String())
	for _, name := range r.Kinds {
		if slices.Contains(called, strings.ToLower(name)) {
			asked[name], found = true, true
		}
	}
	return found
}

// Unknown is the error for a requested kind that does not exist.
type Unknown struct {
	Kind  string
	There []string // the existing ones
}

func (u *Unknown) Error() string {
	return "there is no kind " + u.Kind + " that can be listed and watched"
}
