package simtest_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

// Declarations that had an exception in every schedule are reported as not exercised.
func TestSpared(t *testing.T) {
	for _, x := range []struct {
		name    string
		unasked string
		spared  []string
		change  func(c *simtest.Case)
	}{
		{"all asked", "", nil, func(*simtest.Case) {}},
		{"always waits", "keeper lacks what it wants at the end of each of 20 schedules",
			[]string{"NOFIGHT-3 exact-sum, of keeper: nothing came to it that Replicas does not excuse"},
			func(c *simtest.Case) {
				c.Controllers[0].Contract.Replicas = func(runtime.Object) int { return 2 }
				c.Controllers[0].Contract.BlocksCreate = func(_, _ runtime.Object) bool { return true }
			}},
		{"has reached it, and would wait", "", nil, func(c *simtest.Case) {
			c.Controllers[0].Contract.Replicas = func(runtime.Object) int { return 1 }
			c.Controllers[0].Contract.BlocksCreate = func(_, _ runtime.Object) bool { return true }
		}},
		{"its own twin", "",
			[]string{"EXACT-3 one-for-each-identity, of keeper: nothing came to it that Identity does not excuse"},
			func(c *simtest.Case) {
				c.Controllers[0].Contract.Identity = func(runtime.Object) string { return "one" }
				c.Controllers[0].Contract.AllowDuplicate = func(_, _, _ runtime.Object) bool { return true }
			}},
		{"owns nothing", "",
			[]string{"LAW-1, of keeper: whose the Secret is that it makes, as that is none of its Owns; name it " +
				"there, or in MayEdit where it is nobody's"},
			func(c *simtest.Case) { c.Controllers[0].Owns, c.Controllers[0].Contract.Replicas = nil, nil }},
		{"another kind of that name", "",
			[]string{"which Secret is meant where two groups have one: laws go by the kind alone"},
			func(c *simtest.Case) {
				c.World = strings.NewReplacer("Fleet", "Secret", "fleet", "secret").Replace(fleetDefinition) +
					"---\napiVersion: example.com/v1\nkind: Secret\nmetadata: {name: other}\n"
			}},
	} {
		c := simtest.Case{Controllers: []host.Controller{keeper(keep)}, Objects: []runtime.Object{kept}, Schedules: 20}
		x.change(&c)
		e, err := c.Explore(t.Context(), "w")
		if err != nil {
			t.Errorf("%s: %v", x.name, err)
			continue
		}
		if got := strings.Join(c.Unasked(e), "\n"); !strings.HasPrefix(got, x.unasked) || x.unasked == "" && got != "" {
			t.Errorf("%s: got %q, want %q", x.name, got, x.unasked)
		}
		if got := c.Spared(e); !slices.Equal(got, x.spared) || len(e.Failures) > 0 {
			t.Errorf("%s: got %q, want %q\n%s", x.name, got, x.spared, e.Text())
		}
	}
}

const fleetDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: fleets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Fleet, plural: fleets, singular: fleet}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object}}
`

// For a key that names no object, the owner of the written object counts.
func TestSparesKeysOfNoObject(t *testing.T) {
	one := keeper(keep)
	all := func(_ host.View, _ host.Event, out *host.Effect) { out.Keys = append(out.Keys, "all") }
	one.Routes = append(one.Routes, host.Route{Kind: configMaps, Do: all})
	made := one.New
	one.New = func(env *host.Env) host.Reconciler {
		each := made(env)
		return host.SyncFunc(func(ctx context.Context, key string) error {
			if key != "all" {
				return nil
			}
			for _, o := range env.Informer(configMaps).GetIndexer().List() {
				if err := each.Sync(ctx, "default/"+o.(*corev1.ConfigMap).Name); err != nil {
					return err
				}
			}
			return nil
		})
	}
	c := simtest.Case{Controllers: []host.Controller{one}, Objects: []runtime.Object{kept}, Schedules: 20}
	e, err := c.Explore(t.Context(), "w")
	want := "LAW-2, of keeper: for whom it wrote a Secret in a sync of a key that names no ConfigMap; it is taken " +
		"for the owner of what it wrote"
	if err != nil || !slices.Equal(c.Spared(e), []string{want}) {
		t.Errorf("got %v, %q", err, c.Spared(e))
	}
}
