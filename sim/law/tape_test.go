package law

import (
	"slices"
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
)

// thing is an object of any kind with the fields that the laws need.
type thing struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		SchedulingGates []string              `json:"schedulingGates,omitempty"`
		Selector        *metav1.LabelSelector `json:"selector,omitempty"`
	} `json:"spec"`
	Selector map[string]string
	Replicas int
	Counted  int
	Placed   int // a status: number of own pods on a node
	Threads  int // number of threads of a dependent; in an owner's status, their sum
	Surge    int
	Lacking  int
	Node     string
	Failed   bool
	Status   struct {
		ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	} `json:"status"`
}

func (o *thing) DeepCopyObject() runtime.Object { return o.as(func(*thing) {}) }

// kind returns the kind with this name.
func kind(name string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Version: "v1", Kind: name}
}

func kinds(names ...string) (all []schema.GroupVersionKind) {
	for _, name := range names {
		all = append(all, kind(name))
	}
	return all
}

var uids int

func object(kind, name string) *thing {
	uids++
	return &thing{
		TypeMeta: metav1.TypeMeta{Kind: kind, APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, ResourceVersion: strconv.Itoa(uids),
			UID: types.UID(name + "-" + strconv.Itoa(uids)), Labels: map[string]string{"app": "web"}},
	}
}

func set(name string, replicas int) *thing {
	o := object("ReplicaSet", name)
	o.Selector, o.Replicas = o.Labels, replicas
	return o
}

func rc(name string, replicas int) *thing {
	o := set(name, replicas)
	o.Kind = "ReplicationController"
	return o
}

func pod(name string, owner *thing) *thing {
	o := object("Pod", name)
	if owner != nil {
		o.OwnerReferences = []metav1.OwnerReference{controlledBy(owner)}
	}
	return o
}

func controlledBy(o *thing) metav1.OwnerReference {
	ref := plain(o)
	yes := true
	ref.Controller, ref.BlockOwnerDeletion = &yes, &yes
	return ref
}

func plain(o *thing) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "v1", Kind: o.Kind, Name: o.Name, UID: o.UID}
}

// as returns the object's next version, changed by f.
func (o *thing) as(f func(o *thing)) *thing {
	uids++
	c := *o
	c.ResourceVersion = strconv.Itoa(uids)
	f(&c)
	return &c
}

func (o *thing) owned(by ...metav1.OwnerReference) *thing {
	return o.as(func(o *thing) { o.OwnerReferences = by })
}

func (o *thing) labelled(app string) *thing {
	return o.as(func(o *thing) { o.Labels = map[string]string{"app": app} })
}

func (o *thing) dying(finalizers ...string) *thing {
	return o.as(func(o *thing) {
		now := metav1.NewTime(sim.Epoch)
		o.DeletionTimestamp, o.Finalizers = &now, finalizers
	})
}

func (o *thing) again() *thing {
	return o.as(func(o *thing) { o.UID += types.UID("-" + o.ResourceVersion) })
}

func (o *thing) ref() sim.Ref {
	if o == nil {
		return sim.Ref{}
	}
	return sim.Ref{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, UID: string(o.UID)}
}

func value(o *thing) any {
	if o == nil {
		return nil
	}
	return o
}

// tape is a history that a story adds records to.
type tape struct {
	records   []sim.Record
	generates bool // the server generates the names of pods
	at        time.Duration
}

func (t *tape) add(r sim.Record) *sim.Record {
	r.Index, r.At = len(t.records), t.at
	t.records = append(t.records, r)
	return &t.records[len(t.records)-1]
}

// commit adds a write of a process in a reconcile of owner. The process had read the version before.
func (t *tape) commit(process, verb string, owner, before, after *thing) *sim.Record {
	o := after
	if o == nil {
		o = before
	}
	return t.add(sim.Record{Op: sim.Commit, Process: process, Verb: verb, For: owner.ref(), SawFor: value(owner),
		Object: o.ref(), Before: value(before), After: value(after), Saw: value(before), Guards: sim.Guards{UID: true}})
}

// exist records that the user creates objects.
func (t *tape) exist(objects ...*thing) {
	for _, o := range objects {
		t.commit(User, "create", nil, nil, o)
	}
}

func (t *tape) user(before, after *thing) *sim.Record {
	verb := "update"
	if after == nil || after.DeletionTimestamp != nil {
		verb = "delete"
	}
	return t.commit(User, verb, nil, before, after)
}

// becomes records that the user changes an object, and returns the new version.
func (t *tape) becomes(before, after *thing) *thing {
	t.user(before, after)
	return after
}

// shows is like becomes, and also delivers the change to a process.
func (t *tape) shows(process string, before, after *thing, enqueued ...string) *thing {
	t.user(before, after)
	t.deliver(process, before, after, enqueued...)
	return after
}

// stored records that the user creates an object, and returns the object.
func (t *tape) stored(o *thing) *thing {
	t.exist(o)
	return o
}

// appears is like stored, and also delivers the object to a process.
func (t *tape) appears(process string, o *thing, enqueued ...string) *thing {
	t.exist(o)
	t.deliver(process, nil, o, enqueued...)
	return o
}

// observed passes the records to a judge.
func (t *tape) observed(j *Judge) {
	for i := range t.records {
		j.Observe(&t.records[i])
	}
}

func (t *tape) refuse(process, verb string, owner, object, saw *thing, code int, message string) *sim.Record {
	return t.add(sim.Record{Op: sim.Refusal, Process: process, Verb: verb, For: owner.ref(), SawFor: value(owner),
		Object: object.ref(), Saw: value(saw), Code: code, Message: message})
}

// read adds a live get of an object in a reconcile of owner.
func (t *tape) read(process string, owner, found *thing) *sim.Record {
	return t.add(sim.Record{Op: sim.Read, Process: process, Verb: "get", For: owner.ref(), Object: found.ref(),
		After: value(found)})
}

func (t *tape) start(process string, owner *thing) *sim.Record {
	return t.add(sim.Record{Op: sim.SyncStart, Process: process, For: owner.ref(), SawFor: value(owner)})
}

func (t *tape) end(process string, owner *thing, err string) *sim.Record {
	return t.add(sim.Record{Op: sim.SyncEnd, Process: process, For: owner.ref(), SawFor: value(owner), Message: err})
}

// sync adds a reconcile of owner that begins with a live read of owner and calls f.
func (t *tape) sync(process string, owner *thing, f func()) {
	t.start(process, owner)
	t.read(process, owner, owner)
	f()
	t.end(process, owner, "")
}

func (t *tape) deliver(process string, before, after *thing, enqueued ...string) *sim.Record {
	o := after
	if o == nil {
		o = before
	}
	return t.add(sim.Record{Op: sim.Delivery, Process: process, Object: o.ref(), Before: value(before),
		After: value(after), Enqueued: enqueued})
}

// show delivers added objects that enqueue nothing.
func (t *tape) show(process string, objects ...*thing) {
	for _, o := range objects {
		t.deliver(process, nil, o)
	}
}

func (t *tape) fault(process, verb string) *sim.Record {
	return t.add(sim.Record{Op: sim.FaultHit, Process: process, Verb: verb})
}

func (t *tape) settled() *sim.Record { return t.add(sim.Record{Op: sim.Settled}) }

func selectorOf(owner runtime.Object) labels.Selector {
	if owner.(*thing).Selector == nil {
		return nil
	}
	return labels.SelectorFromSet(owner.(*thing).Selector)
}

func subjects() []Actor {
	s := Actor{Process: "rs", Controller: "replicaset", For: kind("ReplicaSet"),
		Owns: kinds("Pod"),
		Contract: Contract{
			Selector:   selectorOf,
			Replicas:   func(o runtime.Object) int { return o.(*thing).Replicas },
			Active:     func(o runtime.Object) bool { return !o.(*thing).Failed },
			Counted:    func(o runtime.Object) int { return o.(*thing).Counted },
			Profile:    Upstream,
			Standalone: []sim.Ref{{Kind: "Pod", Namespace: pod("itself", nil).Namespace, Name: "itself"}},
		},
	}
	exactly(&s)
	c := s
	c.Finalizers = nil
	c.Process, c.Controller, c.For.Kind = "rc", "replication", "ReplicationController"
	work := s
	work.Process, work.Controller, work.For.Kind, work.Finalizers = "job", "job", "Job", []string{tracking}
	work.Replicas, work.Counted = nil, nil
	work.Counts = []Count{{Name: "ended", Ever: true, Of: s.Counts[0].Of, Is: s.Counts[0].Is}}
	work.Ignores = func(o runtime.Object) bool { return o.(*thing).Failed }
	cron := Actor{Process: "cron", Controller: "cronjob", For: kind("CronJob"), Owns: kinds("Pod"), Contract: Contract{Polls: true}}
	work.MaxActive = func(o runtime.Object) int {
		if n := o.(*thing).Replicas; n > 0 {
			return n
		}
		return -1
	}
	op := Actor{Process: "op", Controller: "operator", For: kind("App"), Owns: kinds("Pod"),
		Contract: Contract{
			MayEdit: kinds("ReplicationController"),
		}}
	all := []Actor{s, c, work, cron, op, byName(), vaults(), program(), limiting(), doubling(), outsider(),
		{Process: "gc", Controller: collector, Contract: Contract{Profile: Upstream}},
		{Process: "ns", Controller: drainer, Contract: Contract{Profile: Upstream}}}
	for _, f := range cast {
		all = append(all, f()...)
	}
	return all
}

var cast []func() []Actor

// plays adds actors for all stories.
func plays(f func() []Actor) bool {
	cast = append(cast, f)
	return true
}

// served is [Judge].Kinds of a server that serves all kinds except Widget.
func served(apiVersion, kind string) (namespaced, ok bool) {
	return kind != "Node" && kind != "Namespace", kind != "Widget" && apiVersion != "v9"
}

func judge(t *tape) *Judge { return judgeWith(t, 0) }

// allLaws returns all laws of the package, and the laws of the subjects' invariants.
var allLaws = sync.OnceValue(func() []*Law {
	all := All()
	for _, s := range subjects() {
		for _, l := range s.Laws() {
			if !slices.ContainsFunc(all, func(k *Law) bool { return k.ID == l.ID }) {
				all = append(all, l)
			}
		}
	}
	return all
})

// judgeWith judges a history with a limited memory.
func judgeWith(t *tape, memory int) *Judge {
	j := NewJudge(subjects(), allLaws())
	j.Memory = memory
	j.Kinds = served
	t.observed(j)
	return j
}

// owning stores a set with its pod.
func (t *tape) owning(replicas int) (a, p *thing) {
	a = set("a", replicas)
	p = pod("p", a)
	t.exist(a, p)
	return a, p
}

// orphan stores a set and a pod without an owner.
func (t *tape) orphan(replicas int) (a, p *thing) {
	a, p = set("a", replicas), pod("p", nil)
	t.exist(a, p)
	return a, p
}

// rivals stores two sets, a and b, and a pod of the set with the name in owner.
func (t *tape) rivals(owner string) (a, b, p *thing) {
	a, b = set("a", 1), set("b", 1)
	p = pod("p", map[string]*thing{"a": a, "b": b}[owner])
	t.exist(a, b, p)
	return a, b, p
}

// contested stores two owners of different kinds, and an orphan that both select.
func (t *tape) contested() (a, b, p *thing) {
	a, b, p = set("a", 1), rc("b", 1), pod("p", nil)
	t.exist(a, b, p)
	return a, b, p
}

// appWithPod stores an App without a selector, and its pod.
func (t *tape) appWithPod() (a, p *thing) {
	a = app("a")
	p = pod("p", a)
	t.exist(a, p)
	return a, p
}

// vault stores a vault.
func (t *tape) vault() *thing {
	v := object("Vault", "v")
	t.exist(v)
	return v
}

// disk stores a vault with a disk, and shows both to the controller.
func (t *tape) disk() (v, d *thing) {
	v = object("Vault", "v")
	d = owned("Disk", "d", v)
	t.exist(v, d)
	t.show("vault", v, d)
	return v, d
}

// claim stores a claim with a set or a pod as its owner.
func (t *tape) claim(owner *thing) *thing {
	c := object("Claim", "data-s-0").owned(controlledBy(owner))
	t.exist(c)
	return c
}
