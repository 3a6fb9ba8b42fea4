package sim

import "strings"

// Ref names one incarnation of one API object. Kind is the name in the server's table of kinds ("Pod",
// "ReplicaSet").
type Ref struct {
	Kind, Namespace, Name, UID string
}

// shortKinds are kubectl's short names.
var shortKinds = map[string]string{
	"ConfigMap": "cm", "CronJob": "cj", "CustomResourceDefinition": "crd", "DaemonSet": "ds",
	"Deployment": "deploy", "Endpoints": "ep", "Event": "ev", "HorizontalPodAutoscaler": "hpa",
	"Namespace": "ns", "Node": "node", "PersistentVolume": "pv", "PersistentVolumeClaim": "pvc", "Pod": "pod",
	"PodDisruptionBudget": "pdb", "PriorityClass": "pc", "ReplicaSet": "rs", "ReplicationController": "rc",
	"Service": "svc", "ServiceAccount": "sa", "StatefulSet": "sts", "StorageClass": "sc",
}

// Short returns kubectl's short name of a kind: "rs" for ReplicaSet. A kind without one is written in lower
// case.
func Short(kind string) string {
	if s, ok := shortKinds[kind]; ok {
		return s
	}
	return strings.ToLower(kind)
}

// IsZero reports whether the reference names no object. If a process syncs no kind of its own, [Record.For]
// has only a name: the key.
func (r Ref) IsZero() bool { return r.Kind == "" }

// String returns the reference as people type it: "rs/web-a", or "prod/rs/web-a" outside the namespace
// "default".
func (r Ref) String() string {
	s := Short(r.Kind) + "/" + r.Name
	if r.Namespace != "" && r.Namespace != "default" {
		return r.Namespace + "/" + s
	}
	return s
}

// Key is namespace/name, or the bare name of a cluster-scoped object.
func (r Ref) Key() string {
	if r.Namespace == "" {
		return r.Name
	}
	return r.Namespace + "/" + r.Name
}
