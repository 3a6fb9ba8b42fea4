package convicted_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

var secrets = corev1.SchemeGroupVersion.WithKind("Secret")

// crews is a second operator on fleets. It should keep two Secrets for each, and creates this many.
func crews(makes int) host.Controller {
	c := operates("crew", fleets, secrets, doing{sync: func(o *operator, f metav1.Object) error {
		for i := range makes {
			name := fmt.Sprintf("%s-crew-%d", f.GetName(), i)
			if o.has(name) {
				continue
			}
			if err := o.create(&corev1.Secret{ObjectMeta: o.made(f, name).(*corev1.ConfigMap).ObjectMeta}); err != nil {
				return err
			}
		}
		return nil
	}})
	c.Contract.Replicas = func(runtime.Object) int { return 2 }
	return c
}

// manned is a world in which a second, right operator works on the kind.
func manned(c host.Controller) simtest.Case {
	return simtest.Case{World: world(fleet("a", 1, "north")),
		Controllers: []host.Controller{fleeting((*operator).keeps), c}}
}

// wrongPartners work on a kind that another operator also works on.
var wrongPartners = []wrong{{
	name: "makes too few of what is its part", law: "NOFIGHT-3", tell: []string{"fleet/a wants 2, owns 1"},
	run: manned(crews(1)),
}}
