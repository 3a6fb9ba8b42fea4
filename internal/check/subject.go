package check

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/yamldoc"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// Subject is a controller to be held to the laws, and what must be known to begin.
type Subject struct {
	// Controller is a stepped reconciler, or a whole program that [host.Hosting] has made a controller of. A program
	// without a name is named program; one without a kind works on the first custom object of the sample, or else
	// on its first.
	Controller host.Controller

	// CRDs are files with CustomResourceDefinitions, all of which exist in every world. What else they hold is left
	// out.
	CRDs []*File
	// Installed are the objects that exist in every world before the sample, as those of install manifests. What the
	// server refuses is left out, and named in [Plan.Notes].
	Installed []*unstructured.Unstructured
	// Sample has an object of the kind that the controller works on, and what exists beside it.
	Sample *File

	Others     []host.Controller // further stepped controllers that run beside it and are judged as they declare
	With       []string          // controllers of this module that run beside it, with those of what it creates
	For        time.Duration     // how long each world lasts; 0 for until it settles, or after the third tick of a clock
	Profile    law.Profile       // what it is held to; that of Controller where that is more
	Settled    scenarios.Func    // what must hold whenever a world has settled; nil for nothing more than the laws
	Skip       map[string]string // cases and laws that are left out, by name, with the reason
	Edits      []string          // merge patches of the sample to try before its single fields, as YAML or JSON
	Schedules  int               // of each case
	Hurry      func() bool       // whether no further field of the sample is to be edited; nil for never
	Invariants []*law.Invariant  // what must hold in each world beside the laws
	Server     *fakeapi.Options  // what the worlds' servers are like; nil for the usual

	_ struct{}
}

// File is a YAML file that was read.
type File struct {
	Name    string
	Objects []Object
	// Path is where it is on the disk, from the working directory; "" where there is no such file. Failures of whole
	// programs then name the file in place of holding its CRDs, if it holds the same.
	Path string

	text []byte // nil for one that is on the disk
}

// onDisk reports whether the file on the disk defines the same kinds in the same way. Those of a kustomization do not,
// where it patches the file.
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

// definitions are the CRDs of a file, each as JSON without what a server sets.
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

// Object is an object of a file.
type Object struct {
	*unstructured.Unstructured
	Line int // of its document, from 1; 0 for unknown
}

// Read reads the text of a YAML file. Empty documents are left out. The error begins with the name and the line.
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

// Mistake is a mistake in a field of a [Subject].
type Mistake struct{ Field, Text string }

// Error begins with the field.
func (m *Mistake) Error() string {
	if m.Field == "" {
		return m.Text
	}
	return m.Field + ": " + m.Text
}

// mistake is a mistake in a field; "" for the subject as a whole.
func mistake(field, format string, args ...any) error {
	return &Mistake{field, fmt.Sprintf(format, args...)}
}
