package hosted_test

// shape is a kind of owners: what they are like, and what is done to them.
type shape struct {
	kind   string
	by     []string // who works on it
	adopts string   // the kind of what it may adopt; "" for none
	scales bool
	edits  []string // merge patches of it
	text   func(d *drawing) string
}

const template = "{metadata: {labels: {app: APP}}, spec: {containers: [{name: main, image: registry.example/web}]}}"

// What there is in every world, and what a stray has in its metadata: somebody's finalizer, a
// controller, an owner.
const (
	around = `
{apiVersion: v1, kind: ConfigMap, metadata: {name: other}}
---
{apiVersion: v1, kind: Node, metadata: {name: a}}
`
	held   = ", finalizers: [example.com/hold]"
	others = ", ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: other, uid: OTHER, controller: true}]"
	shared = ", ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: other, uid: OTHER}]"
)

// strayOf are manifests of what may be adopted, by kind.
var strayOf = map[string]func(d *drawing) string{
	"pod": func(d *drawing) string {
		return `
apiVersion: v1
kind: Pod
metadata: {name: NAME, labels: {app: APP}META}
spec: {` + d.one("", "nodeName: a, ") + `containers: [{name: main, image: registry.example/web}]}
`
	},
	"rs": func(d *drawing) string {
		return `
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: NAME, labels: {app: APP}META}
spec: {replicas: ` + d.one("0", "1", "2") + `, selector: {matchLabels: {app: APP}}, template: ` + template + `}
`
	},
}

const (
	newImage = "{spec: {template: {spec: {containers: [{name: main, image: registry.example/web2}]}}}}"
	oldImage = "{spec: {template: {spec: {containers: [{name: main, image: registry.example/web}]}}}}"
)

var shapes = []shape{
	{"rs", []string{"replicaset"}, "pod", true, []string{newImage, "{metadata: {labels: {note: x}}}"},
		func(d *drawing) string {
			return `
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: NAME}
spec: {replicas: ` + d.one("2", "1", "3", "0") + `, selector: ` + d.one("{matchLabels: {app: APP}}",
				"{matchExpressions: [{key: app, operator: In, values: [APP]}]}") + `, template: ` + template + `}
`
		}},
	{"rc", []string{"replication"}, "pod", true, []string{newImage}, func(d *drawing) string {
		return `
apiVersion: v1
kind: ReplicationController
metadata: {name: NAME}
spec: {replicas: ` + d.one("2", "1", "0") + `, selector: {app: APP}, template: ` + template + `}
`
	}},
	{"deploy", []string{"deployment", "replicaset"}, "rs", true, []string{newImage, newImage, oldImage,
		"{spec: {paused: true}}", "{spec: {paused: false}}", "{spec: {revisionHistoryLimit: 0}}"},
		func(d *drawing) string {
			return `
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME}
spec:
  replicas: ` + d.one("2", "1", "3", "0") + `
  revisionHistoryLimit: ` + d.one("10", "1", "0") + `
  strategy: ` + d.one("{}", "{type: Recreate}", "{rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}",
				"{rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}") + `
  selector: {matchLabels: {app: APP}}
  template: ` + template + `
`
		}},
	{"sts", []string{"statefulset"}, "pod", true, []string{newImage, newImage, oldImage,
		"{spec: {updateStrategy: {rollingUpdate: {partition: 1}}}}",
		"{spec: {updateStrategy: {type: OnDelete, rollingUpdate: null}}}"},
		func(d *drawing) string {
			return `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: NAME}
spec:
  replicas: ` + d.one("2", "1", "3", "0") + `
  serviceName: web
  podManagementPolicy: ` + d.one("OrderedReady", "Parallel") + `
  revisionHistoryLimit: ` + d.one("10", "0") + `
  selector: {matchLabels: {app: APP}}
  template: ` + template + `
`
		}},
	{"ds", []string{"daemonset", "scheduler"}, "pod", false, []string{newImage, newImage, oldImage,
		"{spec: {updateStrategy: {type: OnDelete, rollingUpdate: null}}}"},
		func(d *drawing) string {
			return `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: NAME}
spec: {selector: {matchLabels: {app: APP}}, template: ` + template + `}
`
		}},
	{"job", []string{"job"}, "pod", false, []string{"{spec: {suspend: true}}", "{spec: {suspend: false}}",
		"{spec: {parallelism: 3}}", "{spec: {parallelism: 0}}"},
		func(d *drawing) string {
			return `
apiVersion: batch/v1
kind: Job
metadata: {name: NAME}
spec:
  completions: ` + d.one("2", "1", "3") + `
  parallelism: ` + d.one("2", "1", "0") + `
  backoffLimit: ` + d.one("1", "0") + `
  completionMode: ` + d.one("NonIndexed", "Indexed") + `
  suspend: ` + d.one("false", "false", "true") + d.one("", "", `
  manualSelector: true
  selector: {matchLabels: {app: APP}}`) + `
  template:
    metadata:
      labels: {app: APP}
      annotations: {threelaws.example/exit-code: "` + d.one("0", "0", "1") + `"}
    spec:
      restartPolicy: ` + d.one("Never", "Never", "OnFailure") + `
      containers: [{name: main, image: registry.example/web}]
`
		}},
	{"svc", []string{"endpointslice"}, "", false, []string{"{spec: {selector: {app: api}}}",
		"{spec: {ports: [{port: 81}]}}"},
		func(d *drawing) string {
			return `
apiVersion: v1
kind: Service
metadata: {name: NAME}
spec: {selector: {app: APP}, ports: [{port: 80}]}
`
		}},
	{"pdb", []string{"disruption"}, "", false, []string{"{spec: {minAvailable: 2}}"},
		func(d *drawing) string {
			return `
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: NAME}
spec: {` + d.one("minAvailable: 1", "maxUnavailable: 1", `minAvailable: "50%"`) +
				`, selector: {matchLabels: {app: APP}}}
`
		}},
}
