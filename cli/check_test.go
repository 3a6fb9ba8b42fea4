package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/threelaws/threelaws/controllers"
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/agent"
	"github.com/threelaws/threelaws/internal/check"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
)

// checked runs commands in a temporary repository on an operator that is hosted in this process.
type checked struct {
	*testing.T
	op        host.Controller
	samples   []string // paths of samples in addition to config/samples/web.yaml
	settings  settings // the settings at the last call of find
	reuse     func(agent.World) string
	own       []*unstructured.Unstructured
	crds      []*check.File // CRDs of the repository that are not installed
	mount     func(secret, dir string) string
	leaveOut  func(flag string) string
	modules   func(group, kind string) []*check.File
	named     func(kind, name, near string) []*check.File
	installed []*check.File // CRDs
	next      []*check.File // further samples of the kind of the first sample
}

func newChecked(t *testing.T, op host.Controller) *checked {
	t.Helper()
	t.Setenv("CI", "")
	t.Chdir(t.TempDir())
	c := &checked{T: t, op: op}
	write(t, "go.mod", "module example.com/operator\n")
	write(t, "config/samples/web.yaml", "# A sample.\n"+set)
	return c
}

func (c *checked) run(args ...string) outcomeOf { return c.runs(append([]string{"check"}, args...)...) }

func (c *checked) runs(args ...string) outcomeOf {
	c.Helper()
	return Command{operators: c.find}.try(c.Context(), args...)
}

func (c *checked) find(_ context.Context, s *settings) (*operator, error) {
	c.settings = *s
	var samples []*check.File
	for _, path := range append([]string{"config/samples/web.yaml"}, c.samples...) {
		sample, err := check.Read(path, []byte(read(c.T, filepath.Join(s.Dir, path))))
		if err != nil {
			return nil, err
		}
		samples = append(samples, sample)
	}
	return &operator{Name: "operator", Dir: s.Dir, Builds: "./cmd/manager", Samples: samples,
		Notes: []string{"main package ./cmd/manager, from PROJECT"},
		Reuse: c.reuse, Own: c.own, OtherCRDs: slices.Clone(c.crds), Mount: c.mount, LeaveOut: c.leaveOut, ModuleCRDs: c.modules, Named: c.named,
		CRDs: c.installed, Next: map[*check.File][]*check.File{samples[0]: c.next},
		Waits: func() []string { return []string{"main.sync waits for an RWMutex, at manager/main.go:57"} },
		Host: func(context.Context) (func(host.Controller) host.Controller, error) {
			return func(host.Controller) host.Controller { return c.op }, nil
		}}, nil
}

// current returns a controller of this module, in the era "current", without its Contract.
func current(t *testing.T, name string) host.Controller {
	for _, c := range controllers.Builtin() {
		if c.Name == name && c.Era == "current" {
			return host.Controller{Name: c.Name, For: c.For, Routes: c.Routes, New: c.New, Workers: c.Workers}
		}
	}
	t.Fatalf("there is no %s", name)
	return host.Controller{}
}

// A correct operator passes. The parts of the output come in the right order, and the check writes no file.
func TestCheckPasses(t *testing.T) {
	c := newChecked(t, current(t, "replicaset"))
	got := c.run("-n", "5")
	got.passes(t, "main package ./cmd/manager, from PROJECT\n", "builds ./cmd/manager\n",
		"replicaset, as quiet runs show it:\n", "  one-owner              5 schedules, ",
		"  deleted/background     5 schedules, ",
		"\nReplicaSet: no law is violated in what was tried. Laws of ownership: ", " held, 0 violated, ",
		" of 34 cases were explored, 0 failed; schedules: ", "\nnot judged\n", "EXACT-8", "\nheld\n", "LAW-1 ", "take-ownership",
		"evaluated ", "after it has settled, main.sync waits for an RWMutex, at manager/main.go:57\n")
	if onDisk("testdata") {
		t.Error("something is written")
	}
	explored, rest, _ := strings.Cut(got.out, "\nskipped cases\n")
	skipped, _, _ := strings.Cut(rest, "\n\n")
	for _, name := range check.Names {
		ran, left := strings.Contains(explored, fmt.Sprintf("\n  %-22s 5 schedules, ", name)),
			regexp.MustCompile(`[:,]\s+`+name+`(,|\n|$)`).MatchString(skipped)
		if ran == left {
			t.Errorf("%s: explored: %t, skipped: %t", name, ran, left)
		}
	}
}

// A given --time limits the number of schedules that --schedules asks for.
func TestCheckTimeLimitsSchedules(t *testing.T) {
	c := newChecked(t, current(t, "replicaset"))
	c.run("-n", "5", "--time", "1ms").wants(t, exitUncovered, "left out")
}

// idle is a program that prints lines and does nothing else. It ends at once if ends is set.
type idle struct {
	host.Program
	ends  error
	lines func(n int) []string
}

// hosted returns an operator that runs this program.
func (p idle) hosted() host.Controller {
	return host.Hosting(host.Controller{Name: "operator", For: appsv1.SchemeGroupVersion.WithKind("ReplicaSet")},
		func(*host.Cluster, string) host.Program { return p })
}

func (idle) Start() {}

func (idle) Kill() {}

func (idle) Asked() []*host.Call { return nil }

func (idle) Queried() []host.Query { return nil }

func (p idle) Ended() (error, bool) { return p.ends, p.ends != nil }

func (p idle) Printed(n int) []string { return p.lines(n) }

// If an operator does nothing for its samples, check prints the last error in the operator's log once. With -v it
// prints the whole log.
func TestCheckIdle(t *testing.T) {
	c := newChecked(t, idle{ends: errors.New("exit status 1; the last lines that it printed:\n\tmain.main()"), lines: func(int) []string {
		return []string{"2017-03-01T00:00:00Z\tINFO\tstarts",
			"2017-03-01T00:00:00Z\tERROR\tno cloud\t{\"error\": \"set CLOUD\"}", "main.main()", "\t/main.go:1"}
	}}.hosted())
	c.samples = []string{"b.yaml"}
	write(t, "b.yaml", strings.Replace(set, "{name: web}", "{name: b}", 1))
	got := c.run("-n", "5")
	got.wants(t, scenarios.ExitUsage, "\n2 samples: it did nothing for its owner: config/samples/web.yaml, b.yaml\n2 samples, ", "config/samples/web.yaml: it did nothing for its "+
		"owner: ", " (the program returned: exit status 1); the last error that it logged: ERROR no cloud: set CLOUD; --args, ",
		"; -v shows what it logged", "\nb.yaml: it did nothing for its owner, as with config/samples/web.yaml\n")
	if strings.Count(got.err, "\n") != 2 || strings.Contains(got.out, "set CLOUD") {
		t.Errorf("more is printed:\n%s%s", got.err, got.out)
	}
	c.run("-n", "5", "-v").wants(t, scenarios.ExitUsage, "config/samples/web.yaml: the last lines that it printed\n",
		"  2017-03-01T00:00:00Z  INFO  starts\n", "\"set CLOUD\"}\n  main.main()\n")
}

// A program that prints its usage and exits may need a subcommand.
func TestCheckExitsWithoutRequest(t *testing.T) {
	c := newChecked(t, idle{ends: errors.New("exit status 0; the last lines that it printed:\n\tCOMMANDS: run"), lines: func(int) []string {
		return []string{"COMMANDS: run"}
	}}.hosted())
	c.run("-n", "5").wants(t, scenarios.ExitUsage, " (the program returned: exit status 0 without a request; it may need a "+
		"subcommand: --args); the last lines that it printed: COMMANDS: run; --args, ")
}

// If an operator logs that an object does not exist, and another sample has this object, the message names its file.
func TestCheckIdleWithoutAnotherSample(t *testing.T) {
	for what, want := range map[string]string{
		`ReplicaSet.apps \"other\" not found`:       "; --with other.yaml gives it this object",
		`replicasets.apps \"other\" not found`:      "; --with other.yaml gives it this object",
		`Deployment.apps \"other\" not found`:       "; --args, --env and --with FILE give it what it lacks",
		`ReplicaSet.apps \"web-of-none\" not found`: "; --args, --env and --with FILE give it what it lacks",
	} {
		c := newChecked(t, idle{lines: func(int) []string {
			return []string{"2017-03-01T00:00:00Z\tERROR\tReconciler error\t{\"error\": \"" + what + "\"}"}
		}}.hosted())
		c.samples = []string{"other.yaml"}
		write(t, "other.yaml", strings.Replace(set, "{name: web}", "{name: other}", 1))
		c.run("-n", "5").wants(t, scenarios.ExitUsage, "config/samples/web.yaml: it did nothing for its owner: ", want)
	}
}

// An operator that works by the clock logs when it works next.
func TestCheckIdleUntilLater(t *testing.T) {
	for at, want := range map[string]string{"2017-03-01T19:00:00Z": "--for 19h1m0s ", "2017-03-01T20:00:00.5+01:00": "--for 19h1m0s ",
		"2017-03-01T00:00:00Z": "", "2019-03-01T00:00:00Z": ""} {
		c := newChecked(t, idle{lines: func(int) []string {
			return []string{`{"level":"info","ts":"2017-03-01T00:00:00Z","msg":"not yet","next":"` + at + `"}`}
		}}.hosted())
		got := c.run("-n", "5").err
		if strings.Contains(got, "; its log contains a later time: ") != (want != "") || !strings.Contains(got, want) {
			t.Errorf("%s:\n%s", at, got)
		}
	}
}

// If an operator logs that an object of another kind does not exist, and another sample has this object, the object is
// added in the namespace where the operator looks for it.
func TestCheckAddsObjectOfAnotherSample(t *testing.T) {
	added := " of other.yaml is added: the operator looks for it\n"
	for what, want := range map[string]string{
		`could not look up the source of the set: ConfigMap \"other\" not found`: "ConfigMap shop/other" + added,
		`configmaps \"other\" not found`:                                         "ConfigMap shop/other" + added,
		`ConfigMap \"shop/other\" not found`:                                     "ConfigMap shop/other" + added,
		`ConfigMap \"market/other\" not found`:                                   "ConfigMap market/other" + added,
		`no source fair/other: ConfigMap \"other\" not found`:                    "ConfigMap fair/other" + added,
		`ServiceAccount \"default\" not found`:                                   "ServiceAccount shop/default of each namespace is added: the operator looks for it\n",
		`ClusterRole \"other\" not found`:                                        "ClusterRole other" + added,
		`ConfigMap \"web-of-none\" not found`:                                    "",
	} {
		c := newChecked(t, idle{lines: func(int) []string {
			return []string{"2017-03-01T00:00:00Z\tERROR\tReconciler error\t{\"error\": \"" + what + "\"}"}
		}}.hosted())
		c.samples = []string{"other.yaml"}
		write(t, "config/samples/web.yaml", strings.Replace(set, "{name: web}", "{name: web, namespace: shop}", 1))
		write(t, "other.yaml", strings.Replace(set, "{name: web}", "{name: other}", 1)+`---
apiVersion: v1
kind: Namespace
metadata: {name: fair}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other, namespace: fair}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: other}
`)
		got := c.run("-n", "5")
		got.wants(t, scenarios.ExitUsage, want, "config/samples/web.yaml: it did nothing for its owner: ")
		if strings.Count(got.out, added) > 2 || want == "" && strings.Contains(got.out, added) || want != "" && strings.Contains(got.err, "gives it this object") {
			t.Errorf("%s: want %q\n%s%s", what, want, got.out, got.err)
		}
	}
}

// If the sample has no namespace, an object of another sample is added in the operator's namespace, once.
func TestCheckAddsObjectForClusterScopedSample(t *testing.T) {
	crd, err := check.Read("config/crd/bases/tunnels.yaml", []byte(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tunnels.example.com}
spec:
  group: example.com
  names: {kind: Tunnel, plural: tunnels}
  scope: Cluster
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`))
	must(t, err)
	c := newChecked(t, host.Hosting(host.Controller{Name: "operator"}, func(*host.Cluster, string) host.Program {
		return idle{lines: func(int) []string { return []string{"2017-03-01T00:00:00Z\tERROR\tSecret \"token\" not found"} }}
	}))
	c.installed = []*check.File{crd}
	c.own = []*unstructured.Unstructured{{Object: map[string]any{"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"name": "operator", "namespace": "system"}}}}
	c.samples = []string{"other.yaml"}
	write(t, "config/samples/web.yaml", "apiVersion: example.com/v1\nkind: Tunnel\nmetadata: {name: web}\n")
	write(t, "other.yaml", set+"---\napiVersion: v1\nkind: Secret\nmetadata: {name: token}\n")
	got := c.run("-n", "5")
	if n := strings.Count(got.out, "Secret system/token of other.yaml is added: the operator looks for it\n"); n != 1 {
		t.Errorf("added %d times\n%s%s", n, got.out, got.err)
	}
}

// An object that is only in a further sample of a kind is added too.
func TestCheckAddsObjectOfNextSample(t *testing.T) {
	c := newChecked(t, idle{lines: func(int) []string {
		return []string{"2017-03-01T00:00:00Z\tERROR\tConfigMap \"other\" not found"}
	}}.hosted())
	next, err := check.Read("next.yaml", []byte(set+"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n"))
	must(t, err)
	c.next = []*check.File{next}
	want := "ConfigMap default/other of next.yaml is added: the operator looks for it\n"
	if out := c.run("-n", "5").out; strings.Count(out, want) != 1 {
		t.Error(out)
	}
}

// An object that the sample names and that no file has is made up. Others, which the operator may create, are not.
func TestCheckMakesUpObjects(t *testing.T) {
	for said, want := range map[string]string{
		`PersistentVolumeClaim \"source\" not found`:  "PersistentVolumeClaim default/source is made up: ",
		`persistentvolumeclaims \"source\" not found`: "PersistentVolumeClaim default/source is made up: ",
		`PersistentVolumeClaim \"other\" not found`:   "",
		`Secret \"source\" not found`:                 "",
		`Secret \"license\" not found`:                "Secret default/license is made up: ",
		`ConfigMap \"license\" not found`:             "",
		`ConfigMap \"settings\" not found`:            "ConfigMap default/settings is made up: ",
		`Node \"web\" not found`:                      "Node web is made up: ",
		`invalid, no node with name web found`:        "Node web is made up: ",
		`namespaces \"web-system\" not found`:         "Namespace web-system is made up: ",
		`the pull secret does not exist`:              "Secret default/license is made up: ",
		`no ConfigMap, its name is not found`:         "ConfigMap default/settings is made up: ",
		`secrets are forbidden`:                       "",
		`Pod \"source\" not found`:                    "",
	} {
		c := newChecked(t, idle{lines: func(int) []string { return []string{"2017-03-01T00:00:00Z\tERROR\t{\"error\": \"" + said + "\"}"} }}.hosted())
		write(t, "config/samples/web.yaml", strings.Replace(set, "{containers: [{name: c, image: i}]}",
			"{containers: [{name: c, image: i, envFrom: [{secretRef: {name: license}}, {configMapRef: {name: settings}}]}], "+
				"volumes: [{name: v, persistentVolumeClaim: {claimName: source}}]}", 1))
		if out := c.run("-n", "5").out; strings.Count(out, " is made up: ") != min(len(want), 1) || !strings.Contains(out, want) {
			t.Errorf("%s: want %q\n%s", said, want, out)
		}
	}
}

// If the operator has asked for an absent object, its log need not say so.
func TestCheckMakesUpWhatWasAskedFor(t *testing.T) {
	op := current(t, "replicaset")
	right := op.New
	op.New = func(env *host.Env) host.Reconciler {
		return host.SyncFunc(func(ctx context.Context, key string) error {
			if _, err := env.Client.Get(ctx, corev1.SchemeGroupVersion.WithKind("Secret"), "default", "license"); err != nil {
				return errors.New("no license")
			}
			return right(env).Sync(ctx, key)
		})
	}
	c := newChecked(t, op)
	write(t, "config/samples/web.yaml", strings.Replace(set, "image: i}", "image: i, envFrom: [{secretRef: {name: license}}]}", 1))
	c.run("-n", "1", "--case", "one-owner").wants(t, 0, "Secret default/license is made up: ")
}

// If an operator does nothing without a StorageClass or a Node, it gets those that almost every cluster has.
func TestCheckMakesUpWhatClustersHave(t *testing.T) {
	op := current(t, "replicaset")
	right := op.New
	op.New = func(env *host.Env) host.Reconciler {
		return host.SyncFunc(func(ctx context.Context, key string) error {
			for _, kind := range []schema.GroupVersionKind{storagev1.SchemeGroupVersion.WithKind("StorageClass"), corev1.SchemeGroupVersion.WithKind("Node")} {
				if all, err := env.Client.List(ctx, kind, "", metav1.ListOptions{}); err != nil || len(all) == 0 {
					return errors.New("no " + kind.Kind)
				}
			}
			return right(env).Sync(ctx, key)
		})
	}
	newChecked(t, op).run("-n", "1", "--case", "one-owner").wants(t, 0, "StorageClass standard is made up: ", "Node node is made up: ")
}

// If an operator does nothing for a sample, another sample that it names is added, and what that one names.
func TestCheckAddsNamedSample(t *testing.T) {
	c := newChecked(t, idle{lines: func(int) []string { return nil }}.hosted())
	c.samples = []string{"other.yaml", "third.yaml"}
	write(t, "config/samples/web.yaml", strings.Replace(set, "image: i}", "image: i, env: [{name: CLUSTER, value: other}]}", 1))
	write(t, "other.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: other}\nspec: {ports: [{port: 1}], selector: {app: third}}\n")
	write(t, "third.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: third}\n")
	out := c.run("-n", "5").out
	for _, want := range []string{"Service default/other of other.yaml is added: the sample names it\n",
		"ConfigMap default/third of third.yaml is added: service/other names it\n"} {
		if strings.Count(out, want) != 1 {
			t.Errorf("want %s\n%s", want, out)
		}
	}
}

// An object that a sample names is left out again if the server refuses it.
func TestCheckAddsNoRefusedSample(t *testing.T) {
	c := newChecked(t, idle{lines: func(int) []string { return nil }}.hosted())
	c.samples = []string{"other.yaml"}
	write(t, "config/samples/web.yaml", strings.Replace(set, "image: i}", "image: i, env: [{name: CLUSTER, value: other}]}", 1))
	write(t, "other.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: other}\nspec: {ports: [{port: -1}]}\n")
	c.run("-n", "5").wants(t, scenarios.ExitUsage, "Service default/other of other.yaml is added: the sample names it\n",
		"Service default/other is left out again: the server refuses svc/other: ", "it did nothing for its owner")
}

// If a sample was added to another sample, and the server refuses it in its own file, it stays in its own file.
func TestCheckRefusesSampleThatWasAdded(t *testing.T) {
	op := idle{lines: func(int) []string { return nil }}.hosted()
	op.For = schema.GroupVersionKind{}
	c := newChecked(t, op)
	c.samples = []string{"other.yaml"}
	write(t, "config/samples/web.yaml", strings.Replace(set, "image: i}", "image: i, env: [{name: CLUSTER, value: other}]}", 1))
	write(t, "other.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: other, namespace: default}\nspec: {ports: [{port: -1}]}\n")
	got := c.run("-n", "5")
	got.wants(t, scenarios.ExitUsage, "Service default/other is left out again: ", "other.yaml:4: the server refuses svc/other: ")
	if n := strings.Count(got.out, " is left out again: "); n != 1 {
		t.Errorf("%d objects are left out again:\n%s", n, got.out)
	}
}

// An object of a file is added even if the operator creates something without it, unless the operator creates the object.
func TestCheckAddsToWorkingSample(t *testing.T) {
	for _, creates := range []bool{false, true} {
		op := current(t, "replicaset")
		right := op.New
		op.New = func(env *host.Env) host.Reconciler {
			return host.SyncFunc(func(ctx context.Context, key string) error {
				_, err := env.Client.Get(ctx, corev1.SchemeGroupVersion.WithKind("ConfigMap"), "default", "other")
				if creates && err != nil {
					m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "other", Namespace: "default"}}
					if _, err := env.Client.Create(ctx, m); err != nil {
						return err
					}
				}
				return right(env).Sync(ctx, key)
			})
		}
		c := newChecked(t, op)
		c.samples = []string{"other.yaml"}
		write(t, "other.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n")
		got := c.run("-n", "1", "--case", "one-owner")
		if strings.Contains(got.out, "ConfigMap default/other of other.yaml is added: ") == creates {
			t.Errorf("creates: %t\n%s%s", creates, got.out, got.err)
		}
	}
}

// A CRD that is made up also serves other versions: a program may look for another one than it watches.
func TestMadeUpCRDServesSeveralVersions(t *testing.T) {
	made := (&operator{}).madeCRDs(`no matches for kind "TaskRun" in version "tekton.dev/v1"`)
	if len(made) != 1 {
		t.Fatalf("%d CRDs", len(made))
	}
	versions, _, _ := unstructured.NestedSlice(made[0].Objects[0].Object, "spec", "versions")
	served := ""
	for _, v := range versions {
		version := v.(map[string]any)
		served += fmt.Sprintf("%s %t ", version["name"], version["storage"])
	}
	if want := "v1 true v1beta1 false v1alpha1 false "; served != want {
		t.Errorf("served and stored: %s, want %s", served, want)
	}
}

// A kind that the operator does not find gets a CRD without a schema, if no file defines it.
func TestCheckMakesUpCRD(t *testing.T) {
	for said, want := range map[string]string{
		`no matches for kind \"Mesh\" in version \"mesh.example.org/v1beta1\"`: "CRD meshs.mesh.example.org is made up without a schema: ",
		`no matches for kind \"PodSecurityPolicy\" in version \"policy/v1\"`:   "",
	} {
		c := newChecked(t, idle{lines: func(int) []string {
			return []string{"1.4883272143799782e+09\tERROR\t{\"error\": \"" + said + "\"}"}
		}}.hosted())
		if out := c.run("-n", "5").out; strings.Count(out, " is made up ") != min(len(want), 1) || !strings.Contains(out, want) {
			t.Errorf("%s: want %q\n%s", said, want, out)
		}
	}
}

// A replay of a failure adds the same objects of other samples.
func TestCheckReplaysWithAddedObject(t *testing.T) {
	op := current(t, "replicaset")
	right := op.New
	op.New = func(env *host.Env) host.Reconciler {
		return host.SyncFunc(func(ctx context.Context, key string) error {
			if _, err := env.Client.Get(ctx, corev1.SchemeGroupVersion.WithKind("ConfigMap"), "default", "other"); err != nil {
				return err
			}
			_, first := env.Client.Get(ctx, corev1.SchemeGroupVersion.WithKind("Pod"), "default", "web-1")
			if err := right(env).Sync(ctx, key); first == nil {
				return err
			}
			panic("no luck")
		})
	}
	c := newChecked(t, op)
	c.samples = []string{"other.yaml"}
	write(t, "other.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n")
	added := "ConfigMap default/other of other.yaml is added: the operator looks for it\n"
	got := c.run("-n", "3", "--case", "one-owner")
	got.wants(t, scenarios.ExitFail, added, " VIOLATES never-panic: ")
	kept, _ := filepath.Glob("testdata/threelaws/*/*.txtar")
	if len(kept) == 0 {
		t.Fatalf("nothing is kept:\n%s", got.out)
	}
	c.run("--replay", filepath.ToSlash(kept[0])).wants(t, scenarios.ExitFail, added, " VIOLATES never-panic: ")
}

// If an operator does not find the certificate of its webhooks, check mounts one.
func TestCheckAddsCertificate(t *testing.T) {
	for said, dir := range map[string]string{
		"open /tmp/certs/tls.crt: no such file or directory": "/tmp/certs",
		"open /certs/tls.key: no such file or directory":     "/certs",
		"open /certs/other.crt: no such file or directory":   "",
	} {
		c := newChecked(t, idle{lines: func(int) []string { return []string{"2017-03-01T00:00:00Z\tERROR\t" + said} }}.hosted())
		c.mount = func(secret, at string) string {
			if at != dir || secret == "" {
				t.Errorf("%s: the Secret %q is mounted at %s", said, secret, at)
			}
			return "default"
		}
		added := "a certificate is added in " + dir + ": the operator reads it, and nothing that check installs creates it\n"
		if out := c.run("-n", "5").out; strings.Count(out, "a certificate is added") != min(len(dir), 1) || dir != "" && !strings.Contains(out, added) {
			t.Errorf("%s:\n%s", said, out)
		}
	}
}

// A panic that occurs in each case is shown once.
func TestCheckPanics(t *testing.T) {
	op := current(t, "replicaset")
	right := op.New
	op.New = func(env *host.Env) host.Reconciler {
		return host.SyncFunc(func(ctx context.Context, key string) error {
			_, first := env.Client.Get(ctx, corev1.SchemeGroupVersion.WithKind("Pod"), "default", "web-1")
			if err := right(env).Sync(ctx, key); first == nil {
				return err
			}
			panic("no luck")
		})
	}
	out := newChecked(t, op).run("-n", "3", "--case", "one-owner,two-owners").out
	if strings.Count(out, " VIOLATES never-panic: ") != 1 || !strings.Contains(out, "\n    never-panic violated as in one-owner: ") {
		t.Error(out)
	}
}

// A sample file may also hold the Namespace of its objects, even after them.
func TestCheckNamespaceOfSample(t *testing.T) {
	c := newChecked(t, current(t, "replicaset"))
	sample := strings.Replace(set, "{name: web}", "{name: web, namespace: shop}", 1)
	write(t, "config/samples/web.yaml", sample+"---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {a: b}}\n")
	c.run("-n", "1", "--case", "one-owner").passes(t, "\nReplicaSet: no law is violated in what was tried. ")
}

// The operator's own Deployment is created in the cluster if the operator looks for it. If it looks for its Pod, the Pods
// of all its instances are created. The Service of the API server is created in the same way.
func TestCheckOwn(t *testing.T) {
	own := func(apiVersion, kind, name string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{
			"name": name, "namespace": "default"}, "spec": map[string]any{"containers": []any{map[string]any{"name": "a", "image": "b"}}}}}
	}
	deployment, added := own("apps/v1", "Deployment", "manager"), " is added: the operator reads its own\n"
	delete(deployment.Object, "spec")
	for missing, want := range map[string]string{`deployments.apps "manager" not found`: "Deployment default/manager" + added,
		`{"error":"no operator deployment found"}`: "Deployment default/manager" + added,
		`{"error":"pods \"manager\" not found"}`:   "",
		`Service "kubernetes" not found`:           "Service default/kubernetes is added: the operator reads that of the API server\n",
		`{"error":"pods \"manager-0\" not found"}`: "Pod default/manager-0" + added + "Pod default/manager-1" + added} {
		c := newChecked(t, idle{lines: func(int) []string { return []string{missing} }}.hosted())
		c.own = append(c.own, deployment, own("v1", "Pod", "manager-0"), own("v1", "Pod", "manager-1"))
		if out := c.run("-n", "5").out; !strings.Contains(out, want) || strings.Count(out, added) != strings.Count(want, added) {
			t.Errorf("%s: want %q\n%s", missing, want, out)
		}
	}
}

// The samples for which the operator creates objects come first.
func TestCheckBeginsWithDependents(t *testing.T) {
	c := newChecked(t, current(t, "replicaset"))
	c.samples = []string{"b.yaml"}
	write(t, "config/samples/web.yaml", strings.Replace(set, "spec:\n", "spec:\n  replicas: 0\n", 1))
	write(t, "b.yaml", strings.Replace(set, "{name: web}", "{name: b}", 1))
	got := c.run("--time", "3s", "--case", "one-owner")
	first, second := strings.Index(got.out, "=== b.yaml"), strings.Index(got.out, "=== config/samples/web.yaml")
	if first < 0 || second < first {
		t.Errorf("%s%s", got.out, got.err)
	}
}

// nextIsB adds b.yaml as a further sample of the kind: the same with another name.
func (c *checked) nextIsB(t *testing.T) {
	t.Helper()
	write(t, "b.yaml", strings.Replace(set, "{name: web}", "{name: b}", 1))
	next, err := check.Read("b.yaml", []byte(read(t, "b.yaml")))
	must(t, err)
	c.next = []*check.File{next}
}

// If the operator creates nothing for a sample, another sample of its kind is tried. A replay names this sample.
func TestCheckTriesSampleWithDependents(t *testing.T) {
	op := sloppy()
	creates := op.New
	op.New = func(env *host.Env) host.Reconciler {
		return host.SyncFunc(func(ctx context.Context, key string) error {
			if strings.HasSuffix(key, "/web") {
				return nil
			}
			return creates(env).Sync(ctx, key)
		})
	}
	c := newChecked(t, op)
	c.nextIsB(t)
	c.run("--time", "6s", "--case", "two-owners").wants(t, scenarios.ExitFail,
		"b.yaml is tried instead of config/samples/web.yaml, of the same kind: 1 object of what the operator creates for it",
		" --sample b.yaml --replay testdata/threelaws/replicaset-two-owners/")
}

// A sample for which the operator creates an object and reports an error is not replaced by one with more objects and the
// same error.
func TestCheckKeepsSampleWithCommonError(t *testing.T) {
	for _, common := range []bool{true, false} {
		op := sloppy()
		creates := op.New
		op.New = func(env *host.Env) host.Reconciler {
			return host.SyncFunc(func(ctx context.Context, key string) error {
				ns, name, _ := strings.Cut(key, "/")
				owner, err := env.Client.Get(ctx, op.For, ns, name)
				if err != nil {
					return nil
				}
				rs := owner.(*appsv1.ReplicaSet).DeepCopy()
				if name == "b" {
					_, _ = env.Client.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
						Namespace: ns, Name: "more", OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(rs, op.For)}}})
				}
				if len(rs.Status.Conditions) == 0 && (common || name == "web") {
					rs.Status.Conditions = []appsv1.ReplicaSetCondition{{Type: "Ready", Status: corev1.ConditionFalse,
						Message: "no certificate yet"}}
					if _, err := env.Client.UpdateStatus(ctx, rs); err != nil {
						return err
					}
				}
				return creates(env).Sync(ctx, key)
			})
		}
		c := newChecked(t, op)
		c.nextIsB(t)
		if got := c.run("--time", "6s", "-n", "5", "--case", "one-owner").out; strings.Contains(got, "b.yaml is tried instead") == common {
			t.Errorf("with the same error for both samples: %v\n%s", common, got)
		}
	}
}

// A case is explored even if its kept failure cannot be replayed.
func TestCheckExploresBesideUnfitFailure(t *testing.T) {
	c := newChecked(t, current(t, "replicaset"))
	write(t, "testdata/threelaws/replicaset-one-owner/always-settle-0001.txtar", "no failure\n")
	c.run("-n", "2", "--case", "one-owner").wants(t, scenarios.ExitUsage, "  one-owner              2 schedules", "always-settle-0001.txtar")
}

// If the server refuses a sample, the next sample of its kind is tried.
func TestCheckTriesNextSample(t *testing.T) {
	c := newChecked(t, current(t, "replicaset"))
	write(t, "config/samples/web.yaml", strings.Replace(set, "matchLabels: {", "matchLabels: {other: x, ", 1))
	for _, path := range []string{"again.yaml", "good.yaml"} {
		write(t, path, set)
		if path == "again.yaml" {
			write(t, path, strings.Replace(set, "name: web", "name: WEB", 1))
		}
		next, err := check.Read(path, []byte(read(t, path)))
		must(t, err)
		c.next = append(c.next, next)
	}
	got := c.run("-n", "5", "--case", "one-owner")
	got.passes(t, "the server refuses rs/web: ", "; the next sample of its kind is tried: again.yaml\n",
		"; the next sample of its kind is tried: good.yaml\n", "  one-owner              5 schedules, ")
	if n := strings.Count(got.out, "regex used for validation"); n > 1 {
		t.Errorf("the expression is printed %d times:\n%s", n, got.out)
	}
}

// An argument that the operator does not know is left out.
func TestCheckLeavesOutArguments(t *testing.T) {
	for said, want := range map[string]string{
		"flag provided but not defined: -metrics-addr":            "argument --metrics-addr=:8080 is left out: the operator does not know it\n",
		"Error: unknown flag: --metrics-addr":                     "argument --metrics-addr=:8080 is left out: the operator does not know it\n",
		"error: unknown long flag '--zone'":                       "argument --zone eu is left out: the operator does not know it\n",
		"unknown flag: --none":                                    "",
		"ERROR cannot read the metrics of --metrics-addr, failed": "",
	} {
		args := []string{"--metrics-addr=:8080", "--zone", "eu", "--leader-elect", "--v=1"}
		c := newChecked(t, idle{ends: errors.New("exit status 2"), lines: func(int) []string { return []string{said} }}.hosted())
		c.leaveOut = func(flag string) (argument string) {
			args, argument = without(args, flag)
			return argument
		}
		if out := c.run("-n", "5").out; strings.Count(out, " is left out: ") != strings.Count(want, " is left out: ") || !strings.Contains(out, want) {
			t.Errorf("%s: want %q\n%s", said, want, out)
		}
		if len(want) > 0 && len(args) > 4 {
			t.Error(args)
		}
	}
}

// gears returns the CRD of a module.
func gears(t *testing.T) *check.File {
	t.Helper()
	crd, err := check.Read("example.org/gears@v1.0.0/config/crd/gears.yaml", []byte(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gears.example.com}
spec:
  group: example.com
  names: {kind: Gear, plural: gears}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`))
	must(t, err)
	return crd
}

// A CRD that neither the repository nor the server has may be in a module.
func TestCheckModuleCRDs(t *testing.T) {
	c := newChecked(t, idle{lines: func(int) []string {
		return []string{"2017-03-01T00:00:00Z\tERROR\tno matches for kind \"Gear\" in version \"example.com/v1\""}
	}}.hosted())
	c.modules = func(group, kind string) []*check.File {
		if group != "example.com" || kind != "Gear" {
			t.Error(group, kind)
		}
		return []*check.File{gears(t)}
	}
	if out := c.run("-n", "5").out; strings.Count(out, "CRD gears.example.com of example.org/gears@v1.0.0/config/crd/gears.yaml is added: ") != 1 {
		t.Error(out)
	}
}

// complaining is a program that only writes the status of the sample, once in each life.
type complaining struct {
	idle
	server *fakeapi.Server
	asked  bool
}

func (p *complaining) Start() { p.asked = false }

func (p *complaining) Asked() []*host.Call {
	if p.asked {
		return nil
	}
	p.asked = true
	const status = `{"status":{"conditions":[{"type":"Ready","status":"False","message":"secrets \"login\" not found"}]}}`
	return []*host.Call{host.NewCall(&fakeapi.Request{Verb: fakeapi.Patch, Kind: p.server.KindNamed("replicaset"), Namespace: "default",
		Name: "web", Subresource: "status", PatchType: types.MergePatchType, Patch: []byte(status)}, false, 1, func() bool { return false })}
}

func (p *complaining) Answer(*host.Call) {}

// narrow is a program that only watches ReplicaSets in the namespace shop. It writes to the one that it is shown.
type narrow struct {
	idle
	server *fakeapi.Server
	next   []*host.Call
}

func (p *narrow) call(req *fakeapi.Request, watches bool) {
	req.Kind, req.Namespace = p.server.KindNamed("replicaset"), "shop"
	p.next = append(p.next, host.NewCall(req, watches, 1, func() bool { return false }))
}

func (p *narrow) Start() {
	p.next = nil
	p.call(&fakeapi.Request{Verb: fakeapi.List}, true)
}

func (p *narrow) Asked() []*host.Call {
	asked := p.next
	p.next = nil
	return asked
}

func (p *narrow) Answer(*host.Call) {}

func (p *narrow) Send(_ *host.Stream, e watch.Event) {
	if e.Type == watch.Added {
		p.call(&fakeapi.Request{Verb: fakeapi.Patch, Name: "web", PatchType: types.MergePatchType, Patch: []byte(`{"metadata":{"labels":{"seen":"yes"}}}`)}, false)
	}
}

// A sample without a namespace is moved to the only namespace in which the operator watches its kind.
func TestCheckMovesTheSample(t *testing.T) {
	for namespace, want := range map[string]string{"": "the sample is moved to the namespace shop: ", "garden": "it watches the kind ReplicaSet only in the namespace shop"} {
		c := newChecked(t, host.Hosting(host.Controller{Name: "operator", For: appsv1.SchemeGroupVersion.WithKind("ReplicaSet")},
			func(c *host.Cluster, _ string) host.Program {
				return &narrow{idle: idle{lines: func(int) []string { return nil }}, server: c.Server()}
			}))
		write(t, "config/samples/web.yaml", strings.Replace(set, "{name: web}", "{name: web, namespace: "+cmp.Or(namespace, "default")+"}", 1)+
			"---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: garden}\n")
		got := c.run("-n", "1")
		if all := got.out + got.err; !strings.Contains(all, want) || strings.Contains(all, "did nothing") == (namespace == "") {
			t.Errorf("%s:\n%s", namespace, all)
		}
	}
}

// An operator may say only in the status of the sample that it does not find an object.
func TestCheckReadsStatus(t *testing.T) {
	c := newChecked(t, host.Hosting(host.Controller{Name: "operator", For: appsv1.SchemeGroupVersion.WithKind("ReplicaSet")},
		func(c *host.Cluster, _ string) host.Program {
			return &complaining{idle: idle{lines: func(int) []string { return nil }}, server: c.Server()}
		}))
	secret, err := check.Read("docs/secret.yaml", []byte("apiVersion: v1\nkind: Secret\nmetadata: {name: login}\n"))
	must(t, err)
	c.named = func(string, string, string) []*check.File { return []*check.File{secret} }
	if out := c.run("-n", "1").out; !strings.Contains(out, "Secret default/login of docs/secret.yaml is added: the operator looks for it\n") {
		t.Error(out)
	}
}

// If no CRD serves the kind and the version of an object beside a sample, a module may. Otherwise the object is left out.
func TestCheckKindsBesideSample(t *testing.T) {
	for _, x := range []struct {
		known   bool
		version string
	}{{true, "v1"}, {true, "v1beta1"}, {false, "v1"}} {
		c := newChecked(t, current(t, "replicaset"))
		write(t, "config/samples/web.yaml", set+"---\napiVersion: example.com/"+x.version+"\nkind: Gear\nmetadata: {name: g}\n")
		c.modules = func(string, string) []*check.File {
			if !x.known {
				return nil
			}
			return []*check.File{gears(t)}
		}
		var want []string
		if x.known {
			want = append(want, "CRD gears.example.com of example.org/gears@v1.0.0/config/crd/gears.yaml is added: the sample's file has an object of its kind\n")
		}
		if !x.known || x.version != "v1" {
			want = append(want, "config/samples/web.yaml: Gear g is left out: no CRD serves Gear of example.com/"+x.version+"\n")
		}
		c.run("-n", "1", "--case", "one-owner").passes(t, append(want, "  one-owner              1 schedule, ")...)
	}
}

// An object that the operator looks for may be in any file of the repository.
func TestCheckNamed(t *testing.T) {
	c := newChecked(t, idle{lines: func(int) []string {
		return []string{"2017-03-01T00:00:00Z\tERROR\tsecrets \"login\" not found"}
	}}.hosted())
	secret, err := check.Read("docs/secret.yaml", []byte("apiVersion: v1\nkind: Secret\nmetadata: {name: login}\n"))
	must(t, err)
	c.named = func(kind, name, near string) []*check.File {
		if kind != "secrets" || name != "login" || near != "config/samples" {
			t.Error(kind, name, near)
		}
		return []*check.File{secret}
	}
	if out := c.run("-n", "5").out; strings.Count(out, "Secret default/login of docs/secret.yaml is added: the operator looks for it\n") != 1 {
		t.Error(out)
	}
}

// A CRD of the repository that is not installed is added if the operator does not find its kind.
func TestCheckOtherCRDs(t *testing.T) {
	crd := func(kind, plural string) *check.File {
		f, err := check.Read("deps/crds.yaml", []byte(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: `+plural+`.example.com}
spec:
  group: example.com
  names: {kind: `+kind+`, plural: `+plural+`}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`))
		must(t, err)
		return f
	}
	added := "CRD gears.example.com of deps/crds.yaml is added: the operator watches its kind\n"
	for said, want := range map[string]string{
		`no matches for kind "Gear" in version "example.com/v1"`:                                                        added,
		`no matches for kind "Gear" in version "example.org/v1"`:                                                        "",
		`if kind is a CRD, it should be installed before calling Start {"kind": "Gear.example.com", "error": "failed"}`: added,
		`failed to wait for web caches to sync: timed out waiting for cache to be synced for Kind *v1.Gear`:             added,
		`the Gear is broken`: "",
	} {
		c := newChecked(t, idle{lines: func(int) []string { return []string{"2017-03-01T00:00:00Z\tERROR\t" + said} }}.hosted())
		c.crds = []*check.File{crd("Gear", "gears"), crd("Wheel", "wheels")}
		if out := c.run("-n", "5").out; strings.Count(out, " is added: ") != strings.Count(want, " is added: ") || !strings.Contains(out, want) {
			t.Errorf("%s: want %q\n%s", said, want, out)
		}
	}
}

// --case selects the cases to try. An unknown name is reported before anything is built.
func TestCheckSomeCases(t *testing.T) {
	c := newChecked(t, current(t, "replicaset"))
	got := c.run("-n", "5", "--case", "faults,one-owner", "--twice", "1")
	got.passes(t, "schedules: 10, ")
	if strings.Contains(got.out, "two-owners") {
		t.Errorf("another case is tried:\n%s", got.out)
	}
	c.run("-n", "5", "--case", "fault").oneLine(t, "threelaws: --case: there is no case fault; "+
		"did you mean faults?; there are one-owner, faults, ")
}

// The first case of the first sample is tried even if --time is very short. The output names all cases and samples that
// were cut short or left out.
func TestCheckInTime(t *testing.T) {
	c := newChecked(t, current(t, "replicaset"))
	c.samples = append(c.samples, "config/samples/second.yaml")
	write(t, "config/samples/second.yaml", set)
	c.run("--time", "1ms", "--workers", "1").wants(t, exitUncovered, "watching the operator in quiet runs: config/samples/",
		"  unknown     no time was left to find out whether another owner can exist beside the sample, ",
		"  one-owner              1 schedule, ",
		": no law is violated, but there was no time for ", " 1 of 34 cases were explored, ",
		"explored in fewer than 5 schedules, so set a longer --time: one-owner\n", "left out, so set a longer --time: faults, two-owners, ",
		"1 of 2 samples left out: name one with --sample FILE, or set --time 1m to check all of them\n",
		"config/samples/second.yaml: left out, because the time was over\n")
}

// Many samples get at least 30 seconds each. A case ends at most ten seconds late, unless there is no result yet or its
// sample has time left.
func TestCheckDividesTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, now := &checking{}, time.Now()
		for _, x := range []struct {
			time time.Duration // until the end
			n    int
			want time.Duration
		}{{4 * time.Minute, 2, 2 * time.Minute}, {4 * time.Minute, 60, 30 * time.Second}, {10 * time.Second, 60, 10 * time.Second},
			{-time.Second, 2, -time.Second}} {
			if got := c.shareOfSample(now.Add(x.time), x.n).Sub(now); got != x.want {
				t.Errorf("%v for %d samples: one gets %v, want %v", x.time, x.n, got, x.want)
			}
		}
		c.Time = time.Minute
		for _, x := range []struct {
			schedules   int // of the first case
			left, until time.Duration
			want        time.Duration
		}{{0, time.Minute, 10 * time.Second, 70 * time.Second}, {1, time.Minute, 10 * time.Second, time.Minute},
			{1, 10 * time.Second, 5 * time.Second, 15 * time.Second}} {
			c.left = now.Add(x.left)
			s := &sampleTried{Cases: []caseJSON{{Schedules: x.schedules}}}
			if got := c.latest(s, now.Add(x.until)).Sub(now); got != x.want {
				t.Errorf("%+v: %v", x, got)
			}
		}
	})
}

// Without a terminal, check prints a progress message after 30 seconds without output.
func TestCheckBreaksSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		c := &checking{app: &app{console: console{out: &out}}, last: time.Now()}
		line := c.progress()
		for range 40 {
			time.Sleep(2 * time.Second)
			line.show("%s", time.Since(c.last))
		}
		if want := "30s\n30s\n"; out.String() != want {
			t.Errorf("got %q, want %q", out.String(), want)
		}
	})
}

// Laws that are not judged, or do not apply, are listed once if they are the same for several samples.
func TestCheckListsLawsOnce(t *testing.T) {
	c := newChecked(t, current(t, "replicaset"))
	c.samples = append(c.samples, "config/samples/second.yaml")
	write(t, "config/samples/second.yaml", set)
	got := c.run("-n", "1", "--case", "one-owner")
	got.wants(t, got.code, "\nnot judged\n", "exact-status", "\nnot judged: the same as with the sample before\n")
	if n := strings.Count(got.out, "exact-status"); n != 1 {
		t.Errorf("exact-status is listed %d times:\n%s", n, got.out)
	}
}

// A violation is printed as explore prints it, and written to a file. The next check replays that file first, and so
// does --replay.
func TestCheckFinds(t *testing.T) {
	c := newChecked(t, sloppy())
	got := c.run("-n", "5", "--junit", "junit.xml", "--annotations")
	kept, _ := filepath.Glob("testdata/threelaws/replicaset-two-owners/*.txtar")
	if n := strings.Count(got.out, "kept as testdata/threelaws/replicaset-two-owners/"); n != len(kept) || n == 0 {
		t.Fatalf("%d files are kept of %d failures:\n%s", len(kept), n, got.out)
	}
	replay := "threelaws check --replay " + kept[0]
	got.wants(t, scenarios.ExitFail, "two-owners             violated: ", ", and minimized now\n",
		"two-owners             5 schedules, violated in ", " (first in schedule ", "--- FAIL: replicaset/two-owners\n",
		replay, "\nviolated\n")
	got.wants(t, scenarios.ExitFail, "::error file="+kept[0])
	outcomeOf{out: read(t, "junit.xml")}.passes(t, `<testcase name="two-owners" classname="replicaset"`,
		`<skipped message="not judged: `)
	c.run("-n", "5").wants(t, scenarios.ExitFail, "two-owners             a failure that an earlier check kept still happens: ")
	c.samples = []string{"config/samples/map.yaml"}
	write(t, c.samples[0], "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
	once := c.run("--replay", kept[0], "--junit", "junit.xml")
	once.wants(t, scenarios.ExitFail, replay)
	outcomeOf{out: read(t, "junit.xml")}.passes(t, `tests="1" failures="1"`)
	if strings.Contains(once.out, "one-owner ") || strings.Contains(once.out+once.err, "map.yaml") {
		t.Errorf("another case or sample is tried:\n%s%s", once.out, once.err)
	}
	write(t, "elsewhere/x.txtar", "")
	c.run("--replay", "elsewhere/x.txtar").wants(t, scenarios.ExitUsage,
		"threelaws: --replay elsewhere/x.txtar: no case of this operator is kept in a directory elsewhere\n")
}

// Samples are tried one by one. A sample that cannot be tried does not affect the others.
func TestCheckSamples(t *testing.T) {
	c := newChecked(t, current(t, "replicaset"))
	c.samples = []string{"config/samples/map.yaml"}
	write(t, c.samples[0], "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
	got := c.run("-n", "5")
	got.wants(t, 0, "=== config/samples/web.yaml\n", "0 violated", "=== config/samples/map.yaml\n",
		"config/samples/web.yaml: ReplicaSet: no law is violated", "config/samples/map.yaml: it holds no", "2 samples, ")
	const why = "config/samples/map.yaml: it holds no apps/v1 ReplicaSet, on which replicaset works, but v1 ConfigMap"
	if got.err != why+"; --sample FILE names another sample\n" {
		t.Error(got.err)
	}
	got = c.run("-n", "5", "--sample", "config/samples/map.yaml")
	got.wants(t, scenarios.ExitUsage, why+"\n")
	write(t, "config/samples/web.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: b}\n")
	c.run("-n", "5").wants(t, scenarios.ExitUsage)
}

// With -o json-lines there is a line for each case and each law. The first line names the protocol.
func TestCheckLines(t *testing.T) {
	got := newChecked(t, sloppy()).run("-o", "json-lines", "-n", "5")
	got.wants(t, scenarios.ExitFail)
	var lines []checkLine
	for text := range strings.Lines(got.out) {
		var l checkLine
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		lines = append(lines, l)
	}
	if lines[0] != (checkLine{Protocol: checkProtocol}) {
		t.Errorf("the first line is %+v", lines[0])
	}
	named := func(name string) checkLine {
		i := slices.IndexFunc(lines, func(l checkLine) bool { return l.Name == name })
		if i < 0 {
			t.Fatalf("no line for %s\n%s", name, got.out)
		}
		return lines[i]
	}
	if l := named("two-owners"); !strings.Contains(l.Failed, "--- FAIL: replicaset/two-owners\n") || l.Skipped != "" {
		t.Errorf("%+v", l)
	}
	if l := named("EXACT-8-exact-status"); !strings.HasPrefix(l.Skipped, "not judged: ") || l.Failed != "" {
		t.Errorf("%+v", l)
	}
	if l := named("LAW-1-take-ownership"); l.Failed+l.Skipped == "" && !strings.HasPrefix(l.Told, "evaluated ") {
		t.Errorf("%+v", l)
	}
}

// A check that ends without a verdict has its own exit code.
func TestCheckExitCodes(t *testing.T) {
	for name, x := range map[string]struct {
		change func(op *host.Controller)
		code   int
		want   string // a part of the output
	}{
		"it does nothing": {func(op *host.Controller) {
			op.New = func(*host.Env) host.Reconciler {
				return host.SyncFunc(func(context.Context, string) error { return nil })
			}
		}, scenarios.ExitUsage,
			"; --args, --env and --with FILE give it what it lacks; --sample FILE names another sample"},
		"two runs differ": {func(op *host.Controller) { op.New = differing() },
			scenarios.ExitNondetermine, "two runs of one schedule differ"},
		"it never settles": {func(op *host.Controller) {
			op.New = func(env *host.Env) host.Reconciler {
				return host.SyncFunc(func(ctx context.Context, key string) error {
					ns, name, _ := strings.Cut(key, "/")
					o, err := env.Client.Get(ctx, op.For, ns, name)
					if err != nil {
						return nil
					}
					count := o.DeepCopyObject().(metav1.Object)
					count.SetAnnotations(map[string]string{"count": count.GetResourceVersion()})
					_, err = env.Client.Update(ctx, count.(runtime.Object))
					return err
				})
			}
		}, scenarios.ExitNotSettled, "violated: always-settle"},
		"its keys name nothing": {func(op *host.Controller) {
			op.Routes = []host.Route{{Kind: op.For, Do: func(_ host.View, _ host.Event, out *host.Effect) {
				out.Keys = []string{"everything"}
			}}}
			op.New = func(env *host.Env) host.Reconciler {
				return host.SyncFunc(func(ctx context.Context, _ string) error {
					_, err := env.Client.Create(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
						Namespace: "default", Name: "seen"}})
					if apierrors.IsAlreadyExists(err) {
						return nil
					}
					return err
				})
			}
		}, exitUncovered, "not covered: no key that sloppy synced names a ReplicaSet"},
	} {
		t.Run(name, func(t *testing.T) {
			op := sloppy()
			x.change(&op)
			newChecked(t, op).run("-n", "2", "--case", "one-owner", "--budget", "5").wants(t, x.code, x.want)
		})
	}
	t.Run("interrupted", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		op := operator{Samples: []*check.File{{}}, Host: func(context.Context) (func(host.Controller) host.Controller, error) {
			return nil, nil
		}}
		find := func(context.Context, *settings) (*operator, error) { return &op, nil }
		Command{operators: find}.try(ctx, "check").wants(t, exitInterrupted)
		op.Host = func(context.Context) (func(host.Controller) host.Controller, error) {
			return nil, errors.New("signal: killed")
		}
		Command{operators: find}.try(ctx, "explore", "--main", ".", "testdata/settles.txtar").wants(t, exitInterrupted, "interrupted")
	})
	t.Run("interrupted in a quiet run", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		c := newChecked(t, host.Hosting(idle{}.hosted(), func(*host.Cluster, string) host.Program {
			cancel()
			return idle{}
		}))
		Command{operators: c.find}.try(ctx, "check").wants(t, exitInterrupted, "interrupted in the quiet runs of config/samples/web.yaml")
	})
}

// If two runs in a reused process differ, the case is tried again with a new process for each start.
func TestCheckFallsBackToNewProcesses(t *testing.T) {
	op := current(t, "replicaset")
	right, differs := op.New, differing()
	reused := false
	op.New = func(env *host.Env) host.Reconciler {
		if reused {
			return differs(env)
		}
		return right(env)
	}
	c := newChecked(t, op)
	c.reuse = func(world agent.World) string {
		reused = world != nil
		return ""
	}
	c.run("-n", "5", "--case", "one-owner").wants(t, 0,
		"one-owner: two runs of one schedule differ in a reused process: ", "one-owner")
	if reused {
		t.Error("processes are reused")
	}
}

// differing returns a factory of reconcilers. Each start of the process creates an object with a different name.
func differing() func(*host.Env) host.Reconciler {
	runs := 0
	return func(env *host.Env) host.Reconciler {
		runs++
		name := fmt.Sprintf("settings-%d", runs)
		return host.SyncFunc(func(ctx context.Context, key string) error {
			ns, _, _ := strings.Cut(key, "/")
			_, err := env.Client.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}})
			return err
		})
	}
}

// A violation is printed with the last lines of the program's output, shortened.
func TestPrintedLinesAreShown(t *testing.T) {
	c := newChecked(t, idle{ends: &host.Panic{Text: "a nil map"}, lines: func(n int) []string {
		return slices.Repeat([]string{strings.Repeat("x", 1000)}, n)
	}}.hosted())
	write(t, "web.txtar", "apply set.yaml\ncontrollers operator\nsettle\n\n-- set.yaml --\n"+set)
	got := c.runs("explore", "-n", "5", "--main", "./cmd/manager", "web.txtar")
	got.wants(t, scenarios.ExitFail, "a nil map", "    the last other lines that operator printed\n      xxxx")
	if n := strings.Count(got.out, "x"); n > 400 {
		t.Errorf("%d bytes of the program's output are shown", n)
	}
}

// The command run also runs a main package as a controller.
func TestRunMain(t *testing.T) {
	c := newChecked(t, current(t, "replicaset"))
	c.op.Name = "operator"
	write(t, "web.txtar", "apply set.yaml\ncontrollers operator\nsettle\n\n-- set.yaml --\n"+set)
	c.runs("run", "--main", "./cmd/manager", "web.txtar").wants(t, 0, "1 file")
}

// If check creates a certificate for a Secret, the note that the Secret is missing is removed.
func TestCertificateNote(t *testing.T) {
	const other = "Secret token, mounted at /token, is not in the manifests; --with FILE gives it"
	op := &operator{Notes: []string{"Secret certs, mounted at /certs, is not in the manifests; --with FILE gives it", other}}
	if !op.certificate("system", "certs", []string{"hook.system.svc"}) {
		t.Fatal("no certificate is made")
	}
	want := []string{other, "Secret system/certs is made with a certificate for hook.system.svc"}
	if !slices.Equal(op.Notes, want) {
		t.Errorf("got %q\nwant %q", op.Notes, want)
	}
}

// Objects that only cert-manager reads are removed, because check does the work of cert-manager. A CRD of cert-manager
// keeps them, and a Certificate that check cannot make stays, so that check prints that the server does not serve it.
func TestCertManagerObjects(t *testing.T) {
	const manifests = `
apiVersion: cert-manager.io/v1
kind: Issuer
metadata: {name: issuer, namespace: system}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: serving, namespace: system}
spec: {secretName: certs, dnsNames: [hook.system.svc]}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: nameless, namespace: system}
spec: {secretName: other}
`
	definition := "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n" +
		"metadata: {name: issuers.cert-manager.io}\nspec: {group: cert-manager.io}\n"
	for crds, want := range map[string]string{
		"":         "Certificate/nameless Secret/certs",
		definition: "Issuer/issuer Certificate/serving Certificate/nameless Secret/certs",
	} {
		op := &operator{}
		f, err := check.Read("manifests.yaml", []byte(manifests))
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range f.Objects {
			op.Installed = append(op.Installed, o.Unstructured)
		}
		if f, err = check.Read("crds.yaml", []byte(crds)); err != nil {
			t.Fatal(err)
		}
		op.CRDs = append(op.CRDs, f)
		certify(op, &agent.Binary{})
		var got []string
		for _, o := range op.Installed {
			got = append(got, o.GetKind()+"/"+o.GetName())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("with %d bytes of CRDs, %q is installed, want %s", len(crds), got, want)
		}
	}
}
