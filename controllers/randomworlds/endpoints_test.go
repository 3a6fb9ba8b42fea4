package randomworlds_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/host"
)

// endpoints has worlds for the EndpointSlice controller: Services of every type and family, pods in every state on
// existing and missing nodes, and users who change slices.
var endpoints = subject{
	name: "endpointslice", kind: "Service",
	apart: true,
	begin: func(w *world) {
		for i := range 2 + w.n(2) {
			w.zone(i)
		}
		for range 1 + w.n(3) {
			w.service()
		}
		for range w.n(6) {
			w.backend()
		}
	},
	acts: []act{
		{6, "a service", (*world).service},
		{10, "a service is changed", (*world).reserve},
		{2, "a service goes", func(w *world) {
			if all := w.there("Service"); len(all) > 0 {
				w.drop(one(w, all...), one(w, "", metav1.DeletePropagationForeground), nil)
			}
		}},
		{12, "a pod", (*world).backend},
		{14, "a pod's condition", func(w *world) {
			if all := w.there("Pod"); len(all) > 0 {
				w.condition(one(w, all...))
			}
		}},
		{4, "a pod's labels", (*world).relabelPod},
		{5, "a pod goes", func(w *world) {
			if all := w.there("Pod"); len(all) > 0 {
				w.drop(one(w, all...), "", one(w, nil, nil, new(int64)))
			}
		}},
		{2, "a node", func(w *world) { w.zone(w.n(4)) }},
		{1, "a node goes", func(w *world) { w.drop(place{"Node", "", fmt.Sprintf("n%d", w.n(4))}, "", nil) }},
		{2, "a node's zone", func(w *world) {
			w.merge(place{"Node", "", fmt.Sprintf("n%d", w.n(4))}, "",
				fields{"metadata": fields{"labels": fields{corev1.LabelTopologyZone: some(w, "x", "z")}}})
		}},
		{6, "a slice is changed", (*world).meddle},
		{2, "a slice goes", func(w *world) {
			if all := w.there("EndpointSlice"); len(all) > 0 {
				w.drop(one(w, all...), "", nil)
			}
		}},
		{3, "a slice of others", (*world).foreign},
		{1, "a crowd", (*world).crowd},
		{6, "blind to what was written", (*world).blind},
		{2, "a pod is another", (*world).rebacked},
	},
}

func (w *world) zone(i int) {
	w.make(place{"Node", "", fmt.Sprintf("n%d", i)}, "metadata: {labels: {%s}}",
		one(w, "topology.kubernetes.io/zone: x", "topology.kubernetes.io/zone: z", ""))
}

func (w *world) ports() string {
	var list []string
	for i, p := range []string{"{name: a, port: 80, targetPort: 8080}", "{name: b, port: 81, targetPort: web}",
		"{name: c, port: 82, protocol: UDP, targetPort: web}",
		"{name: d, port: 83, appProtocol: http, targetPort: side}"} {
		if w.in(2) || i == 3 && list == nil {
			list = append(list, p)
		}
	}
	return "[" + strings.Join(list, ", ") + "]"
}

func (w *world) service() {
	spec := []string{"ports: " + w.ports(), one(w, "selector: {app: x}", "selector: {app: x}", "selector: {app: z}",
		"selector: {app: x, tier: t}", "sessionAffinity: None")}
	spec = append(spec, one(w, "clusterIP: None", "clusterIP: None", "type: ClusterIP", "type: ClusterIP",
		"type: NodePort", "type: LoadBalancer", "{type: ExternalName, externalName: example.com}"))
	if w.in(3) {
		spec = append(spec, "publishNotReadyAddresses: true")
	}
	if f := one(w, "", "", "PreferClose", "PreferSameZone", "PreferSameNode"); f != "" {
		spec = append(spec, "trafficDistribution: "+f)
	}
	spec = append(spec, one(w, "ipFamilyPolicy: SingleStack", "ipFamilies: [IPv6]",
		"ipFamilyPolicy: PreferDualStack", "ipFamilies: [IPv4]", "ipFamilyPolicy: RequireDualStack"))
	text := strings.NewReplacer("{type: ", "type: ", ".com}", ".com").Replace(strings.Join(spec, ", "))
	w.make(place{"Service", "default", one(w, "s", "t", "u")}, "metadata: {labels: {%s}}\nspec: {%s}",
		one(w, "", "a: b", "service.kubernetes.io/headless: x"), text)
}

func (w *world) reserve() {
	all := w.there("Service")
	if len(all) == 0 {
		return
	}
	at := one(w, all...)
	spec := one(w, fields{"publishNotReadyAddresses": w.in(2)}, fields{"selector": fields{"app": one(w, "x", "z")}},
		fields{"selector": nil}, fields{"trafficDistribution": some(w, "PreferClose", "PreferSameNode")},
		fields{"ports": []fields{{"name": "z", "port": 90, "targetPort": one[any](w, "web", "side", 9090)}}},
		fields{"ports": []fields{{"name": "z", "port": 90, "targetPort": 1}, {"name": "y", "port": 91}}},
		fields{"ipFamilyPolicy": "PreferDualStack"}, fields{"ipFamilyPolicy": "SingleStack"},
		fields{"type": "ExternalName", "externalName": "a.b", "clusterIP": nil, "clusterIPs": nil})
	patch := fields{"spec": spec}
	if w.in(4) {
		patch = fields{"metadata": fields{"labels": fields{"a": some(w, "c", "d")}}}
	}
	if w.in(8) {
		patch = fields{"metadata": fields{"finalizers": one(w, nil, []string{"example.com/hold"})}}
	}
	w.merge(at, "", patch)
}

func (w *world) backend() {
	at := place{"Pod", "default", fmt.Sprintf("p%d", w.n(9))}
	w.make(at, `metadata: {labels: {%s}}
spec:
  nodeName: %q
  hostname: %q
  subdomain: %q
  containers: [{name: c, image: i, ports: [%s]}, {name: d, image: i, ports: [%s]}]
  initContainers: [{name: e, image: i, %s ports: [{name: side, containerPort: 7}]}]
`, one(w, "app: x", "app: x", "app: x", "app: z", "app: x, tier: t", ""), one(w, "n0", "n0", "n1", "n2", "", "n3"),
		one(w, "", "h", "h"), one(w, "", "s", "t"),
		one(w, "", "{name: web, containerPort: 1}", "{name: web, protocol: UDP, containerPort: 2}"),
		one(w, "", "{name: web, containerPort: 3}", "{name: other, containerPort: 4}"),
		one(w, "restartPolicy: Always,", "restartPolicy: Always,", "restartPolicy: Never,", ""))
	if !w.in(6) {
		w.condition(at)
	}
}

func (w *world) condition(at place) {
	pod, is := w.at(at).(*corev1.Pod)
	if !is {
		return
	}
	status := fields{}
	if w.in(2) || pod.Status.PodIP == "" {
		n := w.n(9)
		ips := one(w, []string{"10.0.0.%d"}, []string{"10.0.0.%d"}, []string{"fd00::%d"},
			[]string{"10.0.0.%d", "fd00::%d"}, []string{"fd00::%d", "10.0.0.%d"}, nil)
		var list []fields
		for _, ip := range ips {
			list = append(list, fields{"ip": fmt.Sprintf(ip, n)})
		}
		if len(list) > 0 {
			status["podIP"] = list[0]["ip"]
		}
		if !w.in(6) {
			status["podIPs"] = list
		}
	}
	if !w.in(4) {
		status["conditions"] = []fields{
			{"type": one(w, "PodScheduled", "Initialized"), "status": "True"},
			{"type": "Ready", "status": one(w, "True", "True", "True", "False", "Unknown"),
				"lastTransitionTime": some(w, w.ago(0), w.ago(0), w.ago(90*time.Second))}}
	}
	status["phase"] = one(w, "Running", "Running", "Running", "Running", "Pending", "Succeeded", "Failed")
	w.merge(at, "status", fields{"status": status})
}

func (w *world) relabelPod() {
	if all := w.there("Pod"); len(all) > 0 {
		w.merge(one(w, all...), "", fields{"metadata": one(w,
			fields{"labels": fields{"app": some(w, "x", "z")}}, fields{"labels": fields{"tier": some(w, "t")}},
			fields{"finalizers": one(w, nil, []string{"example.com/hold"})},
			fields{"annotations": fields{"n": "m"}})})
	}
}

func (w *world) meddle() {
	all := w.there("EndpointSlice")
	if len(all) == 0 {
		return
	}
	at := one(w, all...)
	s := w.at(at).(*discoveryv1.EndpointSlice)
	switch w.n(9) {
	case 7:
		ports := slices.Clone(s.Ports)
		slices.Reverse(ports)
		w.merge(at, "", fields{"ports": ports})
	case 8:
		w.merge(at, "", fields{"metadata": fields{"labels": fields{corev1.IsHeadlessService: some(w, "", "x")}}})
	case 0:
		w.merge(at, "", fields{"metadata": fields{"labels": fields{
			discoveryv1.LabelServiceName: some(w, "s", "t", "nobody")}}})
	case 1:
		w.merge(at, "", fields{"metadata": fields{"labels": fields{
			discoveryv1.LabelManagedBy: some(w, "me", "endpointslice-controller.k8s.io")}}})
	case 2:
		w.merge(at, "", fields{"metadata": fields{"labels": fields{"a": some(w, "b", "z")}}})
	case 3:
		w.merge(at, "", fields{"metadata": fields{"ownerReferences": nil}})
	case 4:
		w.merge(at, "", fields{"metadata": fields{"finalizers": one(w, nil, []string{"example.com/hold"})}})
	case 5:
		w.merge(at, "", fields{"endpoints": s.Endpoints[:len(s.Endpoints)/2]})
	default:
		w.merge(at, "", fields{"endpoints": append(slices.Clip(s.Endpoints), discoveryv1.Endpoint{
			Addresses: []string{one(w, "10.9.9.9", "fd00::99")}})})
	}
}

func (w *world) foreign() {
	var refs []metav1.OwnerReference
	if all := w.there("Service"); len(all) > 0 && w.in(2) {
		svc := w.at(one(w, all...))
		refs = []metav1.OwnerReference{{APIVersion: one(w, "v1", "v2"), Kind: one(w, "Service", "ConfigMap"),
			Name: svc.GetName(), UID: svc.GetUID()}}
	}
	w.make(place{"EndpointSlice", "default", fmt.Sprintf("f%d", w.n(3))}, `
addressType: IPv4
endpoints: [{addresses: [10.1.1.1]}]
ports: []
metadata:
  labels: {kubernetes.io/service-name: %s, endpointslice.kubernetes.io/managed-by: %s}
  ownerReferences: %s
`, one(w, "s", "t"), one(w, "me", "endpointslice-controller.k8s.io"), encode(refs))
}

func (w *world) crowd() {
	for i := range 60 + w.n(70) {
		at := place{"Pod", "default", fmt.Sprintf("c%d", i)}
		w.make(at, "metadata: {labels: {app: x}}\nspec: {nodeName: n%d, containers: [{name: c, image: i}]}", w.n(2))
		w.merge(at, "status", fields{"status": fields{"podIP": fmt.Sprintf("10.2.0.%d", i),
			"podIPs":     []fields{{"ip": fmt.Sprintf("10.2.0.%d", i)}},
			"conditions": []fields{{"type": "Ready", "status": "True"}}}})
		if w.in(40) {
			w.settle(one(w, time.Millisecond, 2*time.Second))
		}
	}
}

// blind lets the controller write while its watch of slices is paused. Users change slices, and requests fail.
func (w *world) blind() {
	k := w.Server.KindNamed("EndpointSlice")
	_ = w.Do("hold EndpointSlice", func() error { w.process().Hold(k); return nil })
	for range 2 + w.n(4) {
		switch w.n(7) {
		case 0:
			w.backend()
		case 1:
			w.reserve()
		case 2:
			w.meddle()
		case 3:
			if all := w.there("EndpointSlice"); len(all) > 0 {
				w.drop(one(w, all...), "", nil)
			}
		case 4:
			w.Cluster.Fail(host.FailedRequest{Process: "endpointslice", Verb: fakeapi.Get, Nth: 1, Code: 500})
		default:
			if all := w.there("Pod"); len(all) > 0 {
				w.condition(one(w, all...))
			}
		}
		w.settle(one(w, 0, time.Second, 3*time.Second))
	}
	_ = w.Do("release", func() error { w.process().Release(k); return nil })
}

// rebacked recreates a pod with the same name and address in a gap of the watch.
func (w *world) rebacked() {
	all := objects[*corev1.Pod](w, "Pod")
	if len(all) == 0 {
		return
	}
	old := one(w, all...)
	k := w.Server.KindNamed("Pod")
	_ = w.Do("hold Pod", func() error { w.process().Hold(k); return nil })
	w.remove("Pod", old.Name, "", new(int64))
	p := old.DeepCopy()
	p.TypeMeta = typeOf("v1", "Pod")
	p.ObjectMeta = metav1.ObjectMeta{Name: old.Name, Namespace: old.Namespace, Labels: old.Labels}
	if one(w, 0, 1) == 0 {
		p.Spec.Hostname = one(w, "h", "g", "")
	} else {
		p.Spec.Subdomain = one(w, "s", "t", "")
	}
	if w.create(p) {
		w.merge(place{"Pod", p.Namespace, p.Name}, "status", fields{"status": old.Status})
	}
	_ = w.Do("relist Pod", func() error { w.process().Relist(k); w.process().Release(k); return nil })
}
