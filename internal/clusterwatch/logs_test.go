package clusterwatch

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// shown is a version of an object in an audit log, in the form that a watch would deliver.
type shown struct {
	kind    *ServedKind
	raw     json.RawMessage
	gone    bool
	version uint64
	at      time.Time
}

var kindsOfLogs = []*ServedKind{
	{"", "v1", "pods", "Pod", true}, {"", "v1", "configmaps", "ConfigMap", true},
	{"", "v1", "replicationcontrollers", "ReplicationController", true},
	{"apps", "v1", "replicasets", "ReplicaSet", true}, {"apps", "v1", "deployments", "Deployment", true},
	{"apps", "v1", "statefulsets", "StatefulSet", true}, {"apps", "v1", "daemonsets", "DaemonSet", true},
	{"batch", "v1", "jobs", "Job", true}, {"batch", "v1", "cronjobs", "CronJob", true},
}

// shownIn returns the versions of objects in a log of a real control plane, in order.
func shownIn(t *testing.T, file string) (all []shown) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	last := map[string]shown{}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var e struct {
			Verb           string
			ObjectRef      struct{ Resource, APIGroup, Namespace, Name, Subresource string }
			ResponseStatus struct{ Code int }
			ResponseObject json.RawMessage
			StageTimestamp time.Time
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(kindsOfLogs, func(k *ServedKind) bool {
			return k.Resource == e.ObjectRef.Resource && k.Group == e.ObjectRef.APIGroup
		})
		if i < 0 || e.ResponseStatus.Code >= 300 || e.Verb == "list" || e.Verb == "watch" || e.Verb == "get" {
			continue
		}
		var o struct {
			Kind     string
			Metadata struct {
				Name, ResourceVersion      string
				DeletionTimestamp          *string
				DeletionGracePeriodSeconds *int
				Finalizers                 []string
			}
		}
		if e.ResponseObject == nil || json.Unmarshal(e.ResponseObject, &o) != nil {
			continue
		}
		key := e.ObjectRef.Resource + "/" + e.ObjectRef.Namespace + "/" + e.ObjectRef.Name
		s := shown{kindsOfLogs[i], e.ResponseObject, false, 0, e.StageTimestamp}
		switch {
		case o.Kind == "Status" && e.Verb == "delete":
			if s = last[key]; s.raw == nil {
				continue
			}
			s.gone, s.at = true, e.StageTimestamp
		case o.Kind != s.kind.Kind && o.Kind != "PartialObjectMetadata":
			continue
		default:
			s.version, _ = strconv.ParseUint(o.Metadata.ResourceVersion, 10, 64)
			key = e.ObjectRef.Resource + "/" + e.ObjectRef.Namespace + "/" + o.Metadata.Name
			if d := o.Metadata; d.DeletionTimestamp != nil && len(d.Finalizers) == 0 &&
				(d.DeletionGracePeriodSeconds == nil || *d.DeletionGracePeriodSeconds == 0) {
				s.gone = true
			}
		}
		last[key] = s
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b shown) int { return int(a.version) - int(b.version) })
	return all
}

// The recorded events of a real control plane, delivered as by watches, give the expected findings.
func TestRecordedClusters(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"clean-rollout", ""},
		{"job-run", ""},
		{"orphan-then-adopt", ""},
		{"two-rs-one-selector", ""},
		{"interferer", ""}, // a watch does not show which program deletes an object
		{"no-controllerref", ""},
		{"steal", "takeover pod/web-\ntakeover pod/web-"},
		{"label-flapper", "fight pod/web- kube-controller-manager,op-one\n+fight"},
		{"configmap-war", "fight cm/shared op-one,op-two\n+fight\n+fight\n+fight"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var found []Finding
			cl := NewCluster(Options{Patience: 30 * time.Second, Stuck: time.Minute, Tell: func(f Finding) {
				found = append(found, f)
			}})
			var at time.Time
			for i, s := range shownIn(t, filepath.Join("../audit/testdata", c.name+".log.gz")) {
				if at = s.at; i == 0 {
					for _, k := range kindsOfLogs {
						cl.Look(k)
					}
					for _, k := range kindsOfLogs {
						cl.Listed(at, k, nil)
					}
				}
				v := version(t, s.kind, string(s.raw))
				if s.gone {
					cl.Gone(at, v)
				} else {
					cl.Put(at, v)
				}
				cl.Tick(at)
			}
			cl.Tick(at.Add(30 * time.Second))
			cl.Tick(at.Add(60 * time.Second))
			for _, f := range found {
				t.Logf("%+v", f)
			}
			if got := brief(found); got != c.want {
				t.Errorf("found\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// brief formats findings without namespaces and generated names, one per line.
func brief(found []Finding) string {
	var lines []string
	for _, f := range found {
		name := f.Object
		if strings.Count(name, "/") > 1 {
			_, name, _ = strings.Cut(name, "/")
		}
		if kind, rest, ok := strings.Cut(name, "/"); ok && strings.HasPrefix(rest, "web-") {
			name = kind + "/web-"
		}
		l := string(f.Sort) + " " + name
		if f.Sort == Fight {
			l += " " + strings.Join(f.Who, ",")
		}
		if f.Goes {
			l = "+" + string(f.Sort)
		}
		lines = append(lines, l)
	}
	return strings.Join(lines, "\n")
}

// version parses a version of an object in JSON.
func version(t testing.TB, k *ServedKind, text string) *Version {
	t.Helper()
	var content map[string]any
	err := json.Unmarshal([]byte(text), &content)
	if err != nil {
		t.Fatal(err)
	}
	v, err := Parse(k, content)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
