package convicted_test

import (
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

const room = `apiVersion: v1
kind: ResourceQuota
metadata: {name: room}
spec: {hard: {count/configmaps: "2"}}
`

// growing is a world with too little quota for a growing fleet, until the user raises it.
func growing(refused func(o *operator, f metav1.Object, err error) error) simtest.Case {
	return simtest.Case{World: world(room, fleet("a", 1, "north")), With: []string{"resourcequota"}, Settled: true,
		Schedules: 20,
		User: user("patch fleet/a type=merge '{spec: {replicas: 4}}'", "settle",
			"patch quota/room type=merge '{spec: {hard: {count/configmaps: \"9\"}}}'"),
		Controllers: []host.Controller{fleeting(func(o *operator, f metav1.Object) error {
			for i := len(o.owned(f)); i < wanted(f); i++ {
				if err := o.create(o.made(f, fmt.Sprintf("a-%d", i))); apierrors.IsForbidden(err) {
					return refused(o, f, err)
				} else if err != nil {
					return err
				}
			}
			return nil
		})}}
}

// unforbidden mishandle a refusal by quota.
var unforbidden = []wrong{{
	name: "gives up where a quota has no room", law: "NOFIGHT-3",
	tell: []string{"fleet/a wants 4, owns 2"},
	run:  growing(func(*operator, metav1.Object, error) error { return nil }),
}, {
	name: "asks again at once where a quota has no room", law: "EXACT-7",
	tell: []string{"exceeded quota: room", "fleet/a"},
	run: growing(func(o *operator, f metav1.Object, _ error) error {
		o.env.Queue.Add(keyOf(f))
		return nil
	}),
}}

func TestUnforbidden(t *testing.T) { convict(t, unforbidden) }

// A controller that retries with backoff counts as settled while the quota is too small, and proceeds when it is
// raised.
func TestForbiddenIsAcquitted(t *testing.T) {
	c := growing(func(_ *operator, _ metav1.Object, err error) error { return err })
	c.Faults, c.Schedules = map[string]int{"crash": 1, "conflict": 1, "error": 1}, 100
	simtest.Check(t, c)
}
