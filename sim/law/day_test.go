package law

import (
	"fmt"
	"testing"
)

// day is a lawful history of two sets with the same selector and n pods each,
// seen by a controller and a collector: created, run, orphaned by hand,
// adopted, scaled down.
func day(n int) *tape {
	t := &tape{}
	a, b := set("a", n), set("b", n)
	t.exist(a, b)
	t.show("rs", a, b)
	t.show("gc", a, b)
	for i := range n {
		for _, o := range []*thing{a, b} {
			key := "default/" + o.Name
			p := pod(fmt.Sprintf("%s-%d", o.Name, i), o)
			t.start("rs", o)
			t.commit("rs", "create", o, nil, p)
			t.end("rs", o, "")
			t.deliver("rs", nil, p, key).Observed = []string{key}
			t.deliver("gc", nil, p)
			run := p.as(func(p *thing) { p.Node = p.Name })
			t.commit("kubelet", "update", nil, p, run).Subresource = "status"
			t.deliver("rs", p, run, key)
			t.deliver("gc", p, run)
			t.sync("rs", o, func() {})
			if i%4 != 0 {
				continue
			}
			free := run.owned()
			t.user(run, free)
			t.deliver("rs", run, free, "default/a", "default/b")
			t.deliver("gc", run, free)
			mine := t.adopts("rs", o, free)
			t.deliver("rs", free, mine, key)
			t.deliver("gc", free, mine)
			ended := mine.as(func(p *thing) { p.Failed = true })
			t.commit("kubelet", "update", nil, mine, ended).Subresource = "status"
			t.deliver("rs", mine, ended, key)
			t.deliver("gc", mine, ended)
			t.start("rs", o)
			t.commit("rs", "delete", o, ended, nil)
			t.end("rs", o, "")
			t.deliver("rs", ended, nil, key).Observed = []string{key}
			t.deliver("gc", ended, nil)
			t.sync("rs", o, func() {})
		}
	}
	t.start("rs", a)
	t.end("rs", a, "")
	return t
}

func TestALawfulDay(t *testing.T) {
	for _, b := range judge(day(8)).Breaches() {
		t.Errorf("breaks %s", b)
	}
}
