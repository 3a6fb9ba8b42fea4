package clusterwatch

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

// world is a cluster for tests. Like a server, it sets resource versions, and managedFields move to the last writer.
type world struct {
	t       *testing.T
	cl      *Cluster
	found   []Finding
	at      time.Time
	version int
	missed  bool // watches do not deliver the writes
	there   map[string]*thing
}

type thing struct {
	kind     *ServedKind
	o        map[string]any
	managers map[string]*owning
}

type owning struct {
	at     time.Time
	fields map[string]bool
}

var began = time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)

// newWorld returns a world in which these objects exist from the start.
func newWorld(t *testing.T, there ...string) *world {
	w := &world{t: t, at: began, there: map[string]*thing{}}
	w.cl = NewCluster(Options{Patience: 30 * time.Second, Stuck: 5 * time.Minute, Tell: func(f Finding) {
		w.found = append(w.found, f)
	}})
	lists := map[string][]*Version{}
	for _, o := range there {
		th := w.parse(o)
		th.by("kubectl-create", w.at, "spec", "data")
		w.stamp(th)
		lists[th.kind.String()] = append(lists[th.kind.String()], w.read(th))
	}
	for _, k := range kindsOfLogs {
		w.cl.Look(k)
	}
	for _, k := range kindsOfLogs {
		w.cl.Listed(w.at, k, lists[k.String()])
	}
	return w
}

// parse parses "KIND NS/NAME JSON", and stores the object under "KIND/NAME".
func (w *world) parse(text string) *thing {
	w.t.Helper()
	words := strings.SplitN(text, " ", 3)
	for _, k := range kindsOfLogs {
		if !strings.EqualFold(k.Kind, words[0]) {
			continue
		}
		th := &thing{kind: k, o: map[string]any{}, managers: map[string]*owning{}}
		if len(words) > 2 {
			if err := json.Unmarshal([]byte(words[2]), &th.o); err != nil {
				w.t.Fatal(text, err)
			}
		}
		ns, name, _ := strings.Cut(words[1], "/")
		m := th.meta()
		m["namespace"], m["name"] = ns, name
		if m["uid"] == nil {
			w.version++
			m["uid"] = fmt.Sprintf("uid-%s-%d", name, w.version)
		}
		m["creationTimestamp"] = w.at.Format(time.RFC3339)
		w.there[words[0]+"/"+name] = th
		return th
	}
	w.t.Fatal("no kind: " + text)
	return nil
}

func (th *thing) meta() map[string]any {
	if th.o["metadata"] == nil {
		th.o["metadata"] = map[string]any{}
	}
	return th.o["metadata"].(map[string]any)
}

// by makes a manager the only manager of fields.
func (th *thing) by(manager string, at time.Time, fields ...string) {
	if manager == "" {
		return
	}
	if th.managers[manager] == nil {
		th.managers[manager] = &owning{fields: map[string]bool{}}
	}
	th.managers[manager].at = at
	for _, f := range fields {
		for _, m := range th.managers {
			delete(m.fields, f)
		}
		th.managers[manager].fields[f] = true
	}
}

func (w *world) stamp(th *thing) {
	w.version++
	m := th.meta()
	m["resourceVersion"] = strconv.Itoa(w.version)
	var managed []any
	for name, own := range th.managers {
		fields := map[string]any{}
		for path := range own.fields {
			at := fields
			for _, f := range strings.Split(path, ".") {
				if !strings.HasPrefix(f, "k:") {
					f = "f:" + f
				}
				if at[f] == nil {
					at[f] = map[string]any{}
				}
				at = at[f].(map[string]any)
			}
		}
		name, sub, _ := strings.Cut(name, "|")
		managed = append(managed, map[string]any{"manager": name, "operation": "Update", "subresource": sub,
			"time": own.at.Format(time.RFC3339), "fieldsType": "FieldsV1", "fieldsV1": fields})
	}
	m["managedFields"] = managed
}

func (w *world) read(th *thing) *Version {
	w.t.Helper()
	v, err := Parse(th.kind, th.o)
	if err != nil {
		w.t.Fatal(err)
	}
	return v
}

// create creates an object as a manager.
func (w *world) create(manager, text string) {
	w.t.Helper()
	th := w.parse(text)
	th.by(manager, w.at.Truncate(time.Second), "spec", "data", "metadata.labels", "metadata.ownerReferences")
	w.stamp(th)
	w.cl.Put(w.at, w.read(th))
}

// write merges values into an object as a manager: "data.mode=x", "-metadata.labels.app". The manager may be followed
// by a bar and a subresource.
func (w *world) write(manager, name string, fields ...string) {
	w.t.Helper()
	th := w.there[name]
	if th == nil {
		w.t.Fatal("there is no " + name)
	}
	for _, f := range fields {
		gone := strings.HasPrefix(f, "-")
		path, text, _ := strings.Cut(strings.TrimPrefix(f, "-"), "=")
		parts := strings.Split(path, ".")
		at := th.o
		for _, p := range parts[:len(parts)-1] {
			if at[p] == nil {
				at[p] = map[string]any{}
			}
			at = at[p].(map[string]any)
		}
		last := parts[len(parts)-1]
		if gone {
			delete(at, last)
			continue
		}
		var value any
		if json.Unmarshal([]byte(text), &value) != nil {
			value = text
		}
		at[last] = value
		th.by(manager, w.at.Truncate(time.Second), path)
	}
	w.stamp(th)
	if !w.missed {
		w.cl.Put(w.at, w.read(th))
	}
}

// delete removes an object.
func (w *world) delete(name string) {
	w.t.Helper()
	th := w.there[name]
	w.cl.Gone(w.at, w.read(th))
	delete(w.there, name)
}

// pass advances the time and calls Tick.
func (w *world) pass(d time.Duration) {
	w.at = w.at.Add(d)
	w.cl.Tick(w.at)
}

// rest advances the time until all reports are due.
func (w *world) rest() {
	for range 7 {
		w.pass(5 * time.Second)
	}
}

func (w *world) uid(name string) string { return w.there[name].meta()["uid"].(string) }

// owned returns a list with one ControllerRef, to this object.
func (w *world) owned(name string) string {
	kind, n, _ := strings.Cut(name, "/")
	for _, k := range kindsOfLogs {
		if strings.EqualFold(k.Kind, kind) {
			return fmt.Sprintf(`[{"apiVersion":%q,"kind":%q,"name":%q,"uid":%q,"controller":true,"blockOwnerDeletion":true}]`,
				k.apiVersion(), k.Kind, n, w.uid(name))
		}
	}
	w.t.Fatal("no kind " + kind)
	return ""
}

// want compares the findings with the expected findings, one per line.
func (w *world) want(want string) {
	w.t.Helper()
	got := brief(w.found)
	if got != want {
		w.t.Errorf("found\n%s\nwant\n%s", got, want)
		for _, f := range w.found {
			w.t.Log(f.Page(100))
		}
	}
}
