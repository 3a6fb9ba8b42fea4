package recorded_test

import (
	"github.com/threelaws/threelaws/controllers/internal/statefulset"
	"github.com/threelaws/threelaws/sim/host"
)

// expected are the cases that do not pass, each with the reason. One that
// passes may not be named here.
var expected = map[string]string{}

// faults are controllers that do what kube-controller-manager does in a case and ours
// refrain from, since a law forbids it. The case is played with them: that it passes
// says that nothing else is in the way.
var faults = map[string]host.Controller{
	// web-01 counts as web-1, and is to get its name. That write is refused, and tried
	// again on what the cache has by that name: a pod that is nobody's and does not
	// match. It gets the labels of a pod of the set (LAW-2).
	"controllers/sts-adopt-by-name": statefulset.New(statefulset.Options{Era: statefulset.Current,
		Without: statefulset.Without{Canonical: true, SamePod: true}}),
}
