package simtest_test

import (
	"context"
	"fmt"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

// Explore does what Check does, but returns the result instead of failing the test.
func ExampleCase_Explore() {
	c := simtest.Case{
		Controllers: []host.Controller{Keeper}, With: []string{"gc"}, Schedules: 50,
		World: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
		User:  []simtest.Action{simtest.Verb("label cm/a tier=front")},
	}
	x, err := c.Explore(context.Background(), "keeper")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(x.Schedules, "schedules,", len(x.Failures), "violations,", len(c.Unexercised(x)), "gaps")
	// Output:
	// 50 schedules, 0 violations, 0 gaps
}
