package check

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/nearest"
	"github.com/threelaws/threelaws/internal/yamldoc"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// Operator describes the controller to check, and what it needs to run.
type Operator struct {
	// Controller is a reconciler that runs in steps, or a whole program (see [host.Hosting]). The default name of a
	// program is "program". The default kind is the kind of the sample's first custom object, or of its first object.
	Controller host.Controller

	// CRDs are files whose CustomResourceDefinitions exist in every world. Other objects in these files are ignored.
	CRDs []*File
	// Installed are objects that exist before the sample in every world. [Plan.Notes] names those that are left out.
	Installed []*unstructured.Unstructured
	// Sample contains an object of the controller's kind, and other objects that must exist.
	Sample *File

	Others    []host.Controller // other reconcilers of the operator that also run, each with its own Contract
	With      []string          // names of this module's controllers that also run
	For       time.Duration     // how long each world runs; 0: until it settles, or until the third periodic write
	Profile   law.Profile       // the profile of laws that apply; a larger profile of the Controller has precedence
	Settled   scenarios.Func    // called whenever a world has settled; nil for no additional check
	Skip      map[string]string // name of a case or a law to leave out -> the reason
	Strict    bool              // labels and annotations that users add to dependents must stay
	Edits     []string          // merge patches of the sample, as YAML or JSON, to try before single fields are edited
	Schedules int               // the number of schedules of each case
	Tell      func(fact string) // called before each quiet run, with the fact that the run is to find out; may be nil
	Hurry     func() bool       // returns true when no time is left for further quiet runs; nil: there is no limit
	// Lacking is called after the first quiet run with the sample, with what the program did and printed; created reports
	// whether it created an object for the sample. If it returns true, Prepare ends with this error. It may be nil.
	Lacking    func(idle *Idle, created bool) bool
	Ends       bool             // prepare a program that ends because of its sample before it does anything: see [Idle.Ends]
	Invariants []*law.Invariant // invariants to check in each world in addition to the laws
	Server     *fakeapi.Options // options of the worlds' servers; nil for the defaults
	// Relists breaks watches of a whole program also in cases in which the user deletes objects. Two runs must be equal
	// even then, as in a process of its own.
	Relists bool

	_ struct{}
}

// File is a parsed YAML file.
type File struct {
	Name    string
	Objects []Object
	// Path is the file's path on disk, or "". While the file on disk has the same CRDs, a kept failure of a program
	// refers to the file. Otherwise it contains the CRDs.
	Path string

	text []byte // the content; nil for a file on disk

	pruned []error // for each object with fields that its CRD does not define; the fields are removed
}

// onDisk reports whether the file on disk has the same CRDs. They differ if a kustomization patches them.
func (f *File) onDisk() bool {
	if f.Path == "" {
		return false
	}
	data, err := os.ReadFile(f.Path)
	if err != nil {
		return false
	}
	disk, err := Read(f.Path, data)
	return err == nil && slices.Equal(disk.definitions(), f.definitions())
}

// definitions returns the CRDs of a file as JSON, without the fields that a server sets.
func (f *File) definitions() (all []string) {
	for _, o := range f.Objects {
		if o.GetKind() != "CustomResourceDefinition" {
			continue
		}
		bare := o.DeepCopy()
		unstructured.RemoveNestedField(bare.Object, "metadata", "creationTimestamp")
		delete(bare.Object, "status")
		text, err := json.Marshal(bare.Object)
		if err != nil {
			panic("check: a manifest that was read cannot be written: " + err.Error())
		}
		all = append(all, string(text))
	}
	slices.Sort(all)
	return all
}

type Object struct {
	*unstructured.Unstructured
	Line int // the first line of the object's YAML document, counted from 1; 0 if unknown
}

// Read parses a YAML file. It skips empty documents. An error begins with the name and the line.
func Read(name string, data []byte) (*File, error) {
	f := &File{Name: name, text: data}
	for _, doc := range yamldoc.Split(data) {
		m, err := read(doc.Text)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s:%d: %w", name, doc.Line, err)
		case m.Unstructured != nil:
			f.Objects = append(f.Objects, Object{m.Unstructured, doc.Line})
		}
	}
	return f, nil
}

// Mistake is an error in a field of an [Operator]. Field is "" if the mistake is not in one field.
type Mistake struct{ Field, Text string }

func (m *Mistake) Error() string {
	if m.Field == "" {
		return m.Text
	}
	return m.Field + ": " + m.Text
}

func mistake(field, format string, args ...any) error {
	return &Mistake{field, fmt.Sprintf(format, args...)}
}

// Names lists the names of all cases in their order.
var Names = []string{"one-owner", "faults", "two-owners", "two-instances", "new-owner", "edit", "removed", "scale", "edited-and-deleted", "orphan",
	"somebody-elses",
	"rival-for-an-orphan", "terminating-orphan", "dependent-deleted", "dependent-unseen", "relabelled", "released-and-gone", "reference-taken-away",
	"name-taken", "replaced", "other-namespace", "long-names", "deleted/background", "deleted/foreground", "deleted/orphan", "deleted/early",
	"deleted/unseen", "recreated/background", "recreated/foreground", "recreated/orphan", "held", "dependent-held",
	"terminating", "restored"}

// ending lists laws that end a run when they are violated. They cannot be skipped.
var ending = []string{law.AlwaysSettles, "NOFIGHT-1", "EXACT-7b"}

// CheckSkip checks the names and the reasons of Skip. own are the IDs of the Operator's invariants.
func CheckSkip(skip map[string]string, own ...string) error {
	laws := lawNames(own)
	for _, name := range slices.Sorted(maps.Keys(skip)) {
		l := slices.IndexFunc(law.All(), func(l *law.Law) bool { return l.Name == name })
		switch {
		case !slices.Contains(Names, name) && !slices.Contains(laws, name):
			text := "there is no case and no law " + name
			if n := nearest.Word(name, slices.Concat(Names, laws)); n != "" {
				text += "; did you mean " + n + "?"
			} else {
				text += "; the cases are " + strings.Join(Names, ", ")
			}
			return mistake("Skip", "%s", text)
		case l >= 0 && slices.Contains(ending, law.All()[l].ID):
			return mistake("Skip", "%s ends every run and cannot be skipped: accept its known findings", name)
		case strings.TrimSpace(skip[name]) == "":
			return mistake("Skip", "%s is skipped without a reason", name)
		}
	}
	return nil
}

func lawNames(invariants []string) []string {
	laws := append(slices.Clone(invariants), differentValues)
	for _, l := range law.All() {
		laws = append(laws, l.Name)
	}
	return laws
}

// Accept is an accepted violation: it is printed, but the check does not fail.
type Accept struct {
	Law    string `yaml:"law" json:"law"`
	Case   string `yaml:"case" json:"case,omitempty"`     // "" for every case
	Object string `yaml:"object" json:"object,omitempty"` // part of the violation's text, such as "svc/web"; "" for any
	Reason string `yaml:"reason" json:"reason"`
}

// Check checks an entry. own are the IDs of the Operator's invariants. The error is one line.
func (a *Accept) Check(own ...string) error {
	for _, w := range []struct {
		what, word string
		valid      []string
	}{{"law", a.Law, lawNames(own)}, {"case", a.Case, append([]string{""}, Names...)}} {
		if slices.Contains(w.valid, w.word) {
			continue
		}
		if n := nearest.Word(w.word, w.valid); n != "" {
			return mistake("", "unknown %s %s; did you mean %s?", w.what, w.word, n)
		}
		return mistake("", "unknown %s %s", w.what, w.word)
	}
	if strings.TrimSpace(a.Reason) == "" {
		return mistake("", "%s is accepted without a reason", a.Law)
	}
	return nil
}

// Is reports whether the entry accepts a violation in a case.
func (a *Accept) Is(in string, f *scenarios.Counterexample) bool {
	return a.Law == f.Law && (a.Case == "" || a.Case == in) && strings.Contains(f.Said(), a.Object)
}

// differentValues is the ID of the invariant that two owners have different values in fields such as a port.
const differentValues = "different-values"
