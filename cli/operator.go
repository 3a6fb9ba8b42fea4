package cli

import (
	"context"
	"errors"
	"fmt"
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

// operator holds what check has found in an operator's repository.
type operator struct {
	Name      string   // the name of the operator's processes
	Dir       string   // the repository, relative to the working directory
	Builds    string   // short description of what Host builds
	Notes     []string // which settings were found, and in which files
	Found     settings // the found settings: Package, Install, Args, CRDs, Samples, relative to Dir
	CRDs      []*check.File
	Installed []*unstructured.Unstructured
	Own       []*unstructured.Unstructured // the operator's workload and Pods, which are installed if it looks for them
	Samples   []*check.File                // each is explored separately

	// Host builds the operator. The returned function makes its controller, once for each sample.
	Host  func(ctx context.Context) (func(as host.Controller) host.Controller, error)
	Reuse func(world agent.World) (why string) // lets one process serve many lives, or returns why not; nil if never possible
	Waits func() []string                      // what its goroutines wait for after it has settled; nil if unknown
	Close func()                               // ends what Host has started; nil if there is nothing to end
}

type settings struct {
	Dir      string // the directory of go.mod, relative to the working directory
	Package  string // the main package; "" to find it
	Test     string // a test of the package that hosts the operator; "" for a main
	Settled  string // the socket of a test that checks settled worlds; "" for none
	Install  string // install manifests: a kustomization, a chart, a folder or a file; "" to find them
	Workload string // the name of the workload that runs the operator; "" to find it
	Args     []string
	Env      []string // NAME=value
	CRDs     []string
	Samples  []string
	With     []string // files with further objects
	Accept   []*accepted
	Skip     map[string]string // cases and laws to leave out, by name, with the reason
	Edits    []string          // merge patches of the sample

	Time      time.Duration
	For       time.Duration // how long each cluster lasts, in virtual time; 0: until it settles
	Schedules int           // for each case; 0: as many as time allows
	Seed      uint64
	Faults    map[string]int // nil for the default faults of each case
	Workers   int
	Budget    int

	accepts []string // the values of --accept
	skips   []string // the values of --skip: NAME=REASON
	faults  string
	set     bool // --faults was given, perhaps empty

	packaged bool // the package was given as an argument
}

const settingsFile = "threelaws.yaml"

// accepted is an accepted finding of threelaws.yaml or --accept.
type accepted struct {
	check.Accept
	line int // line of threelaws.yaml; 0 for a flag
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

// addOwn installs objects of op.Own that the operator did not find in a quiet run, as err says. It returns them.
func (op *operator) addOwn(err error) (added []*unstructured.Unstructured) {
	idle := (*check.Idle)(nil)
	if !errors.As(err, &idle) {
		return nil
	}
	said := strings.ReplaceAll(idle.Text+strings.Join(idle.Printed, "\n"), `\"`, `"`)
	for _, o := range op.Own {
		missing := regexp.MustCompile(fmt.Sprintf(`(?i)\b%ss?(\.apps)? "%s" not found`, o.GetKind(), regexp.QuoteMeta(o.GetName())))
		if missing.MatchString(said) && op.find(o.GetKind(), o.GetNamespace(), o.GetName()) == nil {
			added = append(added, o)
		}
	}
	op.Installed = append(op.Installed, added...)
	return added
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
