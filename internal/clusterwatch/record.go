package clusterwatch

import (
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/runtime"
)

// Record writes the changes of a cluster as an audit log (audit.k8s.io/v1, one JSON event per line) for "threelaws
// judge". The user of an event is derived from the manager. The user of a deletion is unknown. The request of an update
// is a merge patch from the old to the new object.
type Record struct {
	To  io.Writer
	Err error // the first write error

	n int
}

// unknownUser is the user of changes by an unknown manager. The judge treats it as a person, who may write anything.
const unknownUser = "(unknown)"

type auditEvent struct {
	Kind           string            `json:"kind"`
	APIVersion     string            `json:"apiVersion"`
	Level          string            `json:"level"`
	AuditID        string            `json:"auditID"`
	Stage          string            `json:"stage"`
	RequestURI     string            `json:"requestURI"`
	Verb           string            `json:"verb"`
	User           auditUser         `json:"user"`
	UserAgent      string            `json:"userAgent,omitempty"`
	ObjectRef      auditRef          `json:"objectRef"`
	ResponseStatus auditStatus       `json:"responseStatus"`
	RequestObject  any               `json:"requestObject,omitempty"`
	ResponseObject any               `json:"responseObject,omitempty"`
	Received       string            `json:"requestReceivedTimestamp"`
	Staged         string            `json:"stageTimestamp"`
	Annotations    map[string]string `json:"annotations"`
}

type auditUser struct {
	Username string `json:"username"`
}

type auditRef struct {
	Resource    string `json:"resource"`
	Namespace   string `json:"namespace,omitempty"`
	Name        string `json:"name"`
	UID         string `json:"uid,omitempty"`
	APIGroup    string `json:"apiGroup,omitempty"`
	APIVersion  string `json:"apiVersion"`
	Subresource string `json:"subresource,omitempty"`
}

type auditStatus struct {
	Code int `json:"code"`
}

// found writes a creation event by an unknown user, for an object that already existed.
func (r *Record) found(at time.Time, o *Version) {
	if r == nil {
		return
	}
	e := r.event(o, at)
	e.Verb, e.ResponseStatus.Code = "create", 201
	e.ResponseObject = o.json()
	e.RequestObject = e.ResponseObject
	e.User.Username = unknownUser
	r.write(e)
}

func (r *Record) note(x *change) {
	if r == nil || x.new == nil && x.old.ending() {
		return
	}
	o := x.new
	if o == nil {
		o = x.old
	}
	e := r.event(o, x.at)
	e.User.Username, e.UserAgent = x.user()
	switch {
	case x.old == nil:
		e.Verb, e.ResponseStatus.Code, e.ResponseObject = "create", 201, o.json()
		e.RequestObject = e.ResponseObject
	case x.new == nil:
		e.Verb, e.User.Username, e.UserAgent = "delete", unknownUser, ""
		e.ResponseObject = map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Success",
			"metadata": map[string]any{}}
	case x.new.terminating() && !x.old.terminating():
		e.Verb, e.User.Username, e.UserAgent = "delete", unknownUser, ""
		e.ResponseObject = o.json()
	default:
		e.Verb, e.ResponseObject = "patch", o.json()
		before, after := x.old.json(), o.json()
		for _, v := range []map[string]any{before, after} {
			delete(v["metadata"].(map[string]any), "resourceVersion")
			delete(v["metadata"].(map[string]any), "generation")
		}
		e.RequestObject = merge(before, after)
		if e.RequestObject == nil {
			return // only fields that the server sets have changed
		}
		if !slices.ContainsFunc(x.leaves, func(l leaf) bool { return !strings.HasPrefix(l.path, "status") }) &&
			len(x.leaves) > 0 {
			e.ObjectRef.Subresource = "status"
		}
	}
	r.write(e)
}

// ending reports whether an object's deletion was recorded already when it became terminating: nothing delayed it.
func (o *Version) ending() bool {
	grace := o.DeletionGracePeriodSeconds
	return o.terminating() && len(o.Finalizers) == 0 && (grace == nil || *grace == 0)
}

func (r *Record) event(o *Version, at time.Time) *auditEvent {
	r.n++
	stamp := at.UTC().Format("2006-01-02T15:04:05.000000Z07:00")
	return &auditEvent{Kind: "Event", APIVersion: "audit.k8s.io/v1", Level: "RequestResponse",
		AuditID: "watch-" + strconv.Itoa(r.n) + "-" + o.ResourceVersion, Stage: "ResponseComplete", RequestURI: o.path(),
		ObjectRef: auditRef{Resource: o.of.Resource, Namespace: o.Namespace, Name: o.Name, UID: string(o.UID),
			APIGroup: o.of.Group, APIVersion: o.of.Version},
		ResponseStatus: auditStatus{200}, Received: stamp, Staged: stamp,
		Annotations: map[string]string{"threelaws.example/from": "watch"}}
}

func (r *Record) write(e *auditEvent) {
	b, err := json.Marshal(e)
	if err == nil {
		_, err = r.To.Write(append(b, '\n'))
	}
	if r.Err == nil {
		r.Err = err
	}
}

func (o *Version) path() string {
	p := "/api/" + o.of.Version
	if o.of.Group != "" {
		p = "/apis/" + o.of.Group + "/" + o.of.Version
	}
	if o.Namespace != "" {
		p += "/namespaces/" + o.Namespace
	}
	return p + "/" + o.of.Resource + "/" + o.Name
}

// user returns the user and the user agent of a change.
func (x *change) user() (user, agent string) {
	built := " (linux/amd64) kubernetes/watched"
	switch {
	case x.who == "":
		return unknownUser, ""
	case byHand(x.who):
		return x.who, ""
	case x.who == "kubelet":
		return "system:node:" + x.new.node, "kubelet/v0" + built
	case x.who == "kube-scheduler":
		return "system:kube-scheduler", "kube-scheduler/v0" + built
	case x.who == controllerManager:
		return "system:kube-controller-manager", controllerManager + "/v0" + built + "/" + x.controllerName()
	}
	for _, a := range accounts {
		if strings.ReplaceAll(strings.TrimSuffix(a, "-controller"), "-", "") == x.who {
			return "system:serviceaccount:kube-system:" + a, x.who + "/v0" + built // it runs separately
		}
	}
	return x.who, x.who + "/v0" + built
}

// accounts maps kinds to the service accounts of the controllers that reconcile them.
var accounts = map[string]string{"ReplicaSet": "replicaset-controller", "Deployment": "deployment-controller",
	"ReplicationController": "replication-controller", "StatefulSet": "statefulset-controller",
	"DaemonSet": "daemon-set-controller", "Job": "job-controller", "CronJob": "cronjob-controller"}

// controllerName returns the service account of the controller in kube-controller-manager that made a change. The
// creator of an owned object is its owner's controller. For other writes it returns an account to which no law applies.
func (x *change) controllerName() string {
	if x.old == nil && x.new.controller() != nil {
		if a := accounts[x.new.controller().Kind]; a != "" {
			return a
		}
	}
	return "shared-informers"
}

func (o *Version) json() map[string]any {
	m := map[string]any{}
	if o.body != nil {
		_ = json.Unmarshal(o.body, &m)
	}
	meta := o.ObjectMeta
	meta.ManagedFields = nil
	m["metadata"], _ = runtime.DefaultUnstructuredConverter.ToUnstructured(&meta)
	m["apiVersion"], m["kind"] = o.of.apiVersion(), o.of.Kind
	return m
}

// merge returns the JSON merge patch from a to b, or nil if they are equal.
func merge(a, b map[string]any) any {
	before, _ := json.Marshal(a)
	after, _ := json.Marshal(b)
	patch, err := jsonpatch.CreateMergePatch(before, after)
	if err != nil || string(patch) == "{}" {
		return nil
	}
	return json.RawMessage(patch)
}
