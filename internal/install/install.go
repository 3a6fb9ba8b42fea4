// Package install reads an operator's repository: the main package, the install manifests, the CRDs, and samples. It
// reads files, renders kustomizations and charts, and runs go list. It does not build, does not contact a cluster, and
// does not write into the repository.
package install

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Repository describes an operator's repository.
type Repository struct {
	Dir  string // the directory of the main module's go.mod, absolute
	Main string // the main package, as an argument of go build in Dir: "./cmd/manager"
	Name string // the project's name: projectName of PROJECT, or the last element of the module's path

	// CRDs has one CustomResourceDefinition per name.
	CRDs []Object

	// Objects are the other installed objects, without the operator's workload, in the order in which a server accepts
	// them.
	Objects []Object

	// Samples has at most one sample of each custom kind, or all samples that Options names.
	Samples []Sample

	// From is the path in Dir from which Objects were read, as in Options.Install, or "".
	From string

	// Workload is the workload that runs the operator, or nil if the install manifests have none.
	Workload *Workload

	// Args are the image's arguments, for an operator without Workload.
	Args []string

	// Notes are sentences that say which parts were taken from which file, and which parts were left out and why.
	Notes []string
}

// Object is an object with its place in a file.
type Object struct {
	*unstructured.Unstructured
	File string // relative to Repository.Dir if it is below it
	Line int    // of the document's first line, 0 if unknown
}

func (o Object) place() string {
	if o.Line == 0 {
		return o.File
	}
	return fmt.Sprintf("%s:%d", o.File, o.Line)
}

// Sample is a custom object, with the objects of other kinds in its file.
type Sample struct {
	Object
	Beside []Object
}

type Options struct {
	Dir      string   // in the operator's module; "" is the working directory
	Main     string   // the main package: a directory, a file in it, or an import path
	Test     bool     // Main contains a test instead of a main
	Install  string   // a kustomization, a chart, a folder or a file of YAML; "none" reads no install manifests
	Workload string   // the name of the workload that runs the operator
	CRDs     []string // files and folders with CRDs, which replace CRDs of the same name
	Samples  []string // files and folders with samples
	Helm     string   // the helm binary; "" is the one of PATH
	Version  string   // the Kubernetes version for which charts are rendered, as "1.36.3"; "" leaves it to helm
}

type finder struct {
	Repository
	opts  Options
	files []string              // the YAML and JSON files of the repository, relative to Dir, shallow ones first
	texts map[string][]document // the parsed documents of files
	names names

	foreign   map[string]bool // names of CRDs that another module of go.mod defines
	remote    []Object        // the replacements of remote manifests in the last kustomization read
	namespace string          // of objects that name none; "" if it is unknown
	picked    *picked         // the workload, before it is described in Repository
}

// Find reads the repository around opts.Dir. An error is a mistake in the repository or the options, in one line.
func Find(ctx context.Context, opts Options) (*Repository, error) {
	f := &finder{opts: opts, foreign: map[string]bool{}}
	for _, step := range []func(context.Context) error{
		f.findModule, f.findMain, f.findFiles, f.findInstall, f.findCRDs, f.pickWorkload, f.place, f.dropWebhooks, f.describe,
		f.findSamples,
	} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	if n := len(f.names.project); n > 0 {
		f.Name = f.names.project[n-1]
	}
	return &f.Repository, nil
}

func (f *finder) note(format string, args ...any) {
	if note := fmt.Sprintf(format, args...); !slices.Contains(f.Notes, note) {
		f.Notes = append(f.Notes, note)
	}
}

// abs makes a path of the repository absolute.
func (f *finder) abs(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(f.Dir, filepath.FromSlash(name))
}

// rel makes a path relative to the repository if it is below it.
func (f *finder) rel(name string) string {
	if rel, err := filepath.Rel(f.Dir, name); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return name
}

// given makes a path of the options absolute. It is relative to opts.Dir.
func (f *finder) given(name string) (string, error) {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(f.opts.Dir, path)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	_, err = os.Stat(path)
	return path, err
}
