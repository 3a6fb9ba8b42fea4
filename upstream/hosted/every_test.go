package hosted_test

import (
	"maps"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
	"github.com/threelaws/threelaws/upstream/hosted"
)

// Those of kube-controller-manager's controllers that start and do nothing here, and why.
var idle = map[string]string{
	"certificatesigningrequest-signing-controller":                   "it is given no key to sign with",
	"cloud-node-lifecycle-controller":                                "there is no cloud",
	"node-route-controller":                                          "there is no cloud",
	"service-lb-controller":                                          "there is no cloud",
	"node-ipam-controller":                                           "it is not told to give nodes addresses",
	"serviceaccount-token-controller":                                "it is given no key to sign with",
	"kube-apiserver-serving-clustertrustbundle-publisher-controller": "its feature gate is off by default",
	"podcertificaterequest-cleaner-controller":                       "its feature gate is off by default",
	"podgroup-protection-controller":                                 "its feature gate is off by default",
	"resourcepoolstatusrequest-controller":                           "its feature gate is off by default",
	"storage-version-migrator-controller":                            "its feature gate is off by default",
	"storageversion-garbage-collector-controller":                    "its feature gate is off by default",
}

// Those that no bubble can hold, since they watch a directory for plugins of volumes: a goroutine of theirs waits for
// the machine that the test runs on, and is told as one that does not settle.
var outside = []string{"persistentvolume-attach-detach-controller", "selinux-warning-controller"}

// Every controller of kube-controller-manager's own list starts in a world, and fills its caches; who does nothing is
// known, and why.
func TestEveryControllerStarts(t *testing.T) {
	descriptors := app.NewControllerDescriptors()
	for _, name := range slices.Concat(slices.Collect(maps.Keys(idle)), outside) {
		if descriptors[name] == nil {
			t.Errorf("there is no %s any more", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(descriptors)) {
		if slices.Contains(outside, name) {
			continue
		}
		w := rivals(t, sim.NewSeed(1), nil)
		as := host.Controller{Name: name, For: appsv1.SchemeGroupVersion.WithKind("ReplicaSet")}
		w.Start(name, hosted.Controller(name, as))
		if s := w.Settle(trial.Limits{Steps: 20_000}); !s.Settled || w.Broken() != nil {
			t.Errorf("%s: %+v, %v", name, s, w.Broken())
		}
		asks := 0
		for i := range w.World.History.Len() {
			switch r := w.World.History.At(i); {
			case r.Process != name:
			case r.Op == sim.FaultHit:
				t.Errorf("%s ended: %s", name, r.Reason)
			case r.Op == sim.Read || r.Op == sim.Commit:
				asks++
			}
		}
		if (asks == 0) != (idle[name] != "") {
			t.Errorf("%s has asked %d times; it is said to be idle because %q", name, asks, idle[name])
		}
		w.Stop()
	}
}
