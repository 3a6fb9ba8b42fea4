package states_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/controllers"
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/yamldoc"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
)

var update = flag.Bool("update", false, "rewrite the states of the worlds")

const section = "states"

// TestStates runs each world, and compares all its objects with golden text at each step rest or wait.
func TestStates(t *testing.T) {
	each(t, func(t *testing.T, name string, file *txtar.Archive) {
		got := strings.Join(play(t, file, nil).states, "")
		want := &txtar.File{Name: section}
		for i := range file.Files {
			if file.Files[i].Name == section {
				want = &file.Files[i]
			}
		}
		if !*update {
			if d := cmp.Diff(strings.Split(string(want.Data), "\n"), strings.Split(got, "\n")); d != "" {
				t.Errorf("states differ (-want +got):\n%s", d)
			}
			return
		}
		if want.Data == nil {
			file.Files = append(file.Files, *want)
			want = &file.Files[len(file.Files)-1]
		}
		want.Data = []byte(got)
		if err := os.WriteFile(name, txtar.Format(file), 0o644); err != nil {
			t.Fatal(err)
		}
	})
}

// TestFailuresAreGotOver lets the first request of each kind fail. The final states must be the same.
func TestFailuresAreGotOver(t *testing.T) {
	each(t, func(t *testing.T, name string, file *txtar.Archive) {
		whole := play(t, file, nil)
		want := last(whole)
		for _, f := range requests(whole) {
			f.Nth, f.Code = 1, 500
			if d := cmp.Diff(want, last(play(t, file, &f))); d != "" {
				t.Errorf("different states if %s %s of %s fails (-want +got):\n%s", f.Verb, f.Kind, f.Process, d)
			}
		}
	})
}

func last(w *world) []string {
	var all []string
	for name, state := range w.shown {
		all = append(all, name+" "+state)
	}
	return alike(all)
}

// requests returns one failed request for each process, verb and kind of the controllers' writes.
func requests(w *world) []host.FailedRequest {
	var list []host.FailedRequest
	h := &w.World.History
	for i := range h.Len() {
		r := h.At(i)
		if r.Op != sim.Commit || w.Cluster.Process(r.Process) == nil {
			continue
		}
		f := host.FailedRequest{Process: r.Process, Verb: fakeapi.Verb(r.Verb), Kind: r.Object.Kind}
		if !slices.Contains(list, f) {
			list = append(list, f)
		}
	}
	return list
}

func each(t *testing.T, do func(t *testing.T, name string, file *txtar.Archive)) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal(fmt.Sprint("no worlds in testdata: ", err))
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			file, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			do(t, name, file)
		})
	}
}

type world struct {
	*trial.Trial
	t       *testing.T
	file    *txtar.Archive
	states  []string
	lawless bool              // the controllers are of an era before ControllerRef
	shown   map[string]string // the last state of each object
}

// play runs the script of a file. If f is not nil, this request fails.
func play(t *testing.T, file *txtar.Archive, f *host.FailedRequest) *world {
	t.Helper()
	w := &world{Trial: trial.New(trial.Options{Choices: sim.Zero{}}), t: t, file: file, shown: map[string]string{}}
	defer w.Stop()
	if f != nil {
		w.Cluster.Fail(*f)
	}
	for line := range strings.Lines(string(file.Comment)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			w.step(line)
		}
		if t.Failed() {
			t.Fatalf("at %q", line)
		}
	}
	return w
}

func (w *world) step(line string) {
	verb, rest, _ := strings.Cut(line, " ")
	object, args, _ := strings.Cut(rest, " ")
	switch verb {
	case "lawless":
		w.lawless = true
	case "controllers":
		for _, name := range strings.Fields(rest) {
			w.start(name)
		}
	case "make":
		w.make(rest)
	case "patch":
		sub := ""
		if after, is := strings.CutPrefix(args, "status "); is {
			sub, args = "status", after
		}
		w.do(w.request(object, &fakeapi.Request{Verb: fakeapi.Patch, Subresource: sub,
			PatchType: types.MergePatchType, Patch: []byte(args)}))
	case "delete":
		policy := metav1.DeletionPropagation(args)
		w.do(w.request(object, &fakeapi.Request{Verb: fakeapi.Delete,
			Delete: metav1.DeleteOptions{PropagationPolicy: &policy}}))
	case "remove":
		w.do(w.request(object, &fakeapi.Request{Verb: fakeapi.Delete,
			Delete: metav1.DeleteOptions{GracePeriodSeconds: new(int64)}}))
	case "rest":
		if how := w.Settle(trial.Limits{Steps: 50_000}); !how.Settled {
			w.t.Errorf("the world does not settle")
		}
		w.show(line)
	case "wait":
		d, err := time.ParseDuration(rest)
		if err != nil {
			w.t.Fatal(err)
		}
		w.Settle(trial.Limits{Steps: 50_000, For: d})
		w.show(line)
	default:
		w.t.Fatalf("unknown step %q", verb)
	}
	if b := w.Broken(); b != nil && !w.lawless {
		w.t.Errorf("%s", b)
	}
}

func (w *world) start(name string) {
	w.t.Helper()
	for _, c := range slices.Backward(controllers.Builtin()) {
		if c.Name == name || c.FullName() == name {
			w.Start(c.Name, c)
			return
		}
	}
	w.t.Fatalf("unknown controller %s", name)
}

func (w *world) request(object string, r *fakeapi.Request) *fakeapi.Request {
	kind, name, _ := strings.Cut(object, "/")
	if r.Kind = w.Server.KindNamed(kind); r.Kind == nil {
		w.t.Fatalf("unknown kind %s", kind)
	}
	if r.Name = name; r.Kind.Namespaced {
		r.Namespace = "default"
	}
	return r
}

func (w *world) do(r *fakeapi.Request) {
	w.t.Helper()
	if resp := w.Cluster.As("user", r); resp.Err != nil {
		w.t.Fatalf("%s %s: %v", r.Verb, r.Name, resp.Err)
	}
}

func (w *world) make(section string) {
	w.t.Helper()
	i := slices.IndexFunc(w.file.Files, func(f txtar.File) bool { return f.Name == section })
	if i < 0 {
		w.t.Fatalf("the file has no section %s", section)
	}
	data := uidOf.ReplaceAllFunc(w.file.Files[i].Data, func(expr []byte) []byte {
		owner := w.Server.Lookup(w.Server.KindNamed("cm"), "default", string(uidOf.FindSubmatch(expr)[1]))
		return []byte(owner.(metav1.Object).GetUID())
	})
	for _, d := range yamldoc.Split(data) {
		var m metav1.PartialObjectMetadata
		if err := yaml.Unmarshal(d.Text, &m); err != nil {
			w.t.Fatal(err)
		}
		r := w.request(m.Kind+"/"+m.Name, &fakeapi.Request{Verb: fakeapi.Create})
		r.Object = r.Kind.New()
		if err := yaml.UnmarshalStrict(d.Text, r.Object); err != nil {
			w.t.Fatal(err)
		}
		w.do(r)
	}
}

// uidOf matches the placeholder for the uid of a ConfigMap.
var uidOf = regexp.MustCompile(`\$\(uid ([a-z]+)\)`)

// show records the states of all new and changed objects, and the names of removed ones.
func (w *world) show(line string) {
	var list []string
	now := map[string]string{}
	for _, k := range w.Server.Kinds() {
		w.Server.Each(k, func(obj runtime.Object) bool {
			name := k.GVK.Kind + " " + obj.(metav1.Object).GetName()
			now[name] = text(w.t, obj)
			if now[name] != w.shown[name] {
				list = append(list, name+" "+now[name]+"\n")
			}
			return true
		})
	}
	for _, name := range slices.Sorted(maps.Keys(w.shown)) {
		if _, there := now[name]; !there {
			list = append(list, name+" is gone\n")
		}
	}
	w.shown = now
	w.states = append(w.states, fmt.Sprintf("%s, %v\n%s", line, w.World.Clock.Elapsed(), strings.Join(list, "")))
}

// told lists the metadata fields that are shown.
var told = []string{"labels", "annotations", "finalizers", "ownerReferences", "deletionTimestamp"}

// text returns an object as one line: its metadata, data, status and node, and its spec if the object has an owner.
func text(t *testing.T, obj runtime.Object) string {
	raw, err := json.Marshal(obj)
	var o map[string]any
	if err == nil {
		err = json.Unmarshal(raw, &o)
	}
	if err != nil {
		t.Fatal(err)
	}
	meta := o["metadata"].(map[string]any)
	out := map[string]any{}
	for _, key := range told {
		if meta[key] != nil {
			out[key] = meta[key]
		}
	}
	for key, v := range o {
		if !slices.Contains([]string{"metadata", "kind", "apiVersion"}, key) && (key != "spec" || owned(meta)) {
			out[key] = v
		}
	}
	if spec, is := o["spec"].(map[string]any); is && spec["nodeName"] != nil {
		out["nodeName"] = spec["nodeName"]
	}
	raw, err = json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(uids.ReplaceAll(raw, []byte("UID")))
}

func owned(meta map[string]any) bool { return meta["ownerReferences"] != nil }

// uids matches uids, which are replaced because they depend on the order of creations.
var uids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

var differs = []struct {
	what *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:]+Z`), "TIME"},
	{regexp.MustCompile(`"revision":\d+|"resourceVersion":"\d+"`), ""},
	{regexp.MustCompile(`-\d+\b`), "-N"},
}

// alike replaces the parts of objects that a retry may change: times, revisions and numbers in names.
func alike(objects []string) []string {
	for i, o := range objects {
		for _, d := range differs {
			o = d.what.ReplaceAllString(o, d.as)
		}
		objects[i] = o
	}
	slices.Sort(objects)
	return objects
}
