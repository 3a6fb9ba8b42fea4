package simtest_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

// A case that exercises nothing of its controller does not pass.
func TestUnexercised(t *testing.T) {
	silent := simtest.Case{Controllers: []host.Controller{keeper(keep)}, Schedules: 3}
	gone := keeping(keeper(keep))
	gone.User, gone.Settled = []simtest.Action{simtest.Verb("label cm/a x=y"), simtest.Verb("delete cm/a")}, nil
	checked := gone
	checked.Settled = func(host.Client) error { return nil }
	vain := keeping(keeper(keep))
	vain.User = []simtest.Action{simtest.Verb("label cm/a x=y"), simtest.Verb("delete cm/zzz")}
	for _, x := range []struct {
		c    simtest.Case
		want string
	}{
		{silent, "keeper wrote nothing in any of 3 schedules"},
		{gone, "no ConfigMap is left at the end of any of 300 schedules"},
		{checked, ""},
		{vain, `User[1]: delete cm/zzz was refused in each of 300 schedules: 404 NotFound`},
		{keeping(keeper(keep)), ""},
	} {
		e, err := x.c.Explore(t.Context(), t.Name())
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(x.c.Unexercised(e), "\n"); !strings.HasPrefix(got, x.want) || x.want == "" && got != "" {
			t.Errorf("got %q, want %q", got, x.want)
		}
	}
}

// An exhaustive search that was cut short does not pass.
func TestUncoveredIsUnexercised(t *testing.T) {
	c := simtest.Case{}
	for want, v := range map[string]*explore.Coverage{
		"not everything was covered: bound of 9 steps": {Stopped: "bound of 9 steps"}, "": {Complete: true},
	} {
		if got := strings.Join(c.Unexercised(&scenarios.Exploration{Coverage: v}), "\n"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Declarations that had an exception in every schedule are reported as not exercised.
func TestAlsoUnexercised(t *testing.T) {
	for _, x := range []struct {
		name        string
		unexercised string
		spared      []string
		change      func(c *simtest.Case)
	}{
		{"all asked", "", nil, func(*simtest.Case) {}},
		{"always waits", "keeper has too few objects at the end of each of 20 schedules",
			[]string{"NOFIGHT-3 exact-sum, of keeper: no schedule exercised Replicas"},
			func(c *simtest.Case) {
				c.Controllers[0].Contract.Replicas = func(runtime.Object) int { return 2 }
				c.Controllers[0].Contract.BlocksCreate = func(_, _ runtime.Object) bool { return true }
			}},
		{"has reached it, and would wait", "", nil, func(c *simtest.Case) {
			c.Controllers[0].Contract.Replicas = func(runtime.Object) int { return 1 }
			c.Controllers[0].Contract.BlocksCreate = func(_, _ runtime.Object) bool { return true }
		}},
		{"its own twin", "", []string{"EXACT-3 one-for-each-identity, of keeper: no schedule exercised Identity"},
			func(c *simtest.Case) {
				c.Controllers[0].Contract.Identity = func(runtime.Object) string { return "one" }
				c.Controllers[0].Contract.AllowDuplicate = func(_, _, _ runtime.Object) bool { return true }
			}},
		{"owns nothing", "",
			[]string{"LAW-1, of keeper: the owner of the Secret that it creates, since that is not in its " +
				"Owns; name it there, or in MayEdit if it has no owner"},
			func(c *simtest.Case) { c.Controllers[0].Owns, c.Controllers[0].Contract.Replicas = nil, nil }},
		{"another kind of that name", "",
			[]string{"the API group of Secret, which two groups have: laws distinguish kinds by name only"},
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
		if got := strings.Join(c.Unexercised(e), "\n"); !strings.HasPrefix(got, x.unexercised) || x.unexercised == "" && got != "" {
			t.Errorf("%s: got %q, want %q", x.name, got, x.unexercised)
		}
		if got := c.AlsoUnexercised(e); !slices.Equal(got, x.spared) || len(e.Failures) > 0 {
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

// keyed returns the keeper with the key "all", in addition to its own keys or instead of them. For this key it
// reconciles all ConfigMaps.
func keyed(beside bool) host.Controller {
	c := keeper(keep)
	all := host.Route{Kind: configMaps, Do: func(_ host.View, _ host.Event, out *host.Effect) { out.Keys = append(out.Keys, "all") }}
	if c.Routes = append(c.Routes, all); !beside {
		c.Routes = []host.Route{all}
	}
	first := c.New
	c.New = func(env *host.Env) host.Reconciler {
		each := first(env)
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
	return c
}

// If some keys name no object, the owner of the written object is used. If no key names an object, numbers cannot be
// checked, and a run without violations is not a pass.
func TestKeysOfNoObject(t *testing.T) {
	for _, beside := range []bool{true, false} {
		c := simtest.Case{Controllers: []host.Controller{keyed(beside)}, Objects: []runtime.Object{kept}, Schedules: 20}
		x, err := c.Explore(t.Context(), "w")
		if err != nil || len(x.Failures) > 0 {
			t.Fatalf("%v, %s", err, x.Text())
		}
		var unexercised []string
		if !beside {
			unexercised = []string{"no key that keeper synced names a ConfigMap: how many it makes and deletes for each was not " +
				"checked; keys are namespace/name"}
		}
		if got := c.Unexercised(x); !slices.Equal(got, unexercised) {
			t.Errorf("got %q", got)
		}
		spared := "LAW-2, of keeper: the owner for which it wrote a Secret in a reconcile of a key that names no " +
			"ConfigMap"
		if got := c.AlsoUnexercised(x); !slices.Contains(got, spared) {
			t.Errorf("got %q", got)
		}
	}
}
