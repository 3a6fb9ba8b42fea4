package audit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// story writes a log, request by request.
type story struct {
	b       bytes.Buffer
	version int
	at      time.Time
	objects map[string]map[string]any
}

func newStory() *story {
	return &story{version: 100, at: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC),
		objects: map[string]map[string]any{}}
}

const (
	rsc     = "system:serviceaccount:kube-system:replicaset-controller"
	kubelet = "system:node:n1"
	gc      = "system:serviceaccount:kube-system:generic-garbage-collector"
	hpa     = "system:serviceaccount:kube-system:horizontal-pod-autoscaler"
)

// does adds a request for the object what: "kind/name" or "kind/name/subresource". The keys of set are paths, such as
// "metadata.labels.app". For a patch, set is the patch.
func (s *story) does(user, verb, what string, set map[string]any) {
	s.at = s.at.Add(300 * time.Millisecond)
	parts := strings.Split(what, "/")
	kind, name, sub := parts[0], parts[1], strings.Join(parts[2:], "")
	key := kind + "/" + name
	code := 200
	apis := map[string]string{"ReplicaSet": "apps/v1", "Deployment": "apps/v1", "Pod": "v1", "ConfigMap": "v1"}
	api, ok := apis[kind]
	if !ok {
		api = "example.com/v1"
	}
	group, _, named := strings.Cut(api, "/")
	if !named {
		group = ""
	}
	old := s.objects[key]
	o := clone(old)
	request := map[string]any{}
	if verb == "create" {
		code = 201
		o = map[string]any{"kind": kind, "apiVersion": api, "metadata": map[string]any{"name": name,
			"namespace": "default", "uid": fmt.Sprintf("%s-%d", name, s.version)}}
	}
	for path, v := range set {
		put(o, path, v)
		put(request, path, v)
	}
	s.version++
	put(o, "metadata.resourceVersion", fmt.Sprint(s.version))
	s.objects[key] = o
	switch verb {
	case "update", "create":
		request = clone(o)
		put(request, "metadata.resourceVersion", version(old))
	case "delete":
		put(o, "metadata.deletionTimestamp", "2026-11-21T10:01:00Z")
		put(o, "metadata.deletionGracePeriodSeconds", 30)
	}
	agent := user[strings.LastIndex(user, ":")+1:] + "/v1 (linux/amd64) kubernetes/abc"
	if user == "alice" {
		agent = "kubectl/v1.30.0 (linux/amd64) kubernetes/abc"
	}
	var answer any = o
	if sub == "scale" {
		spec := o["spec"].(map[string]any)
		answer = map[string]any{"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": o["metadata"],
			"spec": map[string]any{"replicas": spec["replicas"]}}
	}
	s.line(map[string]any{"verb": verb, "user": map[string]any{"username": user}, "userAgent": agent,
		"objectRef": map[string]any{"resource": strings.ToLower(kind) + "s", "namespace": "default", "name": name,
			"apiGroup": group, "subresource": sub},
		"responseStatus": map[string]any{"code": code}, "requestObject": request, "responseObject": answer})
}

func (s *story) line(e map[string]any) {
	e["kind"], e["apiVersion"] = "Event", "audit.k8s.io/v1"
	e["level"], e["stage"] = "RequestResponse", "ResponseComplete"
	e["stageTimestamp"] = s.at.Format(time.RFC3339Nano)
	b, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	s.b.Write(append(b, '\n'))
}

func clone(o map[string]any) (c map[string]any) {
	b, _ := json.Marshal(o)
	_ = json.Unmarshal(b, &c)
	if c == nil {
		c = map[string]any{}
	}
	return c
}

func version(o map[string]any) any {
	m, _ := o["metadata"].(map[string]any)
	return m["resourceVersion"]
}

func put(o map[string]any, path string, v any) {
	first, rest, more := strings.Cut(path, ".")
	if !more {
		o[first] = v
		return
	}
	in, _ := o[first].(map[string]any)
	if in == nil {
		in = map[string]any{}
		o[first] = in
	}
	put(in, rest, v)
}

type set = map[string]any

// by returns owner references with one ControllerRef.
func (s *story) by(owner string) []any {
	o := s.objects[owner]
	m := o["metadata"].(map[string]any)
	return []any{set{"apiVersion": o["apiVersion"], "kind": o["kind"], "name": m["name"], "uid": m["uid"],
		"controller": true}}
}

// web adds alice's ReplicaSet and its pod.
func (s *story) web() {
	s.does("alice", "create", "ReplicaSet/web",
		set{"spec": set{"replicas": 1, "selector": set{"matchLabels": set{"app": "x"}}}})
	s.does(rsc, "create", "Pod/p", set{"metadata.labels": set{"app": "x"},
		"metadata.ownerReferences": s.by("ReplicaSet/web"), "spec": set{"image": "a"}})
}

// stories contains events of a real cluster that look like violations but are not, and events that are violations.
var stories = []struct {
	name string
	want string // expected violations and fights
	tell func(s *story)
}{
	{"a kubelet writes the status of a pod", "", func(s *story) {
		s.web()
		s.does(kubelet, "patch", "Pod/p/status", set{"status": set{"phase": "Running"}})
	}},
	{"a program writes a condition into a status", "", func(s *story) {
		s.web()
		s.does(opOne, "patch", "Pod/p/status", set{"status": set{"conditions": []any{set{"type": "gate"}}}})
	}},
	{"a program annotates a pod that was bound meanwhile", "", func(s *story) {
		s.web()
		put(s.objects["Pod/p"], "spec", set{"image": "a", "nodeName": "n1"})
		s.version++
		s.does(opOne, "patch", "Pod/p", set{"metadata.annotations": set{"ip": "10.0.0.1"}})
	}},
	{"a program annotates a pod that another took meanwhile, which the log does not have", "", func(s *story) {
		s.does("alice", "create", "App/a", nil)
		s.web()
		put(s.objects["Pod/p"], "metadata.ownerReferences", s.by("App/a"))
		s.version++
		s.does(opOne, "patch", "Pod/p", set{"metadata.annotations": set{"ip": "10.0.0.1"}})
	}},
	{"a program puts a label on that nobody selects by", "", func(s *story) {
		s.web()
		s.does(opOne, "patch", "Pod/p", set{"metadata.labels": set{"app": "x", "role": "master"}})
	}},
	{"a program puts a finalizer on and takes it off", "", func(s *story) {
		s.web()
		s.does(opOne, "patch", "Pod/p", set{"metadata.finalizers": []any{"example.com/mine"}})
		s.does(opOne, "patch", "Pod/p", set{"metadata.finalizers": []any{}})
	}},
	{"another's finalizer", "FIN-1", func(s *story) {
		s.does("alice", "create", "Pod/p", set{"metadata.finalizers": []any{"batch.kubernetes.io/job-tracking"}})
		s.does(opOne, "update", "Pod/p", set{"metadata.finalizers": []any{}})
	}},
	{"a person deletes and edits what controllers own", "", func(s *story) {
		s.web()
		s.does("alice", "patch", "Pod/p", set{"metadata.labels": set{"app": "y"}})
		s.does("alice", "delete", "Pod/p", nil)
	}},
	{"a program deletes a pod, and it is deleted again when it has ended", "LAW-2", func(s *story) {
		s.web()
		s.does(opOne, "delete", "Pod/p", nil)
		s.does(kubelet, "delete", "Pod/p", nil)
		s.does(opTwo, "delete", "Pod/p", nil)
	}},
	{"an operator has a Deployment, and restarts its pods", "", func(s *story) {
		s.does("alice", "create", "App/a", nil)
		s.does(opOne, "create", "Deployment/d",
			set{"metadata.ownerReferences": s.by("App/a"), "spec": set{"replicas": 1}})
		s.does("system:serviceaccount:kube-system:deployment-controller", "create", "ReplicaSet/d-1",
			set{"metadata.ownerReferences": s.by("Deployment/d"),
				"spec": set{"selector": set{"matchLabels": set{"a": "b"}}}})
		s.does(rsc, "create", "Pod/d-1-x", set{"metadata.ownerReferences": s.by("ReplicaSet/d-1")})
		s.does(opOne, "update", "Deployment/d", set{"spec": set{"replicas": 2}})
		s.does(opOne, "delete", "Pod/d-1-x", nil)
	}},
	{"a program edits what another operator owns", "LAW-2", func(s *story) {
		s.does("alice", "create", "App/a", nil)
		s.does(opOne, "create", "ConfigMap/c", set{"metadata.ownerReferences": s.by("App/a"), "data": set{"a": "1"}})
		s.does(opTwo, "update", "ConfigMap/c", set{"data": set{"a": "2"}})
	}},
	{"whose it is nobody knows", "", func(s *story) {
		s.does("alice", "create", "App/a", nil)
		s.does("alice", "create", "ConfigMap/c", set{"metadata.ownerReferences": s.by("App/a"), "data": set{"a": "1"}})
		s.does(opTwo, "update", "ConfigMap/c", set{"data": set{"a": "2"}})
	}},
	{"who turns out to be the controller had a right to", "", func(s *story) {
		s.does("alice", "create", "App/a", nil)
		s.does(opOne, "create", "ConfigMap/c", set{"metadata.ownerReferences": s.by("App/a"), "data": set{"a": "1"}})
		s.does(opTwo, "update", "ConfigMap/c", set{"data": set{"a": "2"}})
		s.does(opTwo, "create", "ConfigMap/d", set{"metadata.ownerReferences": s.by("App/a"), "data": set{"a": "1"}})
	}},
	{"who works on objects of a kind fills in what another made of it", "", func(s *story) {
		s.does("alice", "create", "App/a", nil)
		s.does(opOne, "create", "Bucket/b", set{"metadata.ownerReferences": s.by("App/a"), "spec": set{"size": 1}})
		s.does(opTwo, "patch", "Bucket/b", set{"spec.id": "x-1"})
		s.does(opTwo, "patch", "Bucket/b/status", set{"status": set{"ready": true}})
		s.does(opTwo, "patch", "Bucket/b", set{"spec.region": "eu"})
	}},
	{"who makes dependents for objects of a kind edits them", "", func(s *story) {
		s.does("alice", "create", "App/a", nil)
		s.does(opOne, "create", "Bucket/b", set{"metadata.ownerReferences": s.by("App/a"), "spec": set{"size": 1}})
		s.does(opTwo, "create", "ConfigMap/c", set{"metadata.ownerReferences": s.by("Bucket/b")})
		s.does(opTwo, "patch", "Bucket/b", set{"spec.id": "x-1"})
	}},
	{"who works on objects of a kind deletes what another made of it", "LAW-2", func(s *story) {
		s.does("alice", "create", "App/a", nil)
		s.does(opOne, "create", "Bucket/b", set{"metadata.ownerReferences": s.by("App/a"), "spec": set{"size": 1}})
		s.does(opTwo, "patch", "Bucket/b/status", set{"status": set{"ready": true}})
		s.does(opTwo, "delete", "Bucket/b", nil)
	}},
	{"who writes a condition of a pod edits it", "LAW-2", func(s *story) {
		s.web()
		s.does(opOne, "patch", "Pod/p/status", set{"status": set{"conditions": []any{set{"type": "gate"}}}})
		s.does(opOne, "update", "Pod/p", set{"spec": set{"image": "b"}})
	}},
	{"nobody knows who edits a pod", "", func(s *story) {
		s.web()
		s.does("", "update", "Pod/p", set{"spec": set{"image": "b"}})
	}},
	{"a deployer edits what nobody owns", "", func(s *story) {
		s.does(opOne, "create", "Deployment/d", set{"spec": set{"replicas": 1}})
		s.does(opTwo, "update", "Deployment/d", set{"spec": set{"replicas": 2}})
		s.does(opTwo, "delete", "Deployment/d", nil)
	}},
	{"an autoscaler and a person scale", "", func(s *story) {
		s.does(opOne, "create", "Deployment/d", set{"spec": set{"replicas": 1}})
		for range 5 {
			s.does(hpa, "patch", "Deployment/d", set{"spec": set{"replicas": 3}})
			s.does("alice", "patch", "Deployment/d", set{"spec": set{"replicas": 1}})
		}
	}},
	{"an autoscaler and an operator fight over the scale", "NOFIGHT-1", func(s *story) {
		s.does("alice", "create", "Deployment/d", set{"spec": set{"replicas": 1}})
		for range 5 {
			s.does(hpa, "patch", "Deployment/d", set{"spec": set{"replicas": 3}})
			s.does(opOne, "patch", "Deployment/d", set{"spec": set{"replicas": 1}})
		}
	}},
	{"an operator fights over the scale with one that writes the scale", "NOFIGHT-1", func(s *story) {
		s.does(opOne, "create", "Deployment/d", set{"spec": set{"replicas": 1, "paused": false}})
		for range 5 {
			s.does(opTwo, "update", "Deployment/d/scale", set{"spec.replicas": 3})
			s.does(opOne, "patch", "Deployment/d", set{"spec.replicas": 1})
		}
	}},
	{"a scale by one, and another field by another", "", func(s *story) {
		s.does(opOne, "create", "Deployment/d", set{"spec": set{"replicas": 1, "paused": false}})
		for i := range 8 {
			s.does(opTwo, "update", "Deployment/d/scale", set{"spec.replicas": 1 + i%2})
			s.does(opOne, "patch", "Deployment/d", set{"spec.paused": i%2 == 0})
		}
	}},
	{"one makes what another deletes", "NOFIGHT-1", func(s *story) {
		for range 4 {
			s.does(opOne, "create", "ConfigMap/c", nil)
			s.does(opTwo, "delete", "ConfigMap/c", nil)
		}
	}},
	{"one operator that goes to and fro by itself", "", func(s *story) {
		s.does("alice", "create", "ConfigMap/c", set{"data": set{"a": "1"}})
		for range 5 {
			s.does(opOne, "update", "ConfigMap/c", set{"data": set{"a": "2"}})
			s.does(opOne, "update", "ConfigMap/c", set{"data": set{"a": "1"}})
		}
	}},
	{"two that write fields of their own", "", func(s *story) {
		s.does("alice", "create", "ConfigMap/c", set{"data": set{"a": "1", "b": "1"}})
		for i := range 6 {
			s.does(opOne, "patch", "ConfigMap/c", set{"data.a": fmt.Sprint(i % 2)})
			s.does(opTwo, "patch", "ConfigMap/c", set{"data.b": fmt.Sprint(i % 2)})
		}
	}},
	{"a fight over a field beside one that only grows", "NOFIGHT-1", func(s *story) {
		s.does("alice", "create", "ConfigMap/c", set{"data": set{"a": "1"}})
		for i := range 5 {
			s.does(opOne, "patch", "ConfigMap/c", set{"data": set{"a": "x", "n": fmt.Sprint(2 * i)}})
			s.does(opTwo, "patch", "ConfigMap/c", set{"data": set{"a": "y", "n": fmt.Sprint(2*i + 1)}})
		}
	}},
	{"the collector takes references off and deletes", "", func(s *story) {
		s.web()
		s.does(gc, "patch", "Pod/p", set{"metadata.ownerReferences": []any{}, "metadata.uid": "p-101"})
	}},
	{"what has an owner for the collector's sake", "", func(s *story) {
		s.does("alice", "create", "App/a", nil)
		owners := s.by("App/a")
		delete(owners[0].(set), "controller")
		s.does(opOne, "create", "ConfigMap/c", set{"metadata.ownerReferences": owners})
	}},
}

func TestStories(t *testing.T) {
	for _, c := range stories {
		t.Run(c.name, func(t *testing.T) {
			s := newStory()
			c.tell(s)
			r := judgedText(t, bytes.NewReader(s.b.Bytes()))
			var got []string
			for _, b := range r.Violations {
				if !strings.Contains(strings.Join(got, " "), b.ID) {
					got = append(got, b.ID)
				}
			}
			if len(r.Fights) > 0 {
				got = append(got, "NOFIGHT-1")
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("the violations are %v, want %q\n%s", got, c.want, r.Text(120))
			}
		})
	}
}
