package clusterwatch

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

const shared = `ConfigMap t/shared {"data":{"mode":"zero"}}`
const web = `ReplicaSet t/web {"spec":{"replicas":2,"selector":{"matchLabels":{"app":"web"}}}}`

// inTurn returns a function in which two managers write an object in turn, with a pause after each write. A write has
// the form "MANAGER FIELD...".
func inTurn(rounds int, pause time.Duration, object string, writes ...string) func(w *world) {
	return func(w *world) {
		for i := range rounds * len(writes) {
			words := strings.Fields(writes[i%len(writes)])
			w.write(words[0], object, words[1:]...)
			if pause > 0 {
				w.pass(pause)
			}
		}
	}
}

// Writes that are a fight are reported. Writes that only look like a fight are not.
func TestFights(t *testing.T) {
	for _, c := range []struct {
		name  string
		there []string
		do    func(w *world)
		want  string
	}{
		{"two programs overwrite a field", []string{shared},
			inTurn(4, time.Second, "ConfigMap/shared", "a data.mode=one", "b data.mode=two"), "fight cm/shared a,b"},
		{"two programs within one second", []string{shared},
			inTurn(4, 0, "ConfigMap/shared", "a data.mode=one", "b data.mode=two"), "fight cm/shared a,b"},
		{"many fields are one fight", []string{shared},
			inTurn(4, time.Second, "ConfigMap/shared",
				"a data.mode=one data.x=1 data.y=1", "b data.mode=two data.x=2 data.y=2"),
			"fight cm/shared a,b"},
		{"it is reported again when it has lasted twice as long", []string{shared},
			inTurn(13, time.Second, "ConfigMap/shared", "a data.mode=one", "b data.mode=two"),
			"fight cm/shared a,b\n+fight\n+fight"},
		{"once there and back is none", []string{shared},
			inTurn(2, 0, "ConfigMap/shared", "a data.mode=one", "b data.mode=two"), ""},
		{"one program changes its mind", []string{shared}, func(w *world) {
			w.write("b", "ConfigMap/shared", "data.other=x")
			for i := range 20 {
				w.write("a", "ConfigMap/shared", "data.mode="+strconv.Itoa(i%2))
				w.pass(time.Second)
			}
		}, ""},
		{"two programs write fields of their own", []string{shared}, func(w *world) {
			for i := range 20 {
				w.write("a", "ConfigMap/shared", "data.a="+strconv.Itoa(i%2))
				w.write("b", "ConfigMap/shared", "data.b="+strconv.Itoa(i%2))
			}
		}, ""},
		{"each writes a field of its own, and not every version is seen", []string{shared}, func(w *world) {
			for i := range 12 {
				w.missed = true
				w.write("a", "ConfigMap/shared", "data.mode="+strconv.Itoa(i%2))
				w.pass(time.Second)
				w.missed = false
				w.write([]string{"b", "c"}[i%2], "ConfigMap/shared", "data.n"+strconv.Itoa(i%2)+"="+strconv.Itoa(i))
				w.pass(time.Second)
			}
		}, ""},
		{"a counter never comes back", []string{shared}, func(w *world) {
			for i := range 40 {
				w.write([]string{"a", "b"}[i%2], "ConfigMap/shared", "data.n="+strconv.Itoa(i))
			}
		}, ""},
		{"a daily change is none", []string{shared},
			inTurn(10, 12*time.Hour, "ConfigMap/shared", "a data.mode=day", "b data.mode=night"), ""},
		{"a person scales against an autoscaler", []string{web},
			inTurn(5, time.Minute, "ReplicaSet/web", "kubectl-scale|scale spec.replicas=1",
				"kube-controller-manager|scale spec.replicas=3"),
			""},
		{"a script scales against an autoscaler", []string{web},
			inTurn(12, time.Minute, "ReplicaSet/web", "kubectl-scale|scale spec.replicas=1",
				"kube-controller-manager|scale spec.replicas=3"),
			"fight rs/web kube-controller-manager,kubectl-scale"},
		{"an autoscaler and its controller's status", []string{web}, func(w *world) {
			for i := range 20 {
				n := strconv.Itoa(1 + i%2*2)
				w.write("kube-controller-manager|scale", "ReplicaSet/web", "spec.replicas="+n)
				w.write("kube-controller-manager|status", "ReplicaSet/web", "status.replicas="+n)
				w.pass(time.Minute)
			}
		}, ""},
		{"kubectl apply again and again", []string{shared}, func(w *world) {
			w.write("op", "ConfigMap/shared", "data.other=x")
			for i := range 30 {
				w.write("kubectl-client-side-apply", "ConfigMap/shared", "metadata.generation="+strconv.Itoa(i),
					"data.mode=zero")
				w.pass(time.Second)
			}
		}, ""},
		{"a heartbeat", []string{shared}, func(w *world) {
			for i := range 30 {
				w.write([]string{"a", "b"}[i%2], "ConfigMap/shared", "data.seen="+
					began.Add(time.Duration(i%2)*time.Second).Format(time.RFC3339))
				w.pass(time.Second)
			}
		}, ""},
		{"a pod's kubelet and who does not hear of it", []string{`Pod t/web {"spec":{}}`}, func(w *world) {
			for i := range 30 {
				w.write([]string{"kubelet|status", "kube-controller-manager|status"}[i%2], "Pod/web", "status.ready="+
					strconv.FormatBool(i%2 == 0))
				w.pass(time.Second)
			}
		}, ""},
		{"two programs report on one status", []string{web}, func(w *world) {
			for i := range 8 {
				w.write([]string{"a|status", "b|status"}[i%2], "ReplicaSet/web", "status.phase="+strconv.Itoa(i%2))
				w.pass(time.Second)
			}
		}, "fight rs/web a,b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.there...)
			c.do(w)
			w.rest()
			w.want(c.want)
		})
	}
}

// Fights are also found over the number of objects that owners select, and over an object's existence.
func TestFightsOverSets(t *testing.T) {
	const old = `ReplicaSet t/old {"spec":{"replicas":1,"selector":{"matchLabels":{"app":"web"}}}}`
	pod := func(i int, more string) string {
		return "Pod t/web-" + strconv.Itoa(i) + ` {"metadata":{"generateName":"web-","labels":{"app":"web"}` + more + `}}`
	}
	churn := func(more func(w *world) string) func(w *world) {
		return func(w *world) {
			for i := range 8 {
				w.create("maker", pod(i, more(w)))
				w.pass(time.Second)
				w.delete("Pod/web-" + strconv.Itoa(i))
			}
		}
	}
	none := func(*world) string { return "" }
	for _, c := range []struct {
		name  string
		there []string
		do    func(w *world)
		want  string
	}{
		{"two that want another number", []string{web, old}, churn(none), "fight t/pods maker\n+fight"},
		{"two that want the same", []string{web, `ReplicaSet t/old {"spec":{"replicas":2,"selector":{"matchLabels":` +
			`{"app":"web"}}}}`}, churn(none), ""},
		{"one alone, and somebody who deletes", []string{web}, churn(none), ""},
		{"they have controllers", []string{web, old}, churn(func(w *world) string {
			return `,"ownerReferences":` + w.owned("ReplicaSet/web")
		}), ""},
		{"they are scaled in between", []string{web, old}, func(w *world) {
			for i := range 8 {
				w.create("maker", pod(i, ""))
				w.write("kubectl-scale|scale", "ReplicaSet/web", "spec.replicas="+strconv.Itoa(2+i))
				w.delete("Pod/web-" + strconv.Itoa(i))
			}
		}, ""},
		{"two make what is of one name", nil, func(w *world) {
			for i := range 8 {
				w.create([]string{"a", "b"}[i%2], shared)
				w.pass(time.Second)
				w.delete("ConfigMap/shared")
			}
		}, "fight cm/shared a,b"},
		{"one makes it again and again", nil, func(w *world) {
			for range 8 {
				w.create("a", shared)
				w.pass(time.Second)
				w.delete("ConfigMap/shared")
			}
		}, ""},
		{"the collector deletes what names an owner that never was", nil, func(w *world) {
			for range 4 {
				w.create("a", `ConfigMap t/shared {"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap",`+
					`"name":"o","uid":"never"}]}}`)
				w.pass(time.Second)
				w.delete("ConfigMap/shared")
			}
		}, "fight cm/shared (the garbage collector),a"},
		{"the collector deletes what its owner left", nil, func(w *world) {
			for range 6 {
				w.create("kubectl-create", web)
				w.create("kube-controller-manager", `Pod t/p {"metadata":{"ownerReferences":`+
					w.owned("ReplicaSet/web")+`}}`)
				w.delete("ReplicaSet/web")
				w.pass(time.Second)
				w.delete("Pod/p")
			}
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.there...)
			c.do(w)
			w.want(c.want)
		})
	}
}

// If a field has several managers, its writer is the manager that wrote last, at any position in the list.
func TestNewest(t *testing.T) {
	a, b := set{name: "a", at: began}, set{name: "b", at: began.Add(time.Second)}
	if x, y := newest([]set{a, b}), newest([]set{b, a}); x != "b" || y != "b" || newest(nil) != "" {
		t.Errorf("got %q and %q", x, y)
	}
}
