package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/threelaws/threelaws/internal/agent"
	"github.com/threelaws/threelaws/internal/check"
	"github.com/threelaws/threelaws/sim/host"
)

// operator contains the facts that check has found about an operator's repository.
type operator struct {
	Name      string   // the name of the operator's processes
	Dir       string   // the repository, or the package of the test, relative to the working directory
	Builds    string   // what Host builds, such as "./cmd/manager"
	Notes     []string // which settings were found, and in which files
	Found     settings // the settings that were found: Package, Install, Args, CRDs, Samples; relative to Dir
	CRDs      []*check.File
	OtherCRDs []*check.File // the repository's other CRDs, each alone in a File; added only if the operator lacks them
	Installed []*unstructured.Unstructured
	Own       []*unstructured.Unstructured // the operator's workload and Pods, added only if the operator reads them
	Samples   []*check.File                // each is explored separately
	Others    []*check.File                // further samples, which only have objects that the operator may lack

	// Mount mounts a Secret of the operator's namespace, which it returns, in the operator's processes. If it is nil, no
	// Secret can be mounted.
	Mount func(secret, dir string) (namespace string)

	// Host builds the operator. The returned function makes a controller. It is called once for each sample.
	Host  func(ctx context.Context) (func(as host.Controller) host.Controller, error)
	Reuse func(world agent.World) (why string) // see agent.Binary.Reuse; nil means that no process is reused
	Waits func() []string                      // what goroutines wait for after the world has settled; nil if unknown
	Close func()                               // ends what Host has started; may be nil
}

// noSample returns the text of an error about an operator without samples, with the next step.
func (op *operator) noSample() string {
	step := "name one with --sample FILE"
	if len(op.CRDs) == 0 {
		step = "name its CRDs with --crds, or a sample of a built-in kind with --sample FILE"
	}
	return "there is no sample of a kind that the operator works on: " + step
}

type settings struct {
	Dir      string // the directory of go.mod, relative to the working directory
	Package  string // the main package; "" means to search it
	Test     string // the name of a test that hosts the operator; "" for a main package
	Settled  string // the path of the unix socket on which a test checks settled worlds; "" for none
	Install  string // the install manifests: a kustomization, a chart, a directory or a file; "" means to search them
	Workload string // the name of the workload that runs the operator; "" means to search it
	Args     []string
	Env      []string // "NAME=value"
	CRDs     []string
	Samples  []string
	With     []string // files with other objects
	Accept   []*accepted
	Skip     map[string]string // cases and laws to leave out, by name, with the reason
	Edits    []string          // merge patches of the sample
	Strict   bool              // labels and annotations that users add to dependents must stay

	Time      time.Duration
	For       time.Duration // the virtual time of each world; 0 means until it settles, or until the third periodic write
	Schedules int           // the number of schedules of each case; 0 means as many as the time allows
	Seed      uint64
	Faults    map[string]int // the number of faults of each name; used only if set is true
	Workers   int
	Budget    int

	accepts []string // values of --accept
	skips   []string // values of --skip: NAME=REASON
	faults  string
	set     bool // Faults replaces the default faults of each case

	packaged bool // the package is an argument of the command line
}

const settingsFile = "threelaws.yaml"

// accepted is an entry for an accepted violation, in threelaws.yaml or in --accept.
type accepted struct {
	check.Accept
	line int // the line in threelaws.yaml; 0 for a flag
	met  bool
}

func (a *accepted) UnmarshalYAML(n *yaml.Node) error {
	fields := []string{"law", "case", "object", "reason"}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i].Value, n.Content[i+1]
		switch {
		case slices.Contains(fields, name):
		case i > 0 && value.Tag == "!!null" && value.Value == "" && n.Style&yaml.FlowStyle != 0:
			before := n.Content[i-1].Value
			return fmt.Errorf("a comma ends the %s: put quotes around it: %s: %q", n.Content[i-2].Value, n.Content[i-2].Value,
				before+", "+name)
		default:
			return fmt.Errorf("unknown field %s%s", name, suggest(name, fields))
		}
	}
	if err := n.Decode(&a.Accept); err != nil {
		return err
	}
	a.line = n.Line
	return a.Check()
}

func (a *accepted) from() string {
	if a.line == 0 {
		return "--accept"
	}
	return fmt.Sprintf("%s:%d: accept", settingsFile, a.line)
}

// addOwn installs the operator's own workload, its Pods, or the Service of the API server, if err says that one was not
// found. It returns these objects.
func (op *operator) addOwn(err error) (added []*unstructured.Unstructured) {
	said := saidBy(err)
	if said == "" {
		return nil
	}
	var kinds []string // a second instance looks for a Pod of its own
	own := append(slices.Clone(op.Own), apiService())
	for _, o := range own {
		missing := regexp.MustCompile(fmt.Sprintf(`(?i)\b%[1]ss?(\.apps)? "%[2]s" not found|\bno( \w+){0,2} %[1]ss? found`, o.GetKind(),
			regexp.QuoteMeta(o.GetName())))
		if o.GetKind() == "Service" { // "no service found" is about another one
			missing = regexp.MustCompile(`(?i)\bservices? "kubernetes" not found`)
		}
		if missing.MatchString(said) {
			kinds = append(kinds, o.GetKind())
		}
	}
	for _, o := range own {
		if slices.Contains(kinds, o.GetKind()) && op.find(o.GetKind(), o.GetNamespace(), o.GetName()) == nil {
			added = append(added, o)
		}
	}
	op.Installed = append(op.Installed, added...)
	return added
}

// apiService returns the Service that each API server creates for itself. Some operators take its UID as the cluster's.
func apiService() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Service",
		"metadata": map[string]any{"name": "kubernetes", "namespace": "default"},
		"spec":     map[string]any{"ports": []any{map[string]any{"name": "https", "port": int64(443)}}}}}
}

// saidBy returns what an operator that did nothing has printed, without escaped quotes. It returns "" for other errors.
func saidBy(err error) string {
	idle := (*check.Idle)(nil)
	if !errors.As(err, &idle) {
		return ""
	}
	return strings.ReplaceAll(idle.Text+strings.Join(idle.Printed, "\n"), `\"`, `"`)
}

// addCRDs installs other CRDs of the repository if err says that the operator did not find their kinds. It returns
// these CRDs.
func (op *operator) addCRDs(err error) (added []*check.File) {
	said := saidBy(err)
	if said == "" {
		return nil
	}
	op.OtherCRDs = slices.DeleteFunc(op.OtherCRDs, func(f *check.File) bool {
		o := f.Objects[0]
		kind, _, _ := unstructured.NestedString(o.Object, "spec", "names", "kind")
		group, _, _ := unstructured.NestedString(o.Object, "spec", "group")
		missing := regexp.MustCompile(fmt.Sprintf(`\bno matches for kind "%[1]s" in version "%[2]s/|"kind": ?"%[1]s\.%[2]s"|`+
			`\bcache to be synced for Kind \*\w+\.%[1]s\b`, regexp.QuoteMeta(kind), regexp.QuoteMeta(group)))
		if !missing.MatchString(said) {
			return false
		}
		added = append(added, f)
		return true
	})
	for _, f := range added {
		if i := slices.IndexFunc(op.CRDs, func(other *check.File) bool { return other.Name == f.Name }); i >= 0 {
			op.CRDs[i].Objects = append(op.CRDs[i].Objects, f.Objects...)
		} else {
			op.CRDs = append(op.CRDs, &check.File{Name: f.Name, Path: f.Path, Objects: slices.Clone(f.Objects)})
		}
	}
	return added
}

// missed matches the error of a request or a cache read for an object that does not exist.
var missed = regexp.MustCompile(`([A-Za-z]+)(?:\.[a-z0-9.-]+)? "([^"]+)" not found`)

const eachNamespace = "each namespace"

// standard returns a file with the objects that kube-controller-manager creates in each namespace.
func standard() *check.File {
	f := &check.File{Name: eachNamespace}
	for kind, name := range map[string]string{"ServiceAccount": "default", "ConfigMap": "kube-root-ca.crt"} {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": kind}}
		o.SetName(name)
		if kind == "ConfigMap" {
			o.Object["data"] = map[string]any{"ca.crt": agent.Authority}
		}
		f.Objects = append(f.Objects, check.Object{Unstructured: o, Line: 1})
	}
	return f
}

// missing returns an object that the operator did not find according to err: an object of another sample file, or one
// that each namespace has. from is the name of the file. The object gets the namespace where the operator looks for it:
// the namespace that err names, or that of the sample. If the sample has the object already, missing returns nil.
func (op *operator) missing(err error, sample *check.File) (best *unstructured.Unstructured, from string) {
	said := saidBy(err)
	for _, match := range missed.FindAllStringSubmatch(said, -1) {
		what := strings.ToLower(match[1])       // a kind, or the plural name of a resource
		namespace, name := path.Split(match[2]) // a cache names "namespace/name"
		for _, f := range append(slices.Concat(op.Samples, op.Others), standard()) {
			for _, o := range f.Objects {
				kind, own := strings.ToLower(o.GetKind()), o.GetNamespace()
				if f == sample || o.Line == 0 || o.GetName() != name || kind != what && kind+"s" != what {
					continue // addMissing has added the objects without a line
				}
				found, exact := o.DeepCopy(), own != "" && strings.Contains(said, own+"/"+name)
				if !exact && (own != "" || f.Name == eachNamespace || op.namespaced(found)) {
					found.SetNamespace(cmp.Or(strings.TrimSuffix(namespace, "/"), sample.Objects[0].GetNamespace(), "default"))
				}
				has := slices.ContainsFunc(sample.Objects, func(o check.Object) bool {
					return o.GroupVersionKind() == found.GroupVersionKind() && o.GetName() == name && o.GetNamespace() == found.GetNamespace()
				})
				if !has && (best == nil || exact) {
					best, from = found, f.Name
				}
			}
		}
		if best != nil {
			break
		}
	}
	return best, from
}

// namespaced reports whether a CRD says that an object has a namespace.
func (op *operator) namespaced(o *unstructured.Unstructured) bool {
	for _, f := range op.CRDs {
		for _, crd := range f.Objects {
			kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
			group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
			if scope, _, _ := unstructured.NestedString(crd.Object, "spec", "scope"); kind == o.GetKind() &&
				group == o.GroupVersionKind().Group {
				return scope == "Namespaced"
			}
		}
	}
	return false
}

// addMissing adds an object of another sample, and its namespace, to a sample, if err says that the operator did not find
// the object. It adds no object of the sample's kind, because that would be a second sample.
func (op *operator) addMissing(err error, sample *check.File) (added *unstructured.Unstructured, from string) {
	added, from = op.missing(err, sample)
	if added == nil || added.GroupVersionKind() == sample.Objects[0].GroupVersionKind() {
		return nil, ""
	}
	sample.Objects = slices.Clone(sample.Objects)
	if name := added.GetNamespace(); name != "" && name != cmp.Or(sample.Objects[0].GetNamespace(), "default") {
		space := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
		space.SetName(name)
		if has := slices.ContainsFunc(sample.Objects, func(o check.Object) bool {
			return o.GetKind() == "Namespace" && o.GetName() == name
		}); !has {
			sample.Objects = append(sample.Objects, check.Object{Unstructured: space})
		}
	}
	sample.Objects = append(sample.Objects, check.Object{Unstructured: added})
	return added, from
}

func (op *operator) find(kind, namespace, name string) *unstructured.Unstructured {
	i := slices.IndexFunc(op.Installed, func(o *unstructured.Unstructured) bool {
		return o.GetKind() == kind && o.GetNamespace() == namespace && o.GetName() == name
	})
	if i < 0 {
		return nil
	}
	return op.Installed[i]
}
