// Package pagetest makes histories for the tests of pages: long ones, and ones with text that looks like markup.
package pagetest

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
)

// Evil runs in a browser if any part of a page treats it as markup.
const Evil = `</script><script>window.pwned=1</script><img src=x onerror="window.pwned=2">` +
	`"><svg onload=window.pwned=3>'-window.pwned=4-'{{title}}<!--`

type maker struct {
	h    sim.History
	step int
	rv   int
}

func (m *maker) add(r sim.Record) int {
	r.Index, r.Step, r.At = len(m.h.Records), m.step, time.Duration(m.step)*time.Millisecond
	m.h.Records = append(m.h.Records, r)
	return r.Index
}

func (m *maker) object(name, value string) *corev1.ConfigMap {
	m.rv++
	return &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{Kind: "ConfigMap", APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID("uid-" + name),
			ResourceVersion: fmt.Sprint(m.rv), Annotations: map[string]string{"example.com/says": value},
			Labels: map[string]string{"app": "x"}, Finalizers: []string{"example.com/held"}},
		Data: map[string]string{"value": value, "more": "one\ntwo: three"}}
}

func ref(o *corev1.ConfigMap) sim.Ref {
	return sim.Ref{Kind: "ConfigMap", Namespace: "default", Name: o.Name, UID: string(o.UID)}
}

// Long returns a history of this length. Two controllers write forty objects in turn. Every write is delivered to both.
func Long(records int) *sim.History {
	m := &maker{}
	now := map[string]*corev1.ConfigMap{}
	for i := 0; len(m.h.Records) < records; i++ {
		m.step++
		name := fmt.Sprintf("o-%d", i%40)
		was, who := now[name], fmt.Sprintf("writer-%d", i%2)
		is := m.object(name, fmt.Sprint(i))
		now[name] = is
		r := sim.Record{Op: sim.Commit, Cause: -1, Process: who, Verb: "create", Object: ref(is), For: ref(is),
			After: is}
		if was != nil {
			r.Verb, r.Before, r.Saw = "update", was, was
		}
		cause := m.add(r)
		for p := range 2 {
			m.step++
			d := sim.Record{Op: sim.Delivery, Cause: cause, Process: fmt.Sprintf("writer-%d", p), Verb: "deliver",
				Object: ref(is), After: is, Enqueued: []string{"default/" + name}}
			if was != nil {
				d.Before = was
			}
			m.add(d)
		}
	}
	m.h.Records = m.h.Records[:records]
	return &m.h
}

// Hostile returns a history in which [Evil] is the value of every text that users can set.
func Hostile() *sim.History {
	m := &maker{step: 1}
	was, is := m.object(Evil, Evil), m.object(Evil, Evil+"2")
	is.Labels[Evil], is.Finalizers = Evil, []string{Evil}
	is.OwnerReferences = []metav1.OwnerReference{{Kind: "Secret", APIVersion: "v1", Name: Evil, UID: types.UID(Evil)}}
	m.add(sim.Record{Op: sim.Commit, Cause: -1, Process: "user", Verb: "create", Object: ref(was), After: was})
	m.step++
	m.add(sim.Record{Op: sim.FaultHit, Cause: -1, Process: Evil, Era: Evil, Verb: Evil, Reason: Evil})
	m.add(sim.Record{Op: sim.Delivery, Cause: 0, Process: Evil, Verb: "deliver", Object: ref(was), After: was,
		Enqueued: []string{Evil}, Observed: []string{Evil}})
	m.step++
	m.add(sim.Record{Op: sim.Commit, Cause: 2, Process: Evil, Era: Evil, For: ref(was), Verb: "update",
		Object: ref(was), Before: was, After: is, Saw: was})
	m.step++
	m.add(sim.Record{Op: sim.Refusal, Cause: 2, Process: Evil, For: ref(was), Verb: "update", Object: ref(was),
		Code: 409, Reason: Evil, Message: Evil})
	return &m.h
}
