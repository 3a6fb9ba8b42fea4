package generated_test

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/host"
)

// namespaces are worlds of the namespace controller: namespaces with finalizers of others,
// with pods that take their time, objects that something holds, and kinds that come and go
// or cannot be listed.
var namespaces = subject{
	name: "namespace", kind: "Namespace",
	apart: true,
	begin: func(w *world) {
		for _, d := range definitions {
			if w.in(2) {
				w.define(d)
			}
		}
		for range 1 + w.n(2) {
			w.namespaceMade()
		}
		for range w.n(8) {
			w.tenant()
		}
	},
	acts: []act{
		{6, "a namespace", (*world).namespaceMade},
		{8, "an object in it", (*world).tenant},
		{16, "a namespace goes", func(w *world) { w.drop(w.someNamespace(), "", nil) }},
		{5, "a namespace's finalizers", func(w *world) {
			w.ask(w.someNamespace(),
				jsonPatch(`[{"op":"replace","path":"/metadata/labels","value":{"n":"%d"}}]`, w.n(9)))
		}},
		{8, "an object is let go", func(w *world) {
			if all := w.there(tenants...); len(all) > 0 {
				w.merge(one(w, all...), "", fields{"metadata": fields{"finalizers": one(w, nil, nil,
					[]string{"a.b/c"})}})
			}
		}},
		{5, "a pod has stopped", func(w *world) {
			if all := w.there("Pod"); len(all) > 0 {
				w.drop(one(w, all...), "", new(int64))
			}
		}},
		{4, "a pod ends", func(w *world) {
			if all := w.there("Pod"); len(all) > 0 {
				w.merge(one(w, all...), "status", fields{"status": fields{"phase": one(w, "Succeeded", "Failed",
					"Running")}})
			}
		}},
		{2, "a definition", func(w *world) { w.define(one(w, definitions...)) }},
		{2, "a definition less", func(w *world) {
			w.drop(place{"CustomResourceDefinition", "", one(w, definitions...).name}, "", nil)
		}},
		{8, "a kind cannot be reached", func(w *world) {
			w.Cluster.Fail(host.FailedRequest{Process: "namespace", Nth: 1 + w.n(2), Code: one(w, 500, 409, 429),
				Verb: one(w, fakeapi.DeleteCollection, fakeapi.List, fakeapi.Update, fakeapi.Get, fakeapi.Delete),
				Kind: one(w, "Pod", "Namespace", "Namespace", "ConfigMap", "Secret", "")})
		}},
		{8, "time", func(w *world) { w.settle(one(w, 4*time.Second, 6*time.Second, 20*time.Second, time.Minute)) }},
	},
}

// tenants are the kinds that there are in namespaces.
var tenants = []string{"Pod", "ConfigMap", "Secret", "Service", "ReplicaSet", "Widget", "Event"}

func (w *world) someNamespace() place {
	return place{"Namespace", "", one(w, "a", "a", "b", "default")}
}

func (w *world) namespaceMade() {
	w.make(w.someNamespace(), "spec: {finalizers: [%s]}", one(w, "", "", "kubernetes", "a.b/c", "a.b/c, a.b/a"))
}

// tenant is an object in a namespace.
func (w *world) tenant() {
	at := place{one(w, "Pod", "Pod", "ConfigMap", "Secret", "Service", "ReplicaSet", "Widget"),
		one(w, "a", "a", "b", "default"), fmt.Sprintf("o%d", w.n(5))}
	text := []string{"metadata: {finalizers: [" + one(w, "", "", "", "a.b/c", "a.b/c, a.b/d") + "]}"}
	switch at.kind {
	case "Pod":
		text = append(text, fmt.Sprintf("spec: {%s nodeName: %q, containers: [{name: c, image: i}]}",
			one(w, "", "terminationGracePeriodSeconds: 0,", "terminationGracePeriodSeconds: 5,",
				"terminationGracePeriodSeconds: 60,"), one(w, "", "n1", "n1")))
	case "Service":
		text = append(text, "spec: {clusterIP: None}")
	case "ReplicaSet":
		text = append(text, bare(at.kind))
	}
	w.make(at, "%s", strings.Join(text, "\n"))
	if w.in(8) {
		w.drop(at, metav1.DeletePropagationForeground, nil)
	}
}
