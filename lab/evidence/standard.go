package evidence

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// standing holds the parts of the worlds that test a controller. The owner is an object of the kind that the
// controller reconciles. The stray is an orphan that the owner may adopt.
type standing struct {
	object string   // the object as kubectl names it: "rs/NAME"
	with   []string // other controllers that the world needs
	pods   string   // the variant of the kubelet to start; "" for the plain one
	owner  string   // manifest of the object; NAME stands for its name
	orphan string   // manifest of the orphan: the object selects it, but it has no owner; "" for none
	stray  string   // the orphan as kubectl names it: "pod/stray"
	scales bool     // the object has replicas
	names  bool     // dependents have fixed names, so a released dependent blocks a new dependent
	around string   // manifests of other objects that the controller needs
	then   string   // steps that change the objects in the manifests of around
	goes   string   // a step instead of "settle", for a controller that acts by the clock
	ended  string   // a step after "apply owner.yaml" that gives the object the status of a finished object
	free   string   // a step that removes the finalizers that the owner has added to the stray
	only   []string // names of the scripts to use; nil: all that fit
	rival  *against // an owner of another kind that may adopt the stray too
}

type against struct {
	controller string
	owner      string // manifest of the other owner
}

const rivalSet = "\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: rival}\nspec: {replicas: 0, " +
	"selector: {matchLabels: {app: web}}, template: " + podTemplate + "}\n"

const podTemplate = "{metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: registry.example/web}]}}"

const strayPod = `
apiVersion: v1
kind: Pod
metadata: {name: stray, labels: {app: web}}
spec: {containers: [{name: main, image: registry.example/web}]}
`

var anyPod = strings.ReplaceAll(strayPod, "stray", "web-1")

// standings has a row for each controller that these worlds test.
var standings = map[string]standing{
	"replicaset": {object: "rs/NAME", scales: true, orphan: strayPod, stray: "pod/stray", owner: `
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: NAME}
spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: ` + podTemplate + `}
`},
	"replication": {object: "rc/NAME", scales: true, orphan: strayPod, stray: "pod/stray", owner: `
apiVersion: v1
kind: ReplicationController
metadata: {name: NAME}
spec: {replicas: 2, selector: {app: web}, template: ` + podTemplate + `}
`},
	"deployment": {object: "deploy/NAME", with: []string{"replicaset"}, scales: true, stray: "rs/stray", orphan: `
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: stray, labels: {app: web}}
spec: {replicas: 1, selector: {matchLabels: {app: web}}, template: ` + podTemplate + `}
`, owner: `
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME}
spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: ` + podTemplate + `}
`},
	"statefulset": {object: "sts/NAME", scales: true, names: true, stray: "pod/web-0",
		rival:  &against{"replicaset", rivalSet},
		orphan: strings.ReplaceAll(strayPod, "stray", "web-0"), owner: `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: NAME}
spec: {replicas: 2, serviceName: web, selector: {matchLabels: {app: web}}, template: ` + podTemplate + `}
`},
	"daemonset": {object: "ds/NAME", with: []string{"scheduler"}, stray: "pod/stray",
		orphan: strings.ReplaceAll(strayPod, "spec: {", "spec: {nodeName: a, "), around: `
apiVersion: v1
kind: Node
metadata: {name: a}
---
apiVersion: v1
kind: Node
metadata: {name: b}
`, then: "patch node/a type=merge '{spec: {taints: null}}'\npatch node/b type=merge '{spec: {taints: null}}'\n", owner: `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: NAME}
spec: {selector: {matchLabels: {app: web}}, template: ` + podTemplate + `}
`},
	// With kubelet@endless the Job's pods do not end, so the controllers can go on to fight about them.
	"job": {object: "job/NAME", pods: "kubelet@endless", stray: "pod/stray", orphan: strayPod,
		free: dropFinalizers("STRAY"), owner: `
apiVersion: batch/v1
kind: Job
metadata: {name: NAME}
spec:
  completions: 2
  parallelism: 2
  manualSelector: true
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {restartPolicy: Never, containers: [{name: main, image: registry.example/web}]}
`},
	"cronjob": {object: "cj/NAME", goes: "settle for=70s rest", owner: `
apiVersion: batch/v1
kind: CronJob
metadata: {name: NAME}
spec:
  schedule: "* * * * *"
  jobTemplate:
    spec:
      template:
        metadata: {labels: {app: web}}
        spec: {restartPolicy: Never, containers: [{name: main, image: registry.example/web}]}
`},
	"endpointslice": {object: "svc/NAME", around: anyPod, owner: `
apiVersion: v1
kind: Service
metadata: {name: NAME}
spec: {selector: {app: web}, ports: [{port: 80}]}
`},
	"disruption": {object: "pdb/NAME", only: others, around: anyPod, owner: `
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: NAME}
spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}
`},
	"resourcequota": {object: "quota/NAME", only: others, around: anyPod, owner: `
apiVersion: v1
kind: ResourceQuota
metadata: {name: NAME}
spec: {hard: {pods: "5"}}
`},
	"ttl-after-finished": {object: "job/NAME", only: []string{"make", "held"}, ended: "patch OBJECT " +
		`subresource=status '{status: {startTime: "2017-03-01T00:00:00Z", completionTime: ` +
		`"2017-03-01T00:00:00Z", succeeded: 1, ` +
		`conditions: [{type: SuccessCriteriaMet, status: "True"}, ` +
		`{type: Complete, status: "True", lastTransitionTime: "2017-03-01T00:00:00Z"}]}}'` + "\n", owner: `
apiVersion: batch/v1
kind: Job
metadata: {name: NAME}
spec:
  ttlSecondsAfterFinished: 5
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: registry.example/web}]}}
`},
}

// others are the scripts for controllers that own nothing and only write to others' objects.
var others = []string{"make", "delete", "held"}

func dropFinalizers(object string) string {
	return "patch " + object + " type=merge '{metadata: {finalizers: null}}'\n"
}

// script is a world. It tests the controllers for which needs returns true, or all if needs is nil.
type script struct {
	name  string
	steps string
	needs func(s *standing) bool
}

func scales(s *standing) bool  { return s.scales }
func adopts(s *standing) bool  { return s.orphan != "" }
func forgets(s *standing) bool { return adopts(s) && !s.names }
func ticks(s *standing) bool   { return s.goes != "" }
func rivals(s *standing) bool  { return s.rival != nil }

var scripts = []script{
	{"make", "apply owner.yaml\nsettle\n", nil},
	{"scale", "apply owner.yaml\nsettle quiet\nscale OBJECT --replicas=3\nscale OBJECT --replicas=1\nsettle\n", scales},
	{"adopt", "apply orphan.yaml\napply owner.yaml\nsettle\n", adopts},
	{"release", "apply orphan.yaml\napply owner.yaml\nsettle quiet\nlabel STRAY app=other\nsettle\n", forgets},
	{"release-gone",
		"apply orphan.yaml\napply owner.yaml\nsettle quiet\nlabel STRAY app=other\ndelete STRAY\nsettle\n", adopts},
	{"delete", "apply owner.yaml\nsettle quiet\ndelete OBJECT --cascade=background\nsettle\n", nil},
	{"delete-foreground", "apply owner.yaml\nsettle quiet\ndelete OBJECT --cascade=foreground\nsettle\n", nil},
	{"delete-orphan", "apply owner.yaml\nsettle quiet\ndelete OBJECT --cascade=orphan\nsettle\n", nil},
	{"make-again",
		"apply owner.yaml\nsettle quiet\ndelete OBJECT --cascade=orphan\nsettle\napply owner.yaml\nsettle\n", nil},
	{"held", "apply owner.yaml\npatch OBJECT type=merge '{metadata: {finalizers: [example.com/hold]}}'\nsettle\n" +
		"delete OBJECT\nsettle\n" + dropFinalizers("OBJECT") + "settle\n", nil},
	{"release-lost", "apply orphan.yaml\napply owner.yaml\nsettle quiet\nlabel STRAY app=other\n" +
		"FREEdelete STRAY --grace-period=0\nsettle\n", adopts},
	{"orphan-gone", "apply owner.yaml\nsettle quiet\napply orphan.yaml\ndelete STRAY --grace-period=0\nsettle\n",
		forgets},
	{"adopt-later", "apply orphan.yaml\nlabel STRAY app=other\napply owner.yaml\nsettle quiet\n" +
		"label STRAY tier=front\nlabel STRAY app=web\nsettle\n", forgets},
	{"replace", "apply replacing.yaml\nsettle for=130s rest\ndelete OBJECT\nsettle for=10s rest\n", ticks},
	{"contest", "apply orphan.yaml\napply owner.yaml\napply contender.yaml\nsettle\n", rivals},
	{"overlap", "apply orphan.yaml\napply owner.yaml\napply second.yaml\nsettle\n", adopts},
}

// rival adapts the manifest of an owner for a second owner with another spec.
var rival = strings.NewReplacer("NAME", "rival", "replicas: 2", "replicas: 1")

// replacing adds concurrencyPolicy Replace to the manifest of a CronJob.
var replacing = strings.NewReplacer("NAME", "web", "  schedule:", "  concurrencyPolicy: Replace\n  schedule:")

// standard returns the worlds that test a controller as scenario files, by name.
func standard(controller string) map[string][]byte {
	s, ok := standings[controller]
	if !ok {
		return nil
	}
	files := map[string][]byte{}
	for _, p := range scripts {
		if p.needs != nil && !p.needs(&s) || s.only != nil && !slices.Contains(s.only, p.name) {
			continue
		}
		var b strings.Builder
		fmt.Fprintf(&b, "controllers %s garbagecollector %s %s", controller, cmp.Or(s.pods, "kubelet"),
			strings.Join(s.with, " "))
		contender := ""
		if strings.Contains(p.steps, "contender") {
			contender = s.rival.owner
			b.WriteString(" " + s.rival.controller)
		}
		b.WriteString("\n")
		if s.around != "" {
			b.WriteString("apply around.yaml\n" + s.then)
		}
		object := strings.ReplaceAll(s.object, "NAME", "web")
		steps := strings.ReplaceAll(p.steps, "apply owner.yaml\n", "apply owner.yaml\n"+s.ended)
		steps = strings.ReplaceAll(steps, "FREE", s.free)
		if s.goes != "" && !strings.Contains(steps, "for=") {
			steps = strings.NewReplacer("settle quiet", s.goes, "settle", s.goes).Replace(steps)
		}
		b.WriteString(strings.NewReplacer("OBJECT", object, "STRAY", s.stray).Replace(steps))
		for _, section := range [][2]string{{"around", s.around}, {"orphan", s.orphan},
			{"owner", strings.ReplaceAll(s.owner, "NAME", "web")}, {"second", rival.Replace(s.owner)},
			{"contender", contender},
			{"replacing", replacing.Replace(s.owner)},
		} {
			if strings.Contains(b.String(), "apply "+section[0]+".yaml") {
				fmt.Fprintf(&b, "-- %s.yaml --%s", section[0], section[1])
			}
		}
		files["standard/"+controller+"-"+p.name] = []byte(b.String())
	}
	return files
}
