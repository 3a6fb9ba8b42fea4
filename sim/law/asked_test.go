package law

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
)

// asks is how often a law was asked of a controller.
func asks(j *Judge, id, controller string) int {
	for _, v := range j.Verdicts() {
		if v.Law.ID == id && id == "EXACT-6" {
			return v.Asked // at rest it is asked of objects, whoever holds them
		}
		for _, s := range v.By {
			if v.Law.ID == id && s.Controller == controller {
				return s.Asked
			}
		}
	}
	return 0
}

// A declaration that excuses everything leaves its law unasked: what held by it alone did
// not hold.
func TestAnExcuseIsNoQuestion(t *testing.T) {
	for _, x := range []struct {
		law, controller string
		asked           bool
		tell            func(t *tape)
	}{
		{"NOFIGHT-3", "statefulset", true, func(t *tape) { t.line(1, "s-0"); t.settled() }},
		{"NOFIGHT-3", "statefulset", false, func(t *tape) {
			a, p := t.line(2, "s-0")
			t.user(p[0], p[0].dying("example.com/slow"))
			t.start("sts", a)
			t.settled()
		}},
		{"EXACT-6", "protection", false, func(t *tape) {
			d := object("Disk", "d").dying(inUse)
			t.exist(d, pod("p", nil).on("d"))
			t.settled()
		}},
		{"EXACT-3", "replicaset", true, func(t *tape) {
			a, _ := t.family(1)
			t.sync("rs", a, func() { t.commit("rs", "create", a, nil, pod("p", a).on("n")) })
		}},
		{"EXACT-3", "doubles", false, func(t *tape) {
			a := object("Double", "a")
			t.exist(a)
			t.sync("doubles", a, func() { t.commit("doubles", "create", a, nil, pod("p", a).on("n")) })
		}},
		{"EXACT-9", "vault", true, func(t *tape) {
			v := object("Vault", "v")
			t.exist(v, owned("Disk", "d", v))
			t.sync("vault", v, func() { t.commit("vault", "create", v, nil, pod("p", v).on("d")) })
		}},
		{"EXACT-9", "vault", false, func(t *tape) {
			v := object("Vault", "v")
			t.exist(v)
			t.sync("vault", v, func() { t.commit("vault", "create", v, nil, pod("p", v)) })
		}},
	} {
		tp := &tape{}
		x.tell(tp)
		j := NewJudge(append(subjects(), Actor{Process: "doubles", Controller: "doubles", For: kind("Double"),
			Owns: kinds("Pod"), Contract: Contract{Identity: func(o runtime.Object) string { return o.(*thing).Node },
				AllowDuplicate: func(_, _, _ runtime.Object) bool { return true }}}), All())
		j.Kinds = served
		for i := range tp.records {
			j.Observe(&tp.records[i])
		}
		if n := asks(j, x.law, x.controller); (n > 0) != x.asked {
			t.Errorf("%s was asked of %s %d times: want any is %v", x.law, x.controller, n, x.asked)
		}
	}
}
