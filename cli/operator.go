package cli

import (
	"context"
	"fmt"
	"slices"
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

	// ModuleCRDs returns the CRDs of a kind in the modules with which the operator is built; nil if there are no modules.
	ModuleCRDs func(group, kind string) []*check.File
	// Named returns the objects of the repository with a kind and a name: see install.Repository. It may be nil.
	Named func(kind, name, near string) []*check.File
	// LeaveOut removes an argument of the operator, by the name of its flag, and returns it. If the arguments lack it, or are
	// the user's, the result is "". It may be nil.
	LeaveOut func(flag string) (argument string)

	// Next contains, for a sample, further samples of its kind. They are tried if the server refuses the sample.
	Next map[*check.File][]*check.File

	referrals []*unstructured.Unstructured // the objects that were added because a sample names them
	refused   []*unstructured.Unstructured // those of them that the server refuses, and that are not added again

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

func (op *operator) find(kind, namespace, name string) *unstructured.Unstructured {
	i := slices.IndexFunc(op.Installed, func(o *unstructured.Unstructured) bool {
		return o.GetKind() == kind && o.GetNamespace() == namespace && o.GetName() == name
	})
	if i < 0 {
		return nil
	}
	return op.Installed[i]
}
