package watch

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// passedOver are resources that are not looked at unless they are named: nobody owns them,
// they are contested by design, or nobody should have leave to read them.
var passedOver = []string{"events", "events.events.k8s.io", "leases.coordination.k8s.io", "secrets"}

// resource is one entry of a list of resources.
type resource struct {
	Name, SingularName, Kind string
	Namespaced               bool
	Verbs, ShortNames        []string
}

// discover says which kinds there are that can be listed and watched, and are asked for.
// What part of the server does not answer is noted, the first time, and left out.
func (r *Reader) discover(ctx context.Context, first bool) ([]*Kind, error) {
	type version struct{ GroupVersion, Version string }
	var all struct {
		Groups []struct {
			Name             string
			PreferredVersion version
			Versions         []version
		}
	}
	var kinds []*Kind
	asked := map[string]bool{}
	core, err := r.resources(ctx, "/api/v1")
	if err != nil {
		return nil, err
	}
	kinds = r.choose(kinds, asked, "", "v1", core)
	if err := r.read(ctx, "/apis", &all); err != nil {
		return nil, err
	}
	for _, g := range all.Groups {
		versions := append([]version{g.PreferredVersion}, g.Versions...)
		tried := map[string]bool{"": true}
		for _, v := range versions {
			if tried[v.GroupVersion] {
				continue
			}
			tried[v.GroupVersion] = true
			list, err := r.resources(ctx, "/apis/"+v.GroupVersion)
			if err != nil {
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				if first {
					r.Note(fmt.Sprintf("not looked at: %s: the server does not say what is in it: %v",
						v.GroupVersion, err))
				}
				continue
			}
			kinds = r.choose(kinds, asked, g.Name, v.Version, list)
		}
	}
	for _, name := range r.Kinds {
		if !asked[name] && first {
			return nil, &Unknown{Kind: name, There: names(kinds, core)}
		}
	}
	if len(kinds) == 0 {
		return nil, fmt.Errorf("there is no kind that can be listed and watched")
	}
	return kinds, nil
}

// Unknown is a kind that was asked for and is not there.
type Unknown struct {
	Kind  string
	There []string // those that are
}

func (u *Unknown) Error() string {
	return "there is no kind " + u.Kind + " that can be listed and watched"
}

func names(kinds []*Kind, core []resource) (out []string) {
	for _, k := range kinds {
		out = append(out, k.String())
	}
	for _, c := range core {
		out = append(out, c.Name)
	}
	return out
}

// choose adds those of a version's resources that are to be looked at and were not in
// another version.
func (r *Reader) choose(kinds []*Kind, asked map[string]bool, group, version string, all []resource) []*Kind {
	for _, x := range all {
		k := &Kind{group, version, x.Name, x.Kind, x.Namespaced}
		if strings.Contains(x.Name, "/") || !slices.Contains(x.Verbs, "list") || !slices.Contains(x.Verbs, "watch") ||
			r.Namespace != "" && !x.Namespaced {
			continue
		}
		called := []string{x.Name, x.SingularName, strings.ToLower(x.Kind), k.String()}
		called = append(called, x.ShortNames...)
		i := slices.IndexFunc(r.Kinds, func(name string) bool { return slices.Contains(called, strings.ToLower(name)) })
		if i >= 0 {
			for _, name := range r.Kinds {
				asked[name] = asked[name] || slices.Contains(called, strings.ToLower(name))
			}
		}
		if i < 0 && (len(r.Kinds) > 0 || slices.Contains(passedOver, k.String())) ||
			slices.ContainsFunc(kinds, func(o *Kind) bool { return o.groupKind() == k.groupKind() }) {
			continue
		}
		kinds = append(kinds, k)
	}
	return kinds
}

func (r *Reader) resources(ctx context.Context, path string) ([]resource, error) {
	var list struct{ Resources []resource }
	err := r.read(ctx, path, &list)
	return list.Resources, err
}

// read reads an answer as JSON.
func (r *Reader) read(ctx context.Context, path string, into any) error {
	ctx, stop := context.WithTimeout(ctx, listTime)
	defer stop()
	resp, err := r.get(ctx, path, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return json.NewDecoder(resp.Body).Decode(into)
}
