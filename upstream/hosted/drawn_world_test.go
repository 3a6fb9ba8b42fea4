package hosted_test

import (
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/trial"
)

// drawing is a random world: its controllers, and the acts of a user. The world settles between two acts.
type drawing struct {
	started []string
	acts    []act

	t      *rapid.T
	owners []owner
	strays []place // objects without an owner, or with an owner that is not in owners
}

// place names an object as in a command: "rs", "web".
type place struct{ kind, name string }

func (p place) String() string { return p.kind + "/" + p.name }

// owner is an object for which a controller keeps dependents.
type owner struct {
	place
	shape *shape
}

// drawn generates worlds of one or two owners, often with the same selector, strays that they may claim, and acts on
// all of them.
var drawn = rapid.Custom(func(t *rapid.T) *drawing {
	d := &drawing{t: t, started: []string{"garbagecollector", "kubelet"}}
	d.apply(around)
	d.patch(place{"node", "a"}, "{spec: {taints: null}}")
	s := d.shape()
	if d.flip() {
		d.stray(s)
	}
	d.make(s)
	for range d.number(1, 5) {
		d.act()
	}
	slices.Sort(d.started)
	d.started = slices.Compact(d.started)
	return d
})

func (d *drawing) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "controllers %s\n", strings.Join(d.started, " "))
	for _, a := range d.acts[2:] {
		b.WriteString(a.String() + "\n")
	}
	return b.String()
}

func (d *drawing) flip() bool { return rapid.Bool().Draw(d.t, "flip") }

func (d *drawing) number(from, to int) int { return rapid.IntRange(from, to).Draw(d.t, "number") }

func (d *drawing) one(texts ...string) string { return rapid.SampledFrom(texts).Draw(d.t, "one") }

func (d *drawing) shape() *shape { return &shapes[d.number(0, len(shapes)-1)] }

func (d *drawing) apply(manifest string) {
	d.acts = append(d.acts, act{verb: "create", text: manifest})
}

func (d *drawing) patch(p place, text string) {
	d.acts = append(d.acts, act{verb: "patch", place: p, text: text})
}

func (d *drawing) delete(p place, policy metav1.DeletionPropagation) {
	d.acts = append(d.acts, act{verb: "delete", place: p, policy: policy})
}

// make creates an owner, unless its name is taken. So generated names do not collide with other objects.
func (d *drawing) make(s *shape) {
	o := owner{place{s.kind, d.one("one", "two") + "-" + s.kind}, s}
	if slices.ContainsFunc(d.owners, func(p owner) bool { return p.place == o.place }) {
		return
	}
	d.started = append(d.started, s.by...)
	d.owners = append(d.owners, o)
	d.apply(strings.NewReplacer("NAME", o.name, "APP", d.app()).Replace(s.text(d)))
}

func (d *drawing) app() string { return d.one("web", "web", "api") }

// stray creates an object that an owner may claim, or that belongs to another owner.
func (d *drawing) stray(s *shape) {
	if s.adopts == "" {
		return
	}
	p := place{s.adopts, fmt.Sprintf("stray-%d", len(d.strays))}
	d.strays = append(d.strays, p)
	d.apply(strings.NewReplacer("NAME", p.name, "APP", d.app(), "META", d.one("", "", held, others, shared)).
		Replace(strayOf[s.adopts](d)))
}

func (d *drawing) act() {
	if len(d.owners) == 0 {
		d.make(d.shape())
		return
	}
	i := d.number(0, len(d.owners)-1)
	o := d.owners[i]
	switch d.number(0, 7) {
	case 0:
		if o.shape.scales {
			d.patch(o.place, fmt.Sprintf("{spec: {replicas: %d}}", d.number(0, 3)))
			return
		}
		d.edit(o)
	case 1, 2:
		d.edit(o)
	case 3:
		d.stray(o.shape)
	case 4:
		if len(d.strays) > 0 {
			d.patch(d.aStray(), "{metadata: {labels: {app: "+d.one("web", "api", "none")+"}}}")
		}
	case 5:
		if len(d.strays) > 0 {
			p := d.aStray()
			d.delete(p, "")
			d.patch(p, "{metadata: {finalizers: null}}")
		}
	case 6:
		d.delete(o.place, metav1.DeletionPropagation(d.one("Background", "Foreground", "Orphan")))
		d.owners = slices.Delete(d.owners, i, i+1)
		if d.flip() {
			d.make(o.shape)
		}
	case 7:
		d.make(d.shape())
	}
}

func (d *drawing) edit(o owner) {
	if len(o.shape.edits) > 0 {
		d.patch(o.place, d.one(o.shape.edits...))
	}
}

func (d *drawing) aStray() place { return d.strays[d.number(0, len(d.strays)-1)] }

type act struct {
	verb, text string
	place
	policy metav1.DeletionPropagation
}

func (a act) String() string {
	return strings.TrimRight(fmt.Sprintf("%s %s %s%s", a.verb, a.place, a.policy, a.text), "\n ")
}

// on performs the act as the user. It ignores refusals, which are the same for both kinds of controllers unless the
// worlds differ.
func (a act) on(w *trial.Trial) error {
	other := ""
	if o := w.Server.Lookup(w.Server.KindNamed("cm"), "default", "other"); o != nil {
		other = string(o.(metav1.Object).GetUID())
	}
	if a.verb == "create" {
		for _, doc := range strings.Split(strings.ReplaceAll(a.text, "OTHER", other), "\n---\n") {
			raw, err := yaml.YAMLToJSON([]byte(doc))
			if err != nil {
				return fmt.Errorf("%s: %w", doc, err)
			}
			obj, _, err := scheme.Codecs.UniversalDeserializer().Decode(raw, nil, nil)
			if err != nil {
				return fmt.Errorf("%s: %w", doc, err)
			}
			gvk := obj.GetObjectKind().GroupVersionKind()
			r := &fakeapi.Request{Verb: fakeapi.Create, Kind: w.Server.Kind(gvk), Object: obj}
			if r.Kind.Namespaced {
				r.Namespace = "default"
			}
			if _, err := w.Request(r); err != nil && !apierrors.IsAlreadyExists(err) {
				return fmt.Errorf("%s: %w", doc, err)
			}
		}
		return nil
	}
	r := &fakeapi.Request{Verb: fakeapi.Delete, Kind: w.Server.KindNamed(a.kind), Namespace: "default", Name: a.name}
	if a.policy != "" {
		r.Delete.PropagationPolicy = &a.policy
	}
	if a.verb == "patch" {
		patch, err := yaml.YAMLToJSON([]byte(a.text))
		if err != nil {
			return err
		}
		r.Verb, r.PatchType, r.Patch = fakeapi.Patch, types.MergePatchType, patch
	}
	if _, err := w.Request(r); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsInvalid(err) {
		return err
	}
	return nil
}

// shape describes a kind of owners and the acts on them.
type shape struct {
	kind   string
	by     []string // the controllers that work for it
	adopts string   // the kind that it may adopt; "" for none
	scales bool
	edits  []string // merge patches
	text   func(d *drawing) string
}

const template = "{metadata: {labels: {app: APP}}, spec: {containers: [{name: main, image: registry.example/web}]}}"

// The objects of every world, and parts of a stray's metadata: a finalizer, a controller, an owner.
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

// strayOf has the manifests of strays, by kind.
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
