package law

import (
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/sim"
)

// vaults returns a controller whose Pods need a Disk or a Shelf with the name of their node. It also owns the Disks.
func vaults() Actor {
	return Actor{Process: "vault", Controller: "vault", For: kind("Vault"), Owns: kinds("Pod", "Disk"),
		Contract: Contract{
			Profile: Writing,
			Counts: []Count{{Name: "pods", Once: true, Of: func(o runtime.Object) int { return o.(*thing).Counted },
				Is: func(_, dependent runtime.Object) bool { return dependent.(*thing).Kind == "Pod" }}},
			RetryOf: func(_, dependent runtime.Object, all func(kind string) []runtime.Object) string {
				if p := dependent.(*thing); p.Failed && len(all("Lid")) == 0 {
					return "on " + p.Node
				}
				return ""
			},
			Invariants: []*Invariant{
				{ID: "needed-objects-exist", When: BeforeCreate, Check: func(f *Facts) string {
					node := f.After.(*thing).Node
					for _, disk := range slices.Concat(f.All("Disk"), f.All("Shelf")) {
						if m := disk.(*thing); m.Name == node && m.DeletionTimestamp == nil {
							return ""
						}
					}
					if node != "" {
						return "disk/" + node + " is not there"
					}
					return ""
				}},
				{ID: "stay-within-bounds", When: AtWrite, Check: func(f *Facts) string {
					if f.After == nil {
						return ""
					}
					n := f.After.(*thing).Threads
					for _, o := range f.Dependents {
						n += o.(*thing).Threads
					}
					if most := f.Owner.(*thing).Threads; n > most {
						return strconv.Itoa(n) + " threads, at most " + strconv.Itoa(most)
					}
					return ""
				}},
				{ID: "tie-before-deleting", When: AtDelete, Check: func(f *Facts) string {
					for _, lid := range f.All("Lid") {
						if m := lid.(*thing); m.Name == f.Before.(*thing).Name && len(m.OwnerReferences) == 0 {
							return "leaves lid/" + m.Name + ", which must be deleted with it"
						}
					}
					return ""
				}},
			},
		}}
}

// lidded stores a vault with a Pod, and a lid that must be deleted with the Pod. It shows them to the controller.
func (t *tape) lidded() (v, p, l *thing) {
	v, l = object("Vault", "v"), object("Lid", "p")
	p = pod("p", v)
	t.exist(v, p, l)
	t.show("vault", v, p, l)
	return v, p, l
}

// owned returns an object with this controller.
func owned(kind, name string, owner *thing) *thing {
	return object(kind, name).owned(controlledBy(owner))
}

var _ = tells([]story{
	{"needed-objects-exist", "made when it is there", kept, func(t *tape) {
		v := t.vault()
		t.sync("vault", v, func() {
			t.commit("vault", "create", v, nil, owned("Disk", "d", v))
			t.commit("vault", "create", v, nil, pod("p", v).on("d"))
		})
	}},
	{"needed-objects-exist", "made before it is there", broken, func(t *tape) {
		v := t.vault()
		t.sync("vault", v, func() { t.commit("vault", "create", v, nil, pod("p", v).on("d")) })
	}},
	{"needed-objects-exist", "created although the needed object is terminating", broken, func(t *tape) {
		v := object("Vault", "v")
		d := owned("Disk", "d", v)
		going := d.dying(ownFinalizer)
		t.exist(v, d)
		t.user(d, going)
		t.show("vault", v, going)
		t.sync("vault", v, func() { t.commit("vault", "create", v, nil, pod("p", v).on("d")) })
	}},
	{"needed-objects-exist", "created although the needed object is terminating, which was not shown yet", committed, func(t *tape) {
		v, d := t.disk()
		t.user(d, d.dying(ownFinalizer))
		t.sync("vault", v, func() { t.commit("vault", "create", v, nil, pod("p", v).on("d")) })
	}},
	{"needed-objects-exist", "made on one that goes in the middle of the sync", committed, func(t *tape) {
		v := object("Vault", "v")
		d := owned("Disk", "d", v)
		going := d.dying(ownFinalizer)
		t.exist(v, d)
		t.show("vault", v, d)
		t.sync("vault", v, func() {
			t.shows("vault", d, going)
			t.commit("vault", "create", v, nil, pod("p", v).on("d"))
		})
	}},
	{"needed-objects-exist", "made on one of its own making, which went before it was shown", committed, func(t *tape) {
		v := t.vault()
		d := object("Shelf", "d")
		t.sync("vault", v, func() {
			t.commit("vault", "create", v, nil, d)
			t.user(d, d.dying(ownFinalizer))
			t.commit("vault", "create", v, nil, pod("p", v).on("d"))
		})
	}},
	{"needed-objects-exist", "made on one of its own making, which a list in the middle of the sync has no more", committed,
		func(t *tape) {
			v := t.vault()
			d := object("Shelf", "d")
			t.sync("vault", v, func() {
				t.commit("vault", "create", v, nil, d)
				t.user(d, nil)
				t.add(sim.Record{Op: sim.FaultHit, Process: "vault", Verb: "relist", Object: sim.Ref{Kind: "Shelf"}})
				t.commit("vault", "create", v, nil, pod("p", v).on("d"))
			})
		}},
	{"needed-objects-exist", "made on one that it has made its own, which a list in the middle of the sync has no more", committed,
		func(t *tape) {
			v := t.vault()
			d := owned("Disk", "d", v)
			t.sync("vault", v, func() {
				t.commit("vault", "create", v, nil, d)
				t.user(d, nil)
				t.add(sim.Record{Op: sim.FaultHit, Process: "vault", Verb: "relist", Object: sim.Ref{Kind: "Disk"}})
				t.commit("vault", "create", v, nil, pod("p", v).on("d"))
			})
		}},
	{"needed-objects-exist", "made on one of its own making, of which it was shown that it is gone", broken, func(t *tape) {
		v := t.vault()
		d := object("Shelf", "d")
		t.sync("vault", v, func() { t.commit("vault", "create", v, nil, d) })
		t.deliver("vault", nil, d)
		t.shows("vault", d, nil)
		t.sync("vault", v, func() { t.commit("vault", "create", v, nil, pod("p", v).on("d")) })
	}},
	{"needed-objects-exist", "deleted when nothing rests on it", kept, func(t *tape) {
		v := object("Vault", "v")
		d, p := owned("Disk", "d", v), pod("p", v).on("e")
		t.exist(v, d, owned("Disk", "e", v), p)
		t.show("vault", v, d, p)
		t.sync("vault", v, func() { t.commit("vault", "delete", v, d, nil) })
	}},
	{"needed-objects-exist", "deleted from under one that it knows", broken, func(t *tape) {
		v := object("Vault", "v")
		d := owned("Disk", "d", v)
		p := pod("p", v).on("d")
		t.exist(v, d, p)
		t.show("vault", v, d, p)
		t.sync("vault", v, func() { t.commit("vault", "delete", v, d, nil) })
	}},
	{"needed-objects-exist", "deleted from under one that it does not know", committed, func(t *tape) {
		v := object("Vault", "v")
		d := owned("Disk", "d", v)
		t.exist(v, d, pod("p", v).on("d"))
		t.show("vault", v, d)
		t.sync("vault", v, func() { t.commit("vault", "delete", v, d, nil) })
	}},
	{"needed-objects-exist", "deleted while its dependent is terminating", kept, func(t *tape) {
		v := object("Vault", "v")
		d := owned("Disk", "d", v)
		p := pod("p", v).on("d").dying(ownFinalizer)
		t.exist(v, d, p)
		t.show("vault", v, d, p)
		t.sync("vault", v, func() { t.commit("vault", "delete", v, d, nil) })
	}},
	{"needed-objects-exist", "the user deletes it", kept, func(t *tape) {
		v := object("Vault", "v")
		d := owned("Disk", "d", v)
		t.exist(v, d, pod("p", v).on("d"))
		t.user(d, nil)
	}},

	{"FIN-3", "let go when nothing uses it", kept, func(t *tape) {
		d := object("Disk", "d").dying(inUse)
		t.exist(d, pod("p", nil).on("e"))
		t.commit("vp", "update", nil, d, nil)
	}},
	{"FIN-3", "let go while it is used", broken, func(t *tape) {
		d, p := object("Disk", "d").dying(inUse), pod("p", nil).on("d")
		t.exist(d, p)
		t.show("vp", d, p)
		t.start("vp", nil)
		t.add(sim.Record{Op: sim.Read, Process: "vp", Verb: "list", Object: sim.Ref{Kind: "Pod"}})
		t.commit("vp", "update", nil, d, nil)
	}},
	{"FIN-3", "used, which its cache does not show, and it did not ask", broken, func(t *tape) {
		d := object("Disk", "d").dying(inUse)
		t.exist(d, pod("p", nil).on("d"))
		t.show("vp", d)
		t.start("vp", nil)
		t.commit("vp", "update", nil, d, nil)
	}},
	{"FIN-3", "used since it asked", committed, func(t *tape) {
		d := object("Disk", "d").dying(inUse)
		t.exist(d)
		t.show("vp", d)
		t.start("vp", nil)
		t.add(sim.Record{Op: sim.Read, Process: "vp", Verb: "list", Object: sim.Ref{Kind: "Pod"}})
		t.exist(pod("p", nil).on("d"))
		t.commit("vp", "update", nil, d, nil)
	}},
	{"FIN-3", "what is itself in use, by what was read", broken, func(t *tape) { t.letsGoOfFailed(true) }},
	{"FIN-3", "what is itself in use, since it was read", committed, func(t *tape) { t.letsGoOfFailed(false) }},
	{"FIN-3", "another finalizer goes", kept, func(t *tape) {
		d := object("Disk", "d").dying(inUse, "example.com/other")
		t.exist(d, pod("p", nil).on("d"))
		t.user(d, d.dying(inUse))
	}},

	{"LAW-1", "what is no dependent gets its reference later", broken, func(t *tape) {
		v, l := object("Vault", "v"), object("Lid", "l")
		t.exist(v)
		t.sync("vault", v, func() { t.commit("vault", "create", v, nil, l) })
		t.sync("vault", v, func() { t.commit("vault", "update", v, l, l.owned(plain(v))) })
	}},
	{"LAW-1", "it is to have one by another spec", kept, func(t *tape) {
		v, l := object("Vault", "v"), object("Lid", "l")
		now := v.as(func(o *thing) { o.Generation++ })
		t.exist(v)
		t.sync("vault", v, func() { t.commit("vault", "create", v, nil, l) })
		t.user(v, now)
		t.sync("vault", now, func() { t.commit("vault", "update", now, l, l.owned(plain(v))) })
	}},
	{"LAW-1", "another program gives it one", kept, func(t *tape) {
		v, l := object("Vault", "v"), object("Lid", "l")
		t.exist(v)
		t.sync("vault", v, func() { t.commit("vault", "create", v, nil, l) })
		t.fault("vault", "switch")
		t.sync("vault", v, func() { t.commit("vault", "update", v, l, l.owned(plain(v))) })
	}},

	{"tie-before-deleting", "tied to it before", kept, func(t *tape) {
		v, p, l := t.lidded()
		t.sync("vault", v, func() {
			t.commit("vault", "update", v, l, l.owned(plain(p)))
			t.commit("vault", "delete", v, p, nil)
		})
	}},
	{"tie-before-deleting", "left behind", broken, func(t *tape) {
		v, p, _ := t.lidded()
		t.sync("vault", v, func() { t.commit("vault", "delete", v, p, nil) })
	}},
	{"tie-before-deleting", "left behind, which was not shown", committed, func(t *tape) {
		v := object("Vault", "v")
		p := pod("p", v)
		t.exist(v, p, object("Lid", "p"))
		t.show("vault", v, p)
		t.sync("vault", v, func() { t.commit("vault", "delete", v, p, nil) })
	}},
	{"tie-before-deleting", "tied when the sync began, and let go in the middle of it", committed, func(t *tape) {
		v := object("Vault", "v")
		p := pod("p", v)
		l := owned("Lid", "p", p)
		free := l.owned()
		t.exist(v, p, l)
		t.show("vault", v, p, l)
		t.sync("vault", v, func() {
			t.shows("vault", l, free)
			t.commit("vault", "delete", v, p, nil)
		})
	}},
	{"tie-before-deleting", "the user deletes it", kept, func(t *tape) {
		_, p, _ := t.lidded()
		t.user(p, nil)
	}},
})

// letsGoOfFailed records that a controller removes the finalizer from a disk that is in use, by its status. read is set
// if the controller had read that status.
func (t *tape) letsGoOfFailed(read bool) {
	d := object("Disk", "d").dying(inUse)
	t.exist(d)
	t.show("vp", d)
	t.start("vp", nil)
	f := d.as(func(o *thing) { o.Failed = true })
	t.user(d, f)
	r := t.commit("vp", "update", nil, f, nil)
	if r.Saw = d; read {
		r.Saw = f
	}
}
