package controllers

import (
	"slices"
	"strings"

	"github.com/threelaws/threelaws/controllers/internal/elector"
	"github.com/threelaws/threelaws/sim/host"
)

// managed is a controller of kube-controller-manager: its name, the older one that
// is its alias, and whether it runs only if it is named.
type managed struct {
	name, alias string
	off         bool
}

// kubeControllerManager are the controllers of kube-controller-manager 1.36, in the
// order in which it registers them (KCM-1).
var kubeControllerManager = []managed{
	{name: "serviceaccount-token-controller", alias: "serviceaccount-token"},
	{name: "endpoints-controller", alias: "endpoint"},
	{name: "endpointslice-controller", alias: "endpointslice"},
	{name: "endpointslice-mirroring-controller", alias: "endpointslicemirroring"},
	{name: "replicationcontroller-controller", alias: "replicationcontroller"},
	{name: "pod-garbage-collector-controller", alias: "podgc"},
	{name: "resourcequota-controller", alias: "resourcequota"},
	{name: "namespace-controller", alias: "namespace"},
	{name: "serviceaccount-controller", alias: "serviceaccount"},
	{name: "garbage-collector-controller", alias: "garbagecollector"},
	{name: "daemonset-controller", alias: "daemonset"},
	{name: "job-controller", alias: "job"},
	{name: "podgroup-protection-controller"},
	{name: "deployment-controller", alias: "deployment"},
	{name: "replicaset-controller", alias: "replicaset"},
	{name: "horizontal-pod-autoscaler-controller", alias: "horizontalpodautoscaling"},
	{name: "disruption-controller", alias: "disruption"},
	{name: "statefulset-controller", alias: "statefulset"},
	{name: "cronjob-controller", alias: "cronjob"},
	{name: "certificatesigningrequest-signing-controller", alias: "csrsigning"},
	{name: "certificatesigningrequest-approving-controller", alias: "csrapproving"},
	{name: "certificatesigningrequest-cleaner-controller", alias: "csrcleaner"},
	{name: "podcertificaterequest-cleaner-controller"},
	{name: "ttl-controller", alias: "ttl"},
	{name: "bootstrap-signer-controller", alias: "bootstrapsigner", off: true},
	{name: "token-cleaner-controller", alias: "tokencleaner", off: true},
	{name: "node-ipam-controller", alias: "nodeipam"},
	{name: "node-lifecycle-controller", alias: "nodelifecycle"},
	{name: "service-lb-controller", alias: "service", off: true},
	{name: "node-route-controller", alias: "route", off: true},
	{name: "cloud-node-lifecycle-controller", alias: "cloud-node-lifecycle", off: true},
	{name: "persistentvolume-binder-controller", alias: "persistentvolume-binder"},
	{name: "persistentvolume-attach-detach-controller", alias: "attachdetach"},
	{name: "persistentvolume-expander-controller", alias: "persistentvolume-expander"},
	{name: "clusterrole-aggregation-controller", alias: "clusterrole-aggregation"},
	{name: "persistentvolumeclaim-protection-controller", alias: "pvc-protection"},
	{name: "persistentvolume-protection-controller", alias: "pv-protection"},
	{name: "volumeattributesclass-protection-controller"},
	{name: "ttl-after-finished-controller", alias: "ttl-after-finished"},
	{name: "root-ca-certificate-publisher-controller", alias: "root-ca-cert-publisher"},
	{name: "kube-apiserver-serving-clustertrustbundle-publisher-controller"},
	{name: "ephemeral-volume-controller", alias: "ephemeral-volume"},
	{name: "storageversion-garbage-collector-controller", alias: "storage-version-gc"},
	{name: "resourceclaim-controller", alias: "resource-claim-controller"},
	{name: "resourcepoolstatusrequest-controller"},
	{name: "device-taint-eviction-controller"},
	{name: "legacy-serviceaccount-token-cleaner-controller", alias: "legacy-service-account-token-cleaner"},
	{name: "validatingadmissionpolicy-status-controller"},
	{name: "taint-eviction-controller"},
	{name: "service-cidr-controller"},
	{name: "storage-version-migrator-controller", alias: "svm"},
	{name: "selinux-warning-controller", off: true},
}

// Manager is kube-controller-manager as far as its controllers are here.
type Manager struct {
	Runs    []string          // names in the table, in its order: what it starts unless told otherwise
	Aliases map[string]string // its names, today's and earlier ones, of those that are here
	Absent  []string          // its names, today's and earlier ones, of those that are not
}

// KubeControllerManager returns kube-controller-manager's list of controllers, as
// names of [Builtin].
func KubeControllerManager() Manager {
	m := Manager{Aliases: map[string]string{}}
	var table []string
	for _, c := range Builtin() {
		table = append(table, c.Name)
	}
	for _, c := range kubeControllerManager {
		names := []string{c.name}
		if c.alias != "" {
			names = append(names, c.alias)
		}
		here := c.here(table)
		if here == "" {
			m.Absent = append(m.Absent, names...)
			continue
		}
		if !c.off {
			m.Runs = append(m.Runs, here)
		}
		for _, n := range names {
			if n != here {
				m.Aliases[n] = here
			}
		}
	}
	return m
}

// here is what a controller is called in a table of names; "" when it is not there.
// The table has the earlier names, with or without their hyphens, or today's without
// the word controller.
func (c *managed) here(table []string) string {
	alias := c.alias
	if alias == "replicationcontroller" {
		alias = "replication"
	}
	today := strings.TrimSuffix(c.name, "-controller")
	for _, name := range []string{alias, strings.ReplaceAll(alias, "-", ""), today} {
		if name != "" && slices.Contains(table, name) {
			return name
		}
	}
	return ""
}

// Candidate returns the leader election of one instance of the controller manager, by
// the Lease kube-system/kube-controller-manager: lead is told when it has won and
// when it has lost.
func Candidate(name string, lead func(bool)) host.Controller { return elector.New(name, lead) }
