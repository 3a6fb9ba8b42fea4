package clusterwatch

import (
	"strings"
	"testing"
	"time"
)

// Problems with owners are reported. States that only look like problems are not.
func TestOwners(t *testing.T) {
	const other = `ReplicaSet t/other {"spec":{"replicas":1,"selector":{"matchLabels":{"app":"web"}}}}`
	const kcm = "kube-controller-manager"
	pod := func(w *world) {
		w.create(kcm, `Pod t/p {"metadata":{"generateName":"web-","labels":{"app":"web"},"ownerReferences":`+
			w.owned("ReplicaSet/web")+`}}`)
		w.pass(time.Second)
	}
	owners := func(w *world, by, list string) { w.write(by, "Pod/p", "metadata.ownerReferences="+list) }
	ref := func(kind, name, uid string) string {
		return `[{"apiVersion":"v1","kind":"` + kind + `","name":"` + name + `","uid":"` + uid + `"}]`
	}
	named := func(owners string) string { return `ConfigMap t/d {"metadata":{"ownerReferences":` + owners + `}}` }
	for _, c := range []struct {
		name  string
		there []string
		do    func(w *world)
		want  string
	}{
		{"taken in two writes", []string{web, other}, func(w *world) {
			pod(w)
			owners(w, "", "[]")
			owners(w, "thief", w.owned("ReplicaSet/other"))
		}, "takeover pod/p"},
		{"handed on by a controller that is going", []string{web, other}, func(w *world) {
			pod(w)
			w.write("", "ReplicaSet/web", `metadata.deletionTimestamp="2026-11-23T10:00:01Z"`,
				`metadata.finalizers=["example.com/hand-on"]`)
			owners(w, "op", w.owned("ReplicaSet/other"))
		}, ""},
		{"its controller selects others now, and another adopts it", []string{web, other}, func(w *world) {
			pod(w)
			w.write("kubectl-edit", "ReplicaSet/web", "spec.selector.matchLabels.app=else")
			owners(w, "", "[]")
			owners(w, kcm, w.owned("ReplicaSet/other"))
		}, ""},
		{"its controller is recreated, and it is given to that", []string{web}, func(w *world) {
			pod(w)
			w.delete("ReplicaSet/web")
			w.parse(web)
			w.write("restorer", "ReplicaSet/web", "spec.x=1")
			owners(w, "restorer", w.owned("ReplicaSet/web"))
		}, ""},
		{"a person relabels it, and another adopts it", []string{web, other}, func(w *world) {
			pod(w)
			w.write("kubectl-label", "Pod/p", "metadata.labels.app=web2")
			owners(w, "", "[]")
			w.write("kubectl-label", "Pod/p", "metadata.labels.app=web")
			owners(w, kcm, w.owned("ReplicaSet/other"))
		}, ""},
		{"twice, and told once", []string{web}, func(w *world) {
			pod(w)
			for range 2 {
				owners(w, "", "[]")
				owners(w, kcm, w.owned("ReplicaSet/web"))
			}
		}, "second-thought pod/p"},
		{"let go of for its label, and taken back for it", []string{web}, func(w *world) {
			pod(w)
			w.write("kubectl-label", "Pod/p", "metadata.labels.app=debug")
			owners(w, "", "[]")
			w.write("kubectl-label", "Pod/p", "metadata.labels.app=web")
			owners(w, kcm, w.owned("ReplicaSet/web"))
		}, ""},
		{"an orphan that was there before", []string{
			`ReplicaSet t/web-5d {"metadata":{"labels":{"pod-template-hash":"5d"}}}`},
			func(*world) {}, "orphan rs/web-"},
		{"an orphan that somebody will adopt", []string{web, other}, func(w *world) {
			pod(w)
			owners(w, "", "[]")
			w.delete("ReplicaSet/web")
		}, ""},
		{"an orphan whose adopter goes", []string{web, other}, func(w *world) {
			pod(w)
			owners(w, "", "[]")
			w.delete("ReplicaSet/web")
			w.rest()
			w.delete("ReplicaSet/other")
		}, "orphan pod/p"},
		{"a pod that a person made", []string{`Pod t/shell {"metadata":{"generateName":"shell-"}}`},
			func(*world) {}, ""},
		{"a pod of a Job that is done", []string{web}, func(w *world) {
			pod(w)
			w.write("kubelet|status", "Pod/p", "status.phase=Succeeded")
			owners(w, "", "[]")
			w.delete("ReplicaSet/web")
		}, ""},
		{"an owner that is gone", []string{named(ref("ConfigMap", "o", "never"))}, func(*world) {}, "lost-owner cm/d"},
		{"an owner that goes, without one", []string{web}, func(w *world) {
			pod(w)
			w.delete("ReplicaSet/web")
		}, "lost-owner pod/p"},
		{"an owner of the same name and another uid", []string{web}, func(w *world) {
			pod(w)
			w.delete("ReplicaSet/web")
			w.create("kubectl-create", web)
		}, "lost-owner pod/p"},
		{"a uid of somebody else", []string{`ConfigMap t/o {"metadata":{"uid":"u1"}}`,
			named(ref("ConfigMap", "x", "u1"))},
			func(*world) {}, "lost-owner cm/d"},
		{"an owner in another namespace", []string{`ConfigMap s/o {"metadata":{"uid":"u1"}}`,
			named(ref("ConfigMap", "o", "u1"))}, func(*world) {}, "foreign-owner cm/d"},
		{"an owner of a kind that is not watched", []string{named(ref("Widget", "o", "u1"))}, func(*world) {}, ""},
		{"an owner whose watch comes later", nil, func(w *world) {
			w.create("op", named(ref("ConfigMap", "o", "u1")))
			w.pass(time.Second)
			w.create("op", `ConfigMap t/o {"metadata":{"uid":"u1"}}`)
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.there...)
			c.do(w)
			w.rest()
			w.want(c.want)
		})
	}
}

// Objects that still exist long after their deletion are reported, but not before the time that Options.Stuck allows.
func TestStuck(t *testing.T) {
	deleted := func(rest string) string {
		return `{"metadata":{"deletionTimestamp":"2026-11-23T10:00:00Z"` + rest + `}}`
	}
	for _, c := range []struct {
		name  string
		there string
		after time.Duration
		want  string // a part of the text; "" if nothing is to be found
	}{
		{"somebody's finalizer", "ConfigMap t/c " + deleted(`,"finalizers":["example.com/x"]`), 6 * time.Minute,
			"the finalizer example.com/x"},
		{"not for long yet", "ConfigMap t/c " + deleted(`,"finalizers":["example.com/x"]`), 4 * time.Minute, ""},
		{"a pod whose node is away", `Pod t/p {"spec":{"nodeName":"n1"},"metadata":{"deletionTimestamp":` +
			`"2026-11-23T10:00:00Z"}}`, 6 * time.Minute, "the kubelet of node n1"},
		{"a pod that has an hour to end", `Pod t/p {"spec":{"nodeName":"n1"},"metadata":{"deletionTimestamp":` +
			`"2026-11-23T11:00:00Z"}}`, 30 * time.Minute, ""},
		{"dependents that block it", "ReplicaSet t/web " + deleted(`,"finalizers":["foregroundDeletion"]`),
			6 * time.Minute, "pod/p (which has example.com/drain)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.there)
			if strings.HasPrefix(c.name, "dependents") {
				w.create("kube-controller-manager", `Pod t/p {"metadata":{"deletionTimestamp":"2026-11-23T10:30:00Z",`+
					`"finalizers":["example.com/drain"],"ownerReferences":`+w.owned("ReplicaSet/web")+`}}`)
			}
			w.pass(c.after)
			w.pass(time.Minute / 2)
			switch {
			case len(w.found) != 1 && c.want != "", c.want == "" && len(w.found) > 0:
				t.Errorf("found %+v", w.found)
			case c.want != "" && !strings.Contains(w.found[0].Text, c.want):
				t.Errorf("%q does not contain %q", w.found[0].Text, c.want)
			}
		})
	}
}
