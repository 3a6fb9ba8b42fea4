package audit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/threelaws/threelaws/internal/audit"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
	"github.com/threelaws/threelaws/sim"
)

// users maps prefixes of process names to users of a cluster. Other processes are separate programs.
var users = map[string]string{
	"user": "alice", "apiserver": "system:apiserver", "kubelet": "system:node:n1",
	"scheduler": "system:kube-scheduler", "replicaset": sa("replicaset-controller"),
	"replication": sa("replication-controller"), "deployment": sa("deployment-controller"),
	"statefulset": sa("statefulset-controller"), "daemonset": sa("daemon-set-controller"),
	"job": sa("job-controller"), "cronjob": sa("cronjob-controller"), "gc": sa("generic-garbage-collector"),
	"garbagecollector": sa("generic-garbage-collector"), "namespace": sa("namespace-controller"),
	"podgc": sa("pod-garbage-collector"), "endpointslice": sa("endpointslice-controller"),
	"disruption": sa("disruption-controller"), "resourcequota": sa("resourcequota-controller"),
	"ttl-after-finished": sa("ttl-after-finished-controller"), "reaper": sa("taint-eviction-controller"),
	"persistentvolumeclaim-protection": sa("pvc-protection-controller"),
	"persistentvolume-protection":      sa("pv-protection-controller"),
}

func sa(name string) string { return "system:serviceaccount:kube-system:" + name }

func userOf(process string) (user, agent string) {
	base := strings.TrimRight(process, "#-0123456789")
	user = users[base]
	if user == "" {
		user = "system:serviceaccount:operators:" + base
	}
	if user == "alice" {
		return user, "kubectl/v1.30.0 (linux/amd64) kubernetes/abc"
	}
	return user, base + "/v1 (linux/amd64) kubernetes/abc"
}

// written returns the history of a world as an audit log of a cluster.
func written(t *testing.T, records []sim.Record) []byte {
	var b bytes.Buffer
	start := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	for i := range records {
		r := &records[i]
		if r.Op != sim.Commit || i+1 < len(records) && halfOf(r, &records[i+1]) {
			continue
		}
		e := entryOf(t, r)
		e["stageTimestamp"] = start.Add(r.At + time.Duration(i)*time.Millisecond).Format(time.RFC3339Nano)
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	return b.Bytes()
}

// halfOf reports whether a record and the next one are the two halves of one deletion: the request and the removal.
func halfOf(r, next *sim.Record) bool {
	return next.Op == sim.Commit && next.Step == r.Step && next.After == nil && next.Object == r.Object &&
		next.Verb == r.Verb && r.Before != nil
}

func entryOf(t *testing.T, r *sim.Record) map[string]any {
	user, agent := userOf(r.Process)
	verb := r.Verb
	before, after := asMap(t, r.Before), asMap(t, r.After)
	some := after
	if some == nil {
		some = before
	}
	api, _ := some["apiVersion"].(string)
	group, version, ok := strings.Cut(api, "/")
	if !ok {
		group, version = "", api
	}
	resource := strings.ToLower(r.Object.Kind) + "s"
	code := 200
	var request any
	switch {
	case before == nil:
		code, request = 201, after
	case strings.HasPrefix(verb, "delete"):
		verb = "delete"
		pre := map[string]any{}
		if r.Guards.UID {
			pre["uid"] = metaOf(before)["uid"]
		}
		if r.Guards.ResourceVersion {
			pre["resourceVersion"] = metaOf(before)["resourceVersion"]
		}
		request = map[string]any{"kind": "DeleteOptions", "preconditions": pre}
	case verb == "update":
		request = after
		if request == nil || after == nil {
			request = before
		}
		request = withVersion(request.(map[string]any), "")
		if r.Guards.ResourceVersion {
			request = withVersion(request.(map[string]any), metaOf(before)["resourceVersion"])
		}
	default:
		request = patchOf(before, after)
	}
	var response any = after
	if after == nil && verb != "delete" {
		response = ended(before)
	} else if after == nil && r.Object.Kind == "Pod" {
		response = ended(before)
	} else if after == nil {
		response = map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Success"}
	}
	return map[string]any{"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse",
		"stage": "ResponseComplete", "requestURI": "/", "verb": verb,
		"user": map[string]any{"username": user}, "userAgent": agent,
		"objectRef": map[string]any{"resource": resource, "namespace": r.Object.Namespace, "name": r.Object.Name,
			"apiGroup": group, "apiVersion": version, "subresource": r.Subresource},
		"responseStatus": map[string]any{"code": code}, "requestObject": request, "responseObject": response}
}

func asMap(t *testing.T, o any) map[string]any {
	if o == nil {
		return nil
	}
	b, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func metaOf(o map[string]any) map[string]any {
	m, _ := o["metadata"].(map[string]any)
	return m
}

func withVersion(o map[string]any, version any) map[string]any {
	o = maps.Clone(o)
	m := maps.Clone(metaOf(o))
	delete(m, "resourceVersion")
	if version != "" {
		m["resourceVersion"] = version
	}
	o["metadata"] = m
	return o
}

// ended returns the last version of an object removed with its last finalizer or after its grace period.
func ended(o map[string]any) map[string]any {
	o = maps.Clone(o)
	m := maps.Clone(metaOf(o))
	delete(m, "finalizers")
	if m["deletionTimestamp"] == nil {
		m["deletionTimestamp"] = "2026-11-21T10:00:00Z"
	}
	m["deletionGracePeriodSeconds"] = 0
	v, _ := strconv.Atoi(fmt.Sprint(m["resourceVersion"]))
	m["resourceVersion"] = strconv.Itoa(v + 1)
	o["metadata"] = m
	return o
}

// patchOf returns a patch from before to after.
func patchOf(before, after map[string]any) map[string]any {
	if after == nil {
		return map[string]any{"metadata": map[string]any{"finalizers": nil}}
	}
	patch := map[string]any{}
	for k, v := range after {
		if k != "metadata" && k != "kind" && k != "apiVersion" && fmt.Sprint(v) != fmt.Sprint(before[k]) {
			patch[k] = v
		}
	}
	m := map[string]any{}
	for _, k := range []string{"labels", "annotations", "ownerReferences", "finalizers"} {
		if v := metaOf(after)[k]; fmt.Sprint(v) != fmt.Sprint(metaOf(before)[k]) {
			m[k] = v
		}
	}
	patch["metadata"] = m
	return patch
}

// verdictOf returns the violated laws.
func verdictOf(r *audit.Report) []string {
	said := map[string]bool{}
	for _, b := range r.Violations {
		said[b.Law] = true
	}
	if len(r.Fights) > 0 {
		said["never-fight"] = true
	}
	return slices.Sorted(maps.Keys(said))
}

// share is the sampling rate: one file in 23. With SOAK=1, all files are used.
const share = 23

// beyond lists worlds with violations that a log cannot show, because the writes look right.
var beyond = map[string]string{
	"created-by-is-the-fallback.txtar":              "an old CronJob controller goes by an annotation",
	"api-server-forgets-the-controller-field.txtar": "the server drops the field that the controller wrote",
}

// A violation in the log of a world must also be a violation in the world itself. The log contains less information, so
// it may report less, but not more.
func TestLogsAgreeWithWorlds(t *testing.T) {
	files, err := filepath.Glob("../../scenarios/testdata/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	g := builtin.Registry()
	worlds, silent, both, missed := 0, 0, 0, 0
	for i, f := range files {
		if strings.Contains(f, "badinput") || os.Getenv("SOAK") == "" && i%share != 0 {
			continue
		}
		world, log := held(t, f, &scenarios.Options{Registry: g})
		if log == nil {
			continue
		}
		worlds++
		for law := range log {
			if !world[law] && beyond[filepath.Base(f)] == "" {
				t.Errorf("%s: %s is violated in the log, but not in the world", f, law)
			}
		}
		switch {
		case len(world) == 0:
			silent++
		default:
			for law := range world {
				if log[law] {
					both++
				} else {
					missed++
				}
			}
		}
	}
	t.Logf("%d worlds, %d of them clean; of the laws that apply to logs, %d are violated in both, %d only in the world",
		worlds, silent, both, missed)
}

// held runs a file, and judges its log. It returns the violated laws that apply to logs, in the world and in the log.
// Without a log it returns nil.
func held(t *testing.T, file string, o *scenarios.Options) (world, log map[string]bool) {
	var records []sim.Record
	world = map[string]bool{}
	o.Inspect = func(r *scenarios.Run) {
		records = slices.Clone(r.World().History.Records)
		for _, b := range r.Violations() {
			if ofLogs[b.Law] {
				world[b.Law] = true
			}
		}
	}
	scenarios.RunFile(file, *o)
	text := written(t, records)
	if len(text) == 0 {
		return nil, nil
	}
	r := judgedText(t, bytes.NewReader(text))
	log = map[string]bool{}
	for _, law := range verdictOf(r) {
		log[law] = true
	}
	for _, b := range r.Violations {
		t.Logf("%s: %s by %s x%d: %s %v", filepath.Base(file), b.Law, b.Actor, b.Count, b.Text, b.Objects)
	}
	for _, b := range r.Fights {
		t.Logf("%s: fight %v %s x%d", filepath.Base(file), b.Between, b.What, b.Rounds)
	}
	return world, log
}

// ofLogs contains the laws that apply to logs.
var ofLogs = func() map[string]bool {
	m := map[string]bool{}
	for _, v := range audit.New(options()).Report(audit.NewSource()).Laws {
		if v.Judged {
			m[v.Name] = true
		}
	}
	return m
}()
