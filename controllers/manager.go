package controllers

import (
	"maps"
	"slices"
	"strings"

	"github.com/threelaws/threelaws/controllers/internal/elector"
	"github.com/threelaws/threelaws/sim/host"
)

// managed is a controller of kube-controller-manager: its name, its older alias, and whether it is off by default.
type managed struct {
	name, alias string
	off         bool
}

// kubeControllerManager lists the controllers of kube-controller-manager 1.36, in registration order (KCM-1).
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

// Manager describes kube-controller-manager, with the controllers of this module.
type Manager struct {
	Runs    []string          // the names in [Builtin] of the controllers that run by default, in registration order
	Aliases map[string]string // the name in [Builtin], by each other name: a short, current or earlier upstream name
	Absent  []string          // current and earlier upstream names of controllers that [Builtin] lacks

	// Elector returns the leader election of one instance. It uses the Lease kube-system/kube-controller-manager, and
	// calls lead when the instance wins or loses the lease.
	Elector func(name string, lead func(bool)) host.Controller
}

// KubeControllerManager describes kube-controller-manager. It uses the controller names of [Builtin].
func KubeControllerManager() Manager {
	m := Manager{Aliases: maps.Clone(aliases), Elector: elector.New}
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

// here returns the first of the controller's possible names that is in a table, or "". These are its alias, the alias
// without hyphens, and its name without "-controller".
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
