package scenarios_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/internal/manifest"
	"github.com/threelaws/threelaws/sim/host"
)

const world = `-- world.yaml --
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web-a}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: p1, labels: {app: web}}
spec: {containers: [{name: c, image: i}]}
`

// Each mistake is reported in one line, with its position and exit code 2. For a word that is nearly right, the error
// suggests the right word.
func TestMistakes(t *testing.T) {
	cases := []struct{ name, text, want string }{
		{"empty", "", "f:1: the file is empty"},
		{"blank", "\n\n  \n", "f:1: the file is empty"},
		{"comments only", "# nothing\n", "f:1: the file has no steps"},
		{"too large", "# " + strings.Repeat("x", scenarios.MaxSize), "f: the file is too large"},
		{"not text", "settle\n\xff\n", "f:2: the file is not text"},
		{"unknown verb", "# a\nsetle\n", "f:2: unknown verb setle; did you mean settle?"},
		{"unknown flag", "settle limits=3\n", "f:1: settle: unknown flag limits=; did you mean limit?"},
		{"unknown flag with dashes", "controllers replicaset\ndelete pod/p1 --cascde=orphan\n",
			"f:2: delete: unknown flag --cascde; did you mean cascade?"},
		{"bad value", "delete pod/p1 --cascade=orphn\n",
			"f:1: delete: cascade: orphn is not one of its values; did you mean orphan?"},
		{"too few", "hold\n", "f:1: hold: too few arguments: expected hold PROCESS sees=KIND"},
		{"too many", "hash 1\n", "f:1: hash: too many arguments"},
		{"open quote", "patch pod/p1 'x\n", "f:1: a quote is not closed"},
		{"stray golden", "settle\n\n----\nx\n", "f:3: ---- stands alone"},
		{"lone bang", "!\n", "f:1: ! stands alone"},
		{"packed badly", "apply a\n-- a.gz --\nx\n", "f:2: section a.gz is not text packed by gzip and base64: "},
		{"section twice", "apply a\n-- a --\n-- a --\n", "f:3: section a occurs twice: the first is on line 2"},
		{"missing section", "apply word.yaml\n" + world, "f:1: apply: no section word.yaml; did you mean world.yaml?"},
		{"no sections", "apply world.yaml\n", "f:1: apply: no section world.yaml: the file has no sections"},
		{"unused section", "settle\n" + world, "f:2: section world.yaml is not used by any step"},
		{"unknown controller", "controllers replicaste\n",
			"f:1: controllers: unknown controller replicaste; did you mean replicaset?"},
		{"unknown era", "controllers replicaset@contrlref\n",
			"f:1: controllers: unknown era contrlref of replicaset; did you mean controllerref?"},
		{"no near controller", "controllers zzzzzzzz\n",
			"f:1: controllers: unknown controller zzzzzzzz; there are cronjob, daemonset, "},
		{"no eras", "controllers podgc@old\n",
			"f:1: controllers: unknown era old of podgc, which is the same in all of them"},
		{"unknown in a list", "controllers *,-jb\n", "f:1: controllers: unknown controller jb; did you mean job?"},
		{"empty list", "controllers ,\n", "f:1: controllers: too few arguments"},
		{"field of a kind", "get pods path=spec\n",
			"f:1: get: path picks a field of one object: name one, as pods/NAME"},
		{"element of a list", "get pod/p path=spec.containers[0].name\n",
			"f:1: get: path=spec.containers[0].name: a field is names with a dot between"},
		{"field without a name", "get pod/p path=spec..x\n", "f:1: get: path=spec..x: a field is names"},
		{"started twice", "controllers replicaset\ncontrollers replicaset\n",
			"f:2: controllers: replicaset runs already"},
		{"unknown process", "controllers replicaset\nhold replicset sees=Pod\n",
			"f:2: hold: unknown process replicset; did you mean replicaset?"},
		{"no process", "crash replicaset\n", "f:1: crash: unknown process replicaset: none is running"},
		{"unknown kind", "controllers replicaset\nhold replicaset sees=Pood\n",
			"f:2: hold: unknown kind Pood; did you mean Pod?"},
		{"not an object", "delete p1\n", "f:1: delete: p1 is not an object: write KIND/NAME"},
		{"unknown law", "laws dont-interfer\n", "f:1: laws: unknown law dont-interfer; did you mean dont-interfere?"},
		{"unknown mutant", "mutant replicaset/skip-rechek\n",
			"f:1: mutant: unknown mutant replicaset/skip-rechek; did you mean replicaset/skip-recheck?"},
		{"unknown fault", "explore faults=crsh:1\n", "f:1: explore: faults: unknown fault crsh; did you mean crash?"},
		{"bad duration", "advance 5\n", "f:1: advance: 5 is not a duration"},
		{"bad patch", "patch pod/p1 '{a: ['\n", "f:1: patch: bad patch"},
		{"bad label", "label pod/p1 app\n", "f:1: label: app is neither KEY=VALUE nor KEY-"},
		{"bad yaml", "apply w\n-- w --\napiVersion: v1\nkind: Pod\nmetadata: {name: p1\n", "f:"},
		{"tab in yaml", "apply w\n-- w --\napiVersion: v1\nkind: Pod\n\tmetadata: {}\n", "f:5: bad YAML in w"},
		{"key twice", "apply w\n-- w --\napiVersion: v1\nkind: Pod\nkind: Pod\n",
			"f:5: bad YAML in w: mapping key \"kind\" already defined"},
		{"no kind", "apply w\n-- w --\n\napiVersion: v1\n",
			"f:4: bad manifest in w: apiVersion and kind must be given"},
		{"unknown manifest kind", "apply w\n-- w --\napiVersion: v1\nkind: Pdo\n",
			"f:4: unknown kind Pdo; did you mean Pod?"},
		{"unknown version", "apply w\n-- w --\napiVersion: v2\nkind: Pod\n",
			"f:3: unknown apiVersion v2 of Pod; did you mean v1?"},
		{"unknown field", "apply world.yaml\n" + strings.Replace(world, "  replicas: 2", "  replicaz: 2", 1),
			"f:7: unknown field spec.replicaz of ReplicaSet in world.yaml; did you mean replicas?"},
		{"unknown field in second document",
			"apply world.yaml\n" + strings.Replace(world, "{name: p1, labels:", "{name: p1, lables:", 1),
			"f:13: unknown field metadata.lables of Pod in world.yaml; did you mean labels?"},
		{"wrong type", "apply world.yaml\n" + strings.Replace(world, "  replicas: 2", "  replicas: two", 1),
			"f:7: bad ReplicaSet in world.yaml: spec.replicas: a string where a"},
		{"selector",
			"apply world.yaml\n" + strings.Replace(world, "{matchLabels: {app: web}}", "{matchLabels: {app: wbe}}", 1),
			"f:8: spec.selector app=wbe does not match the template's labels app=web"},
		{"object twice", "apply world.yaml\n" + world + "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p1}\n",
			"f:16: pod/p1 occurs twice in world.yaml: the first is on line 11"},
		{"no manifest", "apply w\n-- w --\n# nothing\n", "f:2: section w holds no manifest"},
		{"no name", "apply w\n-- w --\napiVersion: v1\nkind: Pod\n", "f:3: Pod without metadata.name"},
		{"other version", "schedule s\n-- s --\nthreelaws schedule 99\n",
			"f:3: section s is a schedule of another version: \"threelaws schedule 99\""},
		{"no schedule", "schedule s\n-- s --\nwork replicaset\n", "f:3: section s is no schedule"},
		{"bad entry", "schedule s\n-- s --\nthreelaws schedule 1\nwrok replicaset\n", "f:4: bad schedule"},
		{"late schedule", "settle\nschedule s\n-- s --\nthreelaws schedule 1\n",
			"f:2: schedule: a schedule holds for the whole file: put it first"},
	}
	g := registry()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f, err := scenarios.Parse("f", []byte(c.text))
			if err == nil {
				err = f.Check(g)
			}
			if err == nil {
				t.Fatalf("no error, want %q", c.want)
			}
			if !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("error is\n%s\nwant\n%s", err, c.want)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error has more than one line:\n%s", err)
			}
			var e *scenarios.Error
			if !errors.As(err, &e) || e.Code != scenarios.ExitUsage {
				t.Errorf("error is %#v, want exit code 2", err)
			}
		})
	}
}

func TestParse(t *testing.T) {
	text := "# set\n# up. And more\n# of it\n\ncontrollers a b@c\n! settle limit=20 quiet\n----\nx\n  y\n\n# " +
		"then\nlabel pod/p 'a " +
		"b=c d' --x=1 -y\n----\n(none)\n-- w --\nbody\n"
	text = strings.Replace(text, "--x=1 -y", "e-", 1)
	f, err := scenarios.Parse("f", []byte(text))
	must(t, err)
	if got := string(f.Format()); got != text {
		t.Errorf("Format differs:\n%s", got)
	}
	s := f.Steps[1]
	if !s.Expect || s.Line != 6 || s.Phase != "set up." || s.Golden != "x\n  y\n" || !s.Has("quiet") {
		t.Errorf("second step is %+v", s)
	}
	if v, ok := s.Param("limit"); v != "20" || !ok {
		t.Errorf("limit is %q, %v", v, ok)
	}
	if got := f.Steps[2].String(); got != "label pod/p 'a b=c d' e-" {
		t.Errorf("third step renders as %s", got)
	}
	f.Steps[1].Golden = "z\n"
	want := strings.Replace(text, "x\n  y\n", "z\n", 1)
	if got := string(f.Format()); got != want {
		t.Errorf("Format with new golden text:\n%s", got)
	}
}

// Each verb has documentation, and its example can be parsed.
func TestVerbs(t *testing.T) {
	for _, v := range scenarios.Verbs() {
		if v.Name == "" || v.Summary == "" || v.Detail == "" || v.Example == "" {
			t.Errorf("verb %s is not documented", v.Name)
		}
		f, err := scenarios.Parse("example", []byte(v.Example+"\n"))
		if err != nil {
			t.Errorf("the example of %s: %v", v.Name, err)
			continue
		}
		used := false
		for _, s := range f.Steps {
			used = used || s.Verb == v.Name
		}
		if !used {
			t.Errorf("the example of %s does not use it", v.Name)
		}
		if h := v.Help(); !strings.Contains(h, v.Summary) {
			t.Errorf("help of %s:\n%s", v.Name, h)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("controllers replicaset\napply world.yaml\nsettle\n----\n  1  0s\n\n! settle limit=3\n" + world))
	f.Add([]byte("label pod/p 'a b' \"c\\\"d\"\n----\n(none)"))
	f.Add([]byte("schedule s\n-- s --\nthreelaws schedule 1\nwork replicaset\n"))
	f.Add([]byte("# a\r\nsettle quiet\r\n----\r\nx\r\n\r\n"))
	g := registry()
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := scenarios.Parse("f", data)
		if err != nil {
			return
		}
		text := a.Format()
		if string(text) != string(data) {
			t.Fatalf("Format changed the file:\n%q\n%q", data, text)
		}
		b, err := scenarios.Parse("f", text)
		if err != nil {
			t.Fatalf("what Format wrote does not parse: %v", err)
		}
		if len(a.Steps) != len(b.Steps) {
			t.Fatal("the file changed in a round trip")
		}
		for i, s := range a.Steps {
			again, err := scenarios.Parse("f", []byte(s.String()+"\n"))
			if err != nil || len(again.Steps) != 1 || again.Steps[0].String() != s.String() {
				t.Fatalf("step %q does not survive: %v", s.String(), err)
			}
			s.Golden = b.Steps[i].Golden + "more\n"
		}
		if _, err := scenarios.Parse("f", a.Format()); err != nil {
			t.Fatalf("the file with new golden text does not parse: %v", err)
		}
		_ = a.Check(g)
	})
}

// A list of controllers has the same meaning as for kube-controller-manager.
func TestChoose(t *testing.T) {
	g := &scenarios.Registry{
		Controllers: []host.Controller{{Name: "a", Era: "old"}, {Name: "a", Era: "new"}, {Name: "b"},
			{Name: "kubelet"}},
		Managed: []string{"a", "b"}, Absent: []string{"c"}, Aliases: map[string]string{"a-controller": "a"},
	}
	for _, c := range []struct{ list, want string }{
		{"", ""},
		{"a", "a@new"},
		{"a-controller@old b", "a@old b"},
		{"*", "a@new b"},
		{"all", "a@new b kubelet"},
		{"* -b", "a@new"},
		{"-b *", "a@new"},
		{"* -b b", "a@new"},
		{"b * -b", "a@new b"},
		{"* kubelet", "a@new b kubelet"},
		{"* a@old", "a@old b"},
		{"*@old", "a@old b"},
		{"all@old -a", "b kubelet"},
		{"a a-controller", "! a is named twice"},
		{"-b", "! -b excludes a controller of no list: name * or all as well"},
		{"* -*", "! -* leaves nothing"},
		{"*@older", "! unknown era older; did you mean old?"},
		{"c", "! c is one of kube-controller-manager's controllers, and is not here"},
		{"* -c", "a@new b"},
		{"kubelt", "! unknown controller kubelt; did you mean kubelet?"},
	} {
		chosen, what := g.Choose(strings.Fields(c.list))
		got := ""
		for i := range chosen {
			got += " " + chosen[i].FullName()
		}
		if what != "" {
			got = " ! " + what
		}
		if strings.TrimSpace(got) != c.want {
			t.Errorf("%q is%s, want %s", c.list, got, c.want)
		}
	}
}

const pods = `# the first
apiVersion: v1
kind: Pod
metadata: {name: p1, annotations: {owner: $(uid rs/web)}}
spec: {containers: [{name: c, image: i}]}
--- # nothing but a comment
# in between
---
apiVersion: v1
kind: Pod
metadata: {name: p2, namespace: other}
spec: {containers: [{name: c, image: i}]}
`

func text(body string) manifest.Text {
	nobody := func(string) string { return "" }
	return manifest.Text{File: "f.txtar", Line: 10, Name: "w.yaml", Body: body, DefinedBy: nobody}
}

// Decode returns the line and the source text of each manifest.
func TestDecode(t *testing.T) {
	all, err := manifest.Decode(text(pods), fakeapi.New(fakeapi.Options{}))
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	a, b := all[0], all[1]
	if a.Line != 12 || b.Line != 19 {
		t.Errorf("lines %d and %d", a.Line, b.Line)
	}
	if !strings.HasPrefix(a.Text, "# the first\napiVersion") || strings.Contains(a.Text+b.Text, "---") {
		t.Errorf("texts\n%s\n%s", a.Text, b.Text)
	}
	if a.Meta().GetNamespace() != "default" || b.Ref().String() != "other/pod/p2" {
		t.Errorf("%s and %s", a.Ref(), b.Ref())
	}
	own, err := a.WithUIDs(func(_, object string) (string, error) { return "uid of " + object, nil })
	if err != nil || own.Meta().GetAnnotations()["owner"] != "uid of rs/web" {
		t.Error(own, err)
	}
	if a.Meta().GetAnnotations()["owner"] != "$(uid rs/web)" {
		t.Error("the manifest that all runs share has changed")
	}
	if same, _ := b.WithUIDs(nil); same != b {
		t.Error("a manifest without uids was copied")
	}
}

func TestDefinesKind(t *testing.T) {
	body := "kind: Other\n---\n" +
		"kind: CustomResourceDefinition\nspec: {names: {kind: Widget, plural: widgets, shortNames: [wd]}}\n"
	for name, want := range map[string]bool{"widget": true, "WD": true, "other": false, "": false} {
		if got := manifest.DefinesKind(body, name); got != want {
			t.Errorf("DefinesKind(%q) = %v", name, got)
		}
	}
}
